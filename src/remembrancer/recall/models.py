"""What recall is asked and what it answers, as frozen values. Pure; nothing is computed here.

`Recall.as_json()` is the stable wire form. The profile is apart: entries never hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.clock import MIN, Instant, write
from remembrancer.errors import InvalidInputError
from remembrancer.recall.reasons import Kind, Omitted, Part
from remembrancer.recall.trace import Trace

K: Final = 8
TOTAL_BUDGET: Final = 1_200
PROFILE_BUDGET: Final = 400
"""The defaults, budgets in estimated tokens (decisions: "Recall")."""
MOST_ENTRIES: Final = 500


class Arm(StrEnum):
    """The four retrievers."""

    PATH = "path"
    LEXICAL = "lexical"
    VECTOR = "vector"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class Branch:
    """The chat that asks, and which of its messages are on the branch that asks."""

    chat_id: UUID
    message_ids: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to recall. Times are None for now; budgets are in estimated tokens."""

    query: str | Sequence[str]
    """The last turns of the user's, newest last, or the newest alone."""
    valid_at: Instant | None = None
    known_at: Instant | None = None
    k: int = K
    total_budget: int = TOTAL_BUDGET
    profile_budget: int = PROFILE_BUDGET
    use_all: bool = False
    """For a small store: every memory, in order, as far as the budget reaches. Messages still
    have to clear the floor and count against k."""
    floor: bool = True
    """False for a search: whatever ranks highest, relevant or not."""
    messages: bool = True
    """False: memories only."""
    profile_apart: bool = True
    """False for a search: the profile's memories are ranked with the others."""
    exclude_messages: frozenset[UUID] = frozenset()
    already_given: frozenset[UUID] = frozenset()
    """Ids of versions and messages that earlier blocks of the chat hold."""
    branch: Branch | None = None

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns, newest last."""
        return (self.query,) if isinstance(self.query, str) else tuple(self.query)

    def check(self) -> None:
        """`InvalidInputError` for a k or a budget outside its limits."""
        _check("k", self.k, MOST_ENTRIES)
        _check("total_budget", self.total_budget, None)
        _check("profile_budget", self.profile_budget, None)


@dataclass(frozen=True, slots=True)
class Why:
    """What speaks for an entry, as data."""

    words: tuple[str, ...] = ()
    """Words of the question that stand in it, folded."""
    meaning: float | None = None
    """The cosine between question and entry; None without a vector."""
    path: str = ""
    """Its path, when the question names a segment of it."""
    speaker: str = ""
    """Who said it, when the question names them."""

    def __str__(self) -> str:
        parts = []
        if self.words:
            parts.append("words " + ", ".join(self.words))
        if self.meaning is not None:
            parts.append(f"meaning {self.meaning:.2f}")
        if self.path:
            parts.append("path " + self.path)
        if self.speaker:
            parts.append("said by " + self.speaker)
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was recalled. `id` is the memory's, or the message's."""

    kind: Kind
    id: UUID
    version_id: UUID | None
    content: str
    rank: int
    """From 1, in the order of `score`."""
    score: float
    """The one number that orders, rounded to 1e-6."""
    relevance: float
    """The calibrated probability that it is relevant, 0…1."""
    arms: tuple[str, ...]
    at: Instant
    """When the message was said; the memory's `valid_from`, or `recorded_from` if unbounded."""
    said_by: str = ""
    """Of a message: `user`, `assistant`, or the name of a third person."""
    authored_by: str = ""
    """Of a message, how it came here: `person`, `model`, `client` or `importer`."""
    path: str = ""
    trust: str = ""
    space_id: UUID | None = None
    valid_from: Instant = MIN
    valid_to: Instant | None = None
    why: Why = field(default_factory=Why)


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One memory of type `user`: considered in every turn."""

    id: UUID
    version_id: UUID
    content: str
    trust: str
    pin_rank: int | None = None
    changed_at: Instant = 0
    valid_from: Instant = MIN
    valid_to: Instant | None = None
    path: str = ""
    space_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Estimated tokens of the two blocks as rendered, frame and all."""

    profile: int = 0
    recalled: int = 0


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer: what the turn is given, what was left out, and the record of both."""

    profile: tuple[ProfileEntry, ...]
    entries: tuple[Entry, ...]
    omitted: tuple[Omitted, ...]
    """Of what stood in an arm's top 50, and of the profile."""
    omitted_counts: Mapping[str, int]
    """The rest, as counts by reason."""
    degraded: tuple[Part, ...]
    """The parts that failed."""
    tokens: Tokens
    profile_block: str
    recalled_block: str
    trace: Trace

    def as_json(self) -> dict[str, object]:
        """The documented form of `recall --json`."""
        return {
            "profile": [
                {"id": str(each.id), "content": each.content, "trust": each.trust}
                for each in self.profile
            ],
            "entries": [_entry_json(each) for each in self.entries],
            "omitted": [{"id": str(each.id), "reason": each.reason.value} for each in self.omitted],
            "degraded": [each.value for each in self.degraded],
            "tokens": {"profile": self.tokens.profile, "recalled": self.tokens.recalled},
        }


def _entry_json(entry: Entry) -> dict[str, object]:
    return {
        "kind": entry.kind.value,
        "id": str(entry.id),
        "content": entry.content,
        "score": entry.score,
        "relevance": entry.relevance,
        "rank": entry.rank,
        "arms": list(entry.arms),
        "at": write(entry.at),
    }


def _check(name: str, value: int, limit: int | None) -> None:
    if value < 0 or (limit is not None and value > limit):
        raise InvalidInputError(
            f"{name} is {value}.",
            field=name,
            value=value,
            limit=f"0…{limit}" if limit is not None else "0 or more",
            hint="Choose one inside the limit.",
        )
