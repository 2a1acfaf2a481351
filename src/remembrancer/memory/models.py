"""What memory is made of, as frozen values: kinds, states, requests and read models. Pure.

Rows never leave the domain; these do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from remembrancer.clock import MAX, MIN, Instant
from remembrancer.errors import InvalidInputError


class Type(StrEnum):
    """`user` is the standing profile, always considered; `context` must be recalled."""

    USER = "user"
    CONTEXT = "context"


def as_type(value: Type | str) -> Type:
    """The type of that name; an unknown one is an error, never coerced."""
    try:
        return Type(value)
    except ValueError:
        raise InvalidInputError(
            f"type {str(value)[:60]!r} is unknown.",
            field="type",
            value=str(value)[:60],
            limit="user, context",
            hint="Use user (standing profile) or context (recalled).",
        ) from None


class Trust(StrEnum):
    """How far a memory is trusted. Only active and confirmed reach a prompt."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    ARCHIVED = "archived"
    REJECTED = "rejected"


GIVEN = frozenset({Trust.ACTIVE, Trust.CONFIRMED})
"""The states whose memories may reach a prompt."""


class Meaning(StrEnum):
    """What a correction means."""

    WAS_WRONG = "was_wrong"
    CHANGED = "changed_at"
    UNSTATED = "unstated"


class Op(StrEnum):
    """What a proposal proposes."""

    ADD = "add"
    CORRECT = "correct"
    RETRACT = "retract"
    MOVE = "move"
    MERGE = "merge"
    ARCHIVE = "archive"
    FORGET = "forget"


class Status(StrEnum):
    """What became of one requested operation."""

    CREATED = "created"
    CANDIDATE = "candidate"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    PROPOSED = "proposed"
    FORGOTTEN = "forgotten"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a machine says it has something from: a message, and its verbatim words."""

    text: str
    message_id: UUID | None = None
    chat_id: UUID | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """A request to remember something."""

    content: str
    type: Type = Type.CONTEXT
    path: str = ""
    space: UUID | None = None
    valid_from: Instant = MIN
    valid_to: Instant = MAX
    meta: Mapping[str, object] | None = None
    quote: Quote | None = None
    import_id: UUID | None = None
    origin: str | None = None
    landing: Trust | None = None
    """An importer's own choice, candidate or active; everybody else's is decided by rule."""


@dataclass(frozen=True, slots=True)
class Correct:
    """A request to replace a memory's value. `path` and `type` None keep what is there."""

    memory_id: UUID
    content: str
    meaning: Meaning
    at: Instant | None = None
    """With `changed_at`: when the world changed."""
    valid_at: Instant | None = None
    """Which rectangle is meant; None is the one valid now."""
    path: str | None = None
    type: Type | None = None
    quote: Quote | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Retract:
    """A correction without a replacement."""

    memory_id: UUID
    meaning: Meaning
    at: Instant | None = None
    valid_at: Instant | None = None
    quote: Quote | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A request to change where a memory stands. None keeps; `path=""` clears."""

    memory_id: UUID
    path: str | None = None
    type: Type | None = None
    space: UUID | None = None
    leave_space: bool = False
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class SetTrust:
    """Confirm, dispute, archive or reject."""

    memory_id: UUID
    trust: Trust
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """Place a memory in the profile's order; None unpins."""

    memory_id: UUID
    rank: int | None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove a memory's words, from every version, for good."""

    memory_id: UUID
    redact: bool = False
    """Also take the words out of the messages they came from, not only withhold them."""
    tombstone: bool = True
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo one event; None is the person's last undoable one."""

    event: int | None = None


Operation = Add | Correct | Retract | Move | SetTrust | Pin | Forget | Undo


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one operation did. `id` is the memory's, `version` its revision afterwards."""

    status: Status
    id: UUID | None = None
    version: int | None = None
    event: int | None = None
    pending: bool = False
    """The vector is still to come; found lexically meanwhile."""
    proposal: UUID | None = None
    resembles: UUID | None = None
    """The tombstone whose value this one paraphrases."""
    code: str | None = None
    """Of the error or the rule, when refused or failed."""
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a memory rests on: a quote in a message, or a quote whose message is gone."""

    chat_id: UUID | None
    message_id: UUID | None
    quote: str | None
    model: str | None
    deleted: bool


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory said over one rectangle. Open bounds are None; `content` None is forgotten."""

    id: UUID
    memory_id: UUID
    text_id: UUID
    content: str | None
    type: Type
    path: str
    space_id: UUID | None
    trust: Trust
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_from: datetime
    recorded_to: datetime | None


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it stands, or stood at the asked times."""

    id: UUID
    version: int
    content: str
    type: Type
    path: str
    space_id: UUID | None
    trust: Trust
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_from: datetime
    created_at: datetime
    changed_at: datetime
    created_by: str
    pin_rank: int | None
    meta: Mapping[str, object]
    version_id: UUID
    text_id: UUID
    pending: bool


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a history: the event, and what it opened and closed."""

    event: int
    kind: str
    actor: str
    at: datetime
    cause: str | None
    opened: tuple[Version, ...]
    closed: tuple[Version, ...]
    difference: tuple[tuple[str, str], ...] = ()
    """Words, each `("same" | "gone" | "new", text)`, from the closed value to the opened one."""


@dataclass(frozen=True, slots=True)
class History:
    """Everything the record holds about one memory, oldest first."""

    id: UUID
    version: int
    forgotten: bool
    changes: tuple[Change, ...]
    versions: tuple[Version, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something a machine proposes, waiting for the person."""

    id: UUID
    op: Op
    target_id: UUID | None
    other_id: UUID | None
    base_revision: int | None
    content: str | None
    arguments: Mapping[str, object]
    quote: str | None
    chat_id: UUID | None
    message_id: UUID | None
    state: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a list holds. Empty members don't filter."""

    types: frozenset[Type] = frozenset()
    trusts: frozenset[Trust] = frozenset()
    path: str = ""
    """This path and everything below it, by whole segments."""
    contains: str = ""
    meta: Mapping[str, object] = field(default_factory=dict)
    valid_at: Instant | None = None
    known_at: Instant | None = None
    limit: int = 100
    offset: int = 0
