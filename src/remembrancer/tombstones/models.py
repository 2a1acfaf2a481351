"""Tombstones as others see them: kinds and frozen read models. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from remembrancer.scope import Actor


class Kind(StrEnum):
    """Why a value may not come back by a machine."""

    FORGOTTEN = "forgotten"
    """The person wants it gone: nothing of the text is kept."""
    REJECTED = "rejected"
    """Proposed, and refused in review."""
    REFUTED = "refuted"
    """It was believed, and corrected as wrong."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A value that was forgotten, rejected or refuted. A forgotten one has no `text`."""

    id: UUID
    kind: Kind
    text: str | None
    memory_id: UUID | None
    created_at: datetime
    lifted: bool
    attempts: int
    """How often a machine tried to bring it back."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One refused attempt to bring a value back."""

    tombstone_id: UUID
    actor: Actor
    attempted_at: datetime
    event_seq: int


@dataclass(frozen=True, slots=True)
class Key:
    """What a person's tombstone digests are keyed with: 32 random bytes, never shown."""

    id: UUID
    secret: bytes = field(repr=False)
