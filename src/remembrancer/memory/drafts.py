"""What one event will change of one memory, as values. `writing` stores them; nothing here does."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from remembrancer.events.log import Stamp
from remembrancer.ids import new_id
from remembrancer.memory.models import Outcome, Quote, Status, Trust, Type
from remembrancer.memory.repository import Standing
from remembrancer.text.digest import commitment
from remembrancer.tombstones.models import Kind as Grave


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored version near a new one; `cosine` None where the space's aren't calibrated."""

    version_id: UUID
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Vectors:
    """What was embedded before the transaction: by content, in one embedding space."""

    space: int | None = None
    by_content: Mapping[str, bytes] = field(default_factory=dict)
    near: Mapping[str, tuple[Neighbour, ...]] = field(default_factory=dict)
    """By content, what was near it when it was embedded, nearest first."""


@dataclass(frozen=True, slots=True)
class NewText:
    """A text about to be stored."""

    id: UUID
    content: str
    salt: bytes
    commitment: bytes

    @classmethod
    def of(cls, content: str) -> NewText:
        salt = secrets.token_bytes(16)
        return cls(new_id(), content, salt, commitment(salt, content))


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version about to be opened."""

    text_id: UUID
    commitment: bytes
    type: Type
    path_id: UUID | None
    space_id: UUID | None
    trust: Trust
    valid_from: int
    valid_to: int
    id: UUID = field(default_factory=new_id)

    @classmethod
    def again(cls, old: Standing, **changes: Any) -> NewVersion:
        """The same as an old version, but for what is named."""
        same = cls(
            old.text_id,
            old.commitment,
            old.type,
            old.path_id,
            old.space_id,
            old.trust,
            old.rectangle.valid_from,
            old.rectangle.valid_to,
        )
        return replace(same, **changes)


@dataclass(frozen=True, slots=True)
class NewTombstone:
    """A tombstone about to be made; `text` is the value it stands for."""

    kind: Grave
    text: str
    quotes: tuple[tuple[UUID, str], ...] | None = None
    """The sentences it rested on, as (message, quote); None means all of the memory's evidence."""
    searches: bool = True
    """False: messages that say the value are looked for later, for many values at once."""
    id: UUID = field(default_factory=new_id)


@dataclass(slots=True)
class Draft:
    """What one event will change of one memory."""

    memory_id: UUID
    texts: list[NewText] = field(default_factory=list)
    opens: list[NewVersion] = field(default_factory=list)
    closes: list[Standing] = field(default_factory=list)
    tombstones: list[NewTombstone] = field(default_factory=list)
    lifts: list[UUID] = field(default_factory=list)
    unlifts: list[UUID] = field(default_factory=list)
    quote: Quote | None = None
    meta: str | None = None
    notes: dict[str, str | int | None] = field(default_factory=dict)
    new: bool = False
    revises: bool = True
    """False for an event about the memory that doesn't change it (a rejected proposal)."""

    def reopen(self, standing: Iterable[Standing], **changes: Any) -> None:
        """Close these versions, and open them again but for what is named."""
        for each in standing:
            self.closes.append(each)
            self.opens.append(NewVersion.again(each, **changes))


@dataclass(frozen=True, slots=True)
class Landed:
    """Where a draft landed."""

    stamp: Stamp
    revision: int
    pending: bool

    def outcome(self, status: Status, memory_id: UUID) -> Outcome:
        """What the operation answers: the memory as this event left it."""
        return Outcome(
            status, id=memory_id, version=self.revision, event=self.stamp.seq, pending=self.pending
        )
