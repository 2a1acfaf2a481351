"""Instants: integer microseconds since 1970, UTC. Half-open bounds, open ends as sentinels.

Nothing here keeps state. Pure modules take `now` as an argument; only services ask `now()`.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from remembrancer.errors import InvalidInputError

Instant: TypeAlias = int
"""Microseconds since 1970-01-01T00:00:00Z."""

SECOND: Final = 1_000_000
MIN: Final[Instant] = -62_135_596_800 * SECOND
"""Unbounded past (0001-01-01); written as null on the wire."""
MAX: Final[Instant] = 253_402_300_800 * SECOND
"""Unbounded future (10000-01-01); written as null on the wire."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> Instant:
    """The machine's clock."""
    return time.time_ns() // 1_000


def to_datetime(instant: Instant) -> datetime | None:
    """An aware UTC datetime; None for an open end."""
    if instant <= MIN or instant >= MAX:
        return None
    return _EPOCH + timedelta(microseconds=instant)


def moment(instant: Instant) -> datetime:
    """An aware UTC datetime of an instant that is never an open end, such as a recorded time."""
    found = to_datetime(instant)
    if found is None:
        raise ValueError(f"{instant} is an open end, not a moment.")
    return found


def from_datetime(moment: datetime, *, field: str = "time") -> Instant:
    """The instant of an aware datetime, within the calendar; naive ones are refused."""
    if moment.tzinfo is None:
        raise InvalidInputError(
            f"{field} {moment.isoformat()} has no offset.",
            field=field,
            value=moment.isoformat(),
            hint="Give one, such as 2026-05-01T12:00:00+02:00, or a date.",
        )
    return max(MIN, min(MAX, (moment - _EPOCH) // timedelta(microseconds=1)))


def zone(name: str) -> ZoneInfo:
    """The IANA zone of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError(
            f"zone {name[:60]!r} is unknown.",
            field="zone",
            value=name[:60],
            hint="Use an IANA name such as Europe/Berlin.",
        ) from None


def day_start(day: date, zone_name: str) -> Instant:
    """Local midnight at the beginning of `day`."""
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=zone(zone_name)))


def parse(value: str | datetime | date, zone_name: str = "UTC", *, field: str = "time") -> Instant:
    """RFC 3339 with an offset, an aware datetime, or a date (local midnight in `zone_name`)."""
    if isinstance(value, datetime):
        return from_datetime(value, field=field)
    if isinstance(value, date):
        return day_start(value, zone_name)
    text = value.strip()
    try:
        if len(text) == 10:
            return day_start(date.fromisoformat(text), zone_name)
        return from_datetime(datetime.fromisoformat(text), field=field)
    except ValueError:
        raise InvalidInputError(
            f"{field} {text[:60]!r} is not a time.",
            field=field,
            value=text[:60],
            hint="Write a date (2026-05-01) or RFC 3339 with an offset (2026-05-01T12:00:00Z).",
        ) from None


def parse_end(
    value: str | datetime | date, zone_name: str = "UTC", *, field: str = "valid_to"
) -> Instant:
    """Like `parse`, but a date means the end of that day ("until Friday")."""
    plain_date = isinstance(value, date) and not isinstance(value, datetime)
    if isinstance(value, str) and len(value.strip()) == 10:
        parse(value, zone_name, field=field)
        value, plain_date = date.fromisoformat(value.strip()), True
    if plain_date:
        assert isinstance(value, date)
        return MAX if value == date.max else day_start(value + timedelta(days=1), zone_name)
    return parse(value, zone_name, field=field)


def write(instant: Instant) -> str | None:
    """RFC 3339 in UTC with a `Z`; None for an open end."""
    moment = to_datetime(instant)
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
