"""What a recall names: kinds of entries, reasons for leaving one out, parts that can fail. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Kind(StrEnum):
    """What an entry is: a memory, or a message of a past conversation."""

    MEMORY = "memory"
    MESSAGE = "message"


class Reason(StrEnum):
    """Why something that could have been given was not."""

    CANDIDATE = "candidate"
    DISPUTED = "disputed"
    ARCHIVED = "archived"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    """No longer believed, or the same memory says something else at the asked time."""
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    NOT_YET_KNOWN = "not_yet_known"
    """Recorded, or said, after the time that was asked about."""
    OTHER_SPACE = "other_space"
    OTHER_BRANCH = "other_branch"
    IN_HISTORY = "in_history"
    """The request's own history holds the message."""
    ALREADY_GIVEN = "already_given"
    """It stands unchanged in an earlier block of this chat."""
    BELOW_FLOOR = "below_floor"
    DUPLICATE = "duplicate"
    OVER_K = "over_k"
    OVER_BUDGET = "over_budget"
    CHANGED = "changed"
    """It was forgotten, withheld or corrected while recall ran."""


class Part(StrEnum):
    """What failed of a recall; the rest of it went on."""

    VECTOR = "vector"
    """The question has no vector in time: found by words alone."""
    INDEX = "index"
    """Nothing could be searched: the profile alone."""
    DEADLINE = "deadline"
    """The time was over: nothing is given."""
    MEMORY = "memory"
    """The tables could not be read: nothing is given."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """Something left out, and why. `id` is the memory's, or the message's."""

    id: UUID
    reason: Reason
    kind: Kind = Kind.MEMORY
    version_id: UUID | None = None
    """Which version of a memory; a memory may be given with another one."""
