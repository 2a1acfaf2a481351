"""The two times of a memory, as rectangles. Pure; bitemporal arithmetic and nothing else.

A rectangle spans valid time (when it was true) and recorded time (when this store believed it),
both half-open. A correction closes rectangles and opens others; it never edits one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from remembrancer.clock import MAX, Instant, write
from remembrancer.errors import InvalidInputError

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Rectangle(Generic[V]):
    """`value` was true over [valid_from, valid_to), believed over [recorded_from, recorded_to)."""

    valid_from: Instant
    valid_to: Instant
    recorded_from: Instant
    recorded_to: Instant
    value: V

    def holds(self, valid_at: Instant, known_at: Instant) -> bool:
        """Whether it answers a question about `valid_at`, asked of what was known at `known_at`."""
        return (
            self.valid_from <= valid_at < self.valid_to
            and self.recorded_from <= known_at < self.recorded_to
        )

    @property
    def believed(self) -> bool:
        """Whether the store still believes it."""
        return self.recorded_to >= MAX


class Says(Enum):
    """Which value a piece of a corrected interval carries."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Piece:
    """One interval to open in place of a closed rectangle."""

    valid_from: Instant
    valid_to: Instant
    says: Says


def target(
    rectangles: Iterable[Rectangle[V]], valid_at: Instant, *, field: str = "valid_at"
) -> Rectangle[V]:
    """The believed rectangle valid at that time; `InvalidInputError` when there is none."""
    for each in rectangles:
        if each.believed and each.valid_from <= valid_at < each.valid_to:
            return each
    raise InvalidInputError(
        f"The memory says nothing about {write(valid_at)}.",
        field=field,
        value=write(valid_at),
        hint="`history` shows which times it speaks of.",
    )


def was_wrong(old: Rectangle[V]) -> tuple[Piece, ...]:
    """The same valid interval, another value."""
    return (Piece(old.valid_from, old.valid_to, Says.NEW),)


def changed_at(old: Rectangle[V], at: Instant) -> tuple[Piece, ...]:
    """The old value until `at`, the new one from there; `at` must lie in the rectangle."""
    _inside(old, at)
    new = Piece(at, old.valid_to, Says.NEW)
    if at == old.valid_from:
        return (new,)
    return (Piece(old.valid_from, at, Says.OLD), new)


def ended_at(old: Rectangle[V], at: Instant) -> tuple[Piece, ...]:
    """The old value until `at`, and nothing after."""
    _inside(old, at)
    if at == old.valid_from:
        return ()
    return (Piece(old.valid_from, at, Says.OLD),)


def _inside(old: Rectangle[V], at: Instant) -> None:
    if not old.valid_from <= at < old.valid_to:
        raise InvalidInputError(
            f"{write(at)} lies outside the time this value was true.",
            field="at",
            value=write(at),
            limit=f"{write(old.valid_from) or '…'} to {write(old.valid_to) or '…'}",
            hint="Choose a time inside it, or correct the other stretch with valid_at.",
        )


def contends(there: Rectangle[V], valid_from: Instant, valid_to: Instant, now: Instant) -> bool:
    """Whether a value over the given interval would say again what `there` says.

    Their times overlap, and `there` isn't over while the new interval goes on.
    """
    over = there.valid_to <= now < valid_to
    return not over and there.valid_from < valid_to and valid_from < there.valid_to


def as_of(
    rectangles: Sequence[Rectangle[V]], valid_at: Instant, known_at: Instant
) -> Rectangle[V] | None:
    """The one rectangle that answers, or None."""
    return next((each for each in rectangles if each.holds(valid_at, known_at)), None)
