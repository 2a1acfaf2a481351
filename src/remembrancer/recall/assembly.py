"""Fitting whole entries into k and the budgets, in the order they come in. Pure.

It may skip an entry that doesn't fit and go on with the next; it never sorts what was recalled and
never cuts an entry. Tokens are estimates (⌈UTF-8 bytes / 3⌉) of the blocks as rendered, so the
frame is paid for too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from remembrancer.recall.models import Entry, ProfileEntry
from remembrancer.recall.reasons import Kind, Omitted, Reason
from remembrancer.recall.render import PROFILE, RECALLED, Frame, profile_line, recalled_line
from remembrancer.text.limits import estimate_tokens


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a turn: k entries, and budgets in estimated tokens."""

    k: int
    total: int
    profile: int
    memories_counted: bool = True
    """False for "use all": only messages count against k."""


@dataclass(frozen=True, slots=True)
class FittedProfile:
    """The part of the profile that fits, its block, and what didn't fit."""

    entries: tuple[ProfileEntry, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    block: str = ""

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.block)


@dataclass(frozen=True, slots=True)
class FittedEntries:
    """The recalled entries with their final ranks, their block, and what was skipped."""

    entries: tuple[Entry, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    block: str = ""
    filled: bool = False
    """k is reached: nothing more could come in."""

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.block)


class _Block:
    """Lines inside a frame, as long as they fit."""

    def __init__(self, frame: Frame, budget: int) -> None:
        self._frame = frame
        self._budget = budget
        self._size = len(frame.around(()).encode())
        self.lines: list[str] = []

    def add(self, line: str) -> bool:
        """Whether the line fitted and is now in."""
        size = self._size + len(line.encode("utf-8", "surrogatepass"))
        if -(-size // 3) > self._budget:
            return False
        self.lines.append(line)
        self._size = size
        return True

    def __str__(self) -> str:
        return self._frame.around(self.lines) if self.lines else ""


def profile_order(entry: ProfileEntry) -> tuple[bool, int, bool, int, UUID]:
    """The profile's order: `pin_rank` (none last), confirmed first, newest change first, id."""
    pinned = entry.pin_rank
    return (
        pinned is None,
        pinned or 0,
        entry.trust != "confirmed",
        -entry.changed_at,
        entry.id,
    )


def fit_profile(entries: Sequence[ProfileEntry], limits: Limits) -> FittedProfile:
    """As much of the profile, in its order, as its own budget and the total allow."""
    block = _Block(PROFILE, min(limits.profile, limits.total))
    given: list[ProfileEntry] = []
    omitted: list[Omitted] = []
    for entry in sorted(entries, key=profile_order):
        if block.add(profile_line(entry)):
            given.append(entry)
        else:
            omitted.append(Omitted(entry.id, Reason.OVER_BUDGET, version_id=entry.version_id))
    return FittedProfile(tuple(given), tuple(omitted), str(block))


def fit_entries(ranked: Sequence[Entry], limits: Limits, profile_tokens: int) -> FittedEntries:
    """As many of the ranked entries as k and the rest of the total allow, in their order."""
    block = _Block(RECALLED, limits.total - profile_tokens)
    given: list[Entry] = []
    omitted: list[Omitted] = []
    counted = 0
    for entry in ranked:
        counts = limits.memories_counted or entry.kind is Kind.MESSAGE
        if counts and counted >= limits.k:
            omitted.append(_omitted(entry, Reason.OVER_K))
        elif block.add(recalled_line(len(given) + 1, entry)):
            given.append(replace(entry, rank=len(given) + 1))
            counted += counts
        else:
            omitted.append(_omitted(entry, Reason.OVER_BUDGET))
    filled = limits.memories_counted and counted >= limits.k
    return FittedEntries(tuple(given), tuple(omitted), str(block), filled)


def _omitted(entry: Entry, reason: Reason) -> Omitted:
    return Omitted(entry.id, reason, entry.kind, entry.version_id)
