"""Instants: what is read, what is written, what is refused."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from remembrancer import clock
from remembrancer.errors import InvalidInputError

NOON = 1_777_636_800_000_000
"""2026-05-01T12:00:00Z."""


def test_now_is_the_machine_s_clock_in_microseconds() -> None:
    before = time.time_ns() // 1_000
    now = clock.now()
    assert before <= now <= time.time_ns() // 1_000
    assert clock.MIN < now < clock.MAX


def test_an_instant_is_an_aware_datetime_and_back() -> None:
    moment = datetime(2026, 5, 1, 12, 0, 0, 123_456, tzinfo=UTC)
    assert clock.to_datetime(NOON + 123_456) == moment
    assert clock.from_datetime(moment) == NOON + 123_456
    before_epoch = datetime(1815, 12, 10, tzinfo=UTC)
    assert clock.to_datetime(clock.from_datetime(before_epoch)) == before_epoch


def test_open_ends_are_nothing_on_the_wire() -> None:
    assert clock.to_datetime(clock.MIN) is None
    assert clock.to_datetime(clock.MAX) is None
    assert clock.write(clock.MIN) is None
    assert clock.write(clock.MAX) is None
    assert clock.write(clock.MIN + 1) == "0001-01-01T00:00:00.000001Z"
    assert clock.write(clock.MAX - 1) == "9999-12-31T23:59:59.999999Z"


def test_what_is_written_is_utc_with_a_z_and_reads_back() -> None:
    east = datetime(2026, 5, 1, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert clock.write(clock.from_datetime(east)) == "2026-05-01T12:00:00Z"
    assert clock.parse("2026-05-01T12:00:00Z") == NOON


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-01T12:00:00Z",
        "2026-05-01T14:00:00+02:00",
        " 2026-05-01T12:00:00.000000+00:00 ",
        datetime(2026, 5, 1, 12, tzinfo=UTC),
    ],
)
def test_a_time_with_an_offset_is_that_instant(value: str | datetime) -> None:
    assert clock.parse(value, "Asia/Tokyo") == NOON
    assert clock.parse_end(value, "Asia/Tokyo") == NOON


@pytest.mark.parametrize("value", ["2026-05-01", " 2026-05-01 ", date(2026, 5, 1)])
def test_a_date_is_local_midnight_and_as_an_end_the_end_of_that_day(value: str | date) -> None:
    assert clock.write(clock.parse(value, "Europe/Berlin")) == "2026-04-30T22:00:00Z"
    assert clock.write(clock.parse_end(value, "Europe/Berlin")) == "2026-05-01T22:00:00Z"


def test_the_day_the_clocks_change_has_25_hours() -> None:
    start = clock.parse("2026-10-25", "Europe/Berlin")
    assert clock.parse_end("2026-10-25", "Europe/Berlin") - start == 25 * 3600 * clock.SECOND


@pytest.mark.parametrize("read", [clock.parse, clock.parse_end])
@pytest.mark.parametrize(
    "value", ["2026-05-01T12:00:00", "yesterday", "", "2026-13-01", "2026-02-30", "0000000000"]
)
def test_naive_and_meaningless_times_are_refused_by_name(read: object, value: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read(value, "UTC", field="ended_at")  # type: ignore[operator]
    assert refused.value.field == "ended_at"
    assert refused.value.hint is not None


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no offset"):
        clock.parse(datetime(2026, 5, 1, 12))  # noqa: DTZ001


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "Europe", "x\0y"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        clock.zone(name)
    assert refused.value.field == "zone"
    assert clock.zone("Europe/Berlin").key == "Europe/Berlin"


@pytest.mark.parametrize("value", ["9999-12-31", date(9999, 12, 31)])
def test_the_last_day_there_is_has_no_end(value: str | date) -> None:
    assert clock.parse_end(value) == clock.MAX


def test_a_day_at_the_edge_of_the_calendar_stays_in_bounds() -> None:
    assert clock.MIN <= clock.parse("0001-01-01", "Asia/Tokyo") <= clock.parse("0001-01-02")
    assert clock.parse("9999-12-31T23:59:59-12:00") <= clock.MAX


def test_an_open_end_is_no_moment() -> None:
    assert clock.moment(0).isoformat() == "1970-01-01T00:00:00+00:00"
    with pytest.raises(ValueError, match="open end"):
        clock.moment(clock.MAX)
