"""What the gateway asks of a request before any rule: that it can be written, and when it is. Pure.

Limits of single values stand in `text.limits`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from remembrancer.clock import MAX, MIN, Instant
from remembrancer.errors import InvalidInputError
from remembrancer.memory.models import Add, Correct, Operation, Retract


def is_whole(value: object, most: int) -> bool:
    """Whether it is an integer of 0…`most`; True and 1.5 are none."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def check_whole(value: object, most: int, field: str) -> None:
    """`InvalidInputError` for what isn't an integer of 0…`most`."""
    if not is_whole(value, most):
        raise InvalidInputError(
            f"{field} isn't a whole number of 0…{most}.", field=field, limit=f"0…{most}"
        )


def check_moments(operation: Operation) -> None:
    """`InvalidInputError` for a correction or an end at an open end of time."""
    if isinstance(operation, Correct | Retract):
        check_moment(operation.at, "ended_at" if isinstance(operation, Retract) else "changed_at")
        check_moment(operation.valid_at, "valid_at")


def check_moment(at: Instant | None, field: str) -> None:
    """`InvalidInputError` for a time that stands for an open end."""
    if at is not None and not MIN < at < MAX:
        raise InvalidInputError(
            f"{field} is outside of the calendar.",
            field=field,
            limit="after 0001-01-01, before 10000-01-01",
        )


def written(operation: Operation) -> str:
    """An operation as JSON. One whose `meta` can't be written is refused when it is carried out:
    to tell it from others it is enough to write the rest."""
    name = type(operation).__name__
    try:
        return json.dumps([name, asdict(operation)], default=str, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        if not isinstance(operation, Add):
            raise InvalidInputError(
                "An operation holds what can't be written.", field="operations"
            ) from None
    rest = replace(operation, meta=None)
    return json.dumps([name, "unwritable meta", asdict(rest)], default=str, sort_keys=True)
