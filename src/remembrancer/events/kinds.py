"""What can happen, as past-tense names, and the payload an event carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from remembrancer.clock import Instant


class Kind(StrEnum):
    """Every event of the log."""

    MEMORY_ADDED = "memory.added"
    MEMORY_CORROBORATED = "memory.corroborated"
    MEMORY_CORRECTED = "memory.corrected"
    MEMORY_RETRACTED = "memory.retracted"
    MEMORY_MOVED = "memory.moved"
    MEMORY_PINNED = "memory.pinned"
    MEMORY_CONFIRMED = "memory.confirmed"
    MEMORY_DISPUTED = "memory.disputed"
    MEMORY_ARCHIVED = "memory.archived"
    MEMORY_REJECTED = "memory.rejected"
    MEMORY_FORGOTTEN = "memory.forgotten"
    MEMORY_UNDONE = "memory.undone"
    MEMORY_ORPHANED = "memory.orphaned"
    MEMORY_REFUSED = "memory.refused"
    TOMBSTONE_IMPORTED = "tombstone.imported"
    PROPOSAL_MADE = "proposal.made"
    PROPOSAL_APPROVED = "proposal.approved"
    PROPOSAL_REJECTED = "proposal.rejected"
    PROPOSAL_EXPIRED = "proposal.expired"
    SPACE_CREATED = "space.created"
    POLICY_CHANGED = "policy.changed"
    CONVERSATION_IMPORTED = "conversation.imported"
    CHAT_DELETED = "chat.deleted"
    MESSAGE_DELETED = "message.deleted"


@dataclass(frozen=True, slots=True)
class Opened:
    """The skeleton of a version that an event opened. `commitment` is hex; no words."""

    version: UUID
    memory: UUID
    text: UUID
    type: str
    path: UUID | None
    space: UUID | None
    trust: str
    valid_from: Instant
    valid_to: Instant
    commitment: str

    def as_json(self) -> dict[str, str | int | None]:
        return {
            "version": str(self.version),
            "memory": str(self.memory),
            "text": str(self.text),
            "type": self.type,
            "path": None if self.path is None else str(self.path),
            "space": None if self.space is None else str(self.space),
            "trust": self.trust,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "commitment": self.commitment,
        }


@dataclass(frozen=True, slots=True)
class Payload:
    """What an event changed: versions opened and closed, tombstones made and lifted.

    `notes` are further ids, states and counts, by name. The log holds no memory text: only
    commitments.
    """

    opened: tuple[Opened, ...] = ()
    closed: tuple[UUID, ...] = ()
    made: tuple[UUID, ...] = ()
    lifted: tuple[UUID, ...] = ()
    notes: Mapping[str, str | int | None] = field(default_factory=dict)

    def write(self) -> str:
        """Canonical JSON; empty parts are left out."""
        parts: dict[str, object] = {}
        if self.opened:
            parts["opened"] = [each.as_json() for each in self.opened]
        for name in ("closed", "made", "lifted"):
            ids = getattr(self, name)
            if ids:
                parts[name] = [str(each) for each in ids]
        if self.notes:
            parts["notes"] = dict(self.notes)
        return json.dumps(parts, sort_keys=True, separators=(",", ":"))


def read_payload(written: str) -> Payload:
    """The payload in a log line; `ValueError` or `KeyError` when it is damaged."""
    parts = json.loads(written)
    opened = tuple(
        Opened(
            version=UUID(each["version"]),
            memory=UUID(each["memory"]),
            text=UUID(each["text"]),
            type=each["type"],
            path=UUID(each["path"]) if each["path"] else None,
            space=UUID(each["space"]) if each["space"] else None,
            trust=each["trust"],
            valid_from=each["valid_from"],
            valid_to=each["valid_to"],
            commitment=each["commitment"],
        )
        for each in parts.get("opened", ())
    )
    ids = {
        name: tuple(UUID(each) for each in parts.get(name, ()))
        for name in ("closed", "made", "lifted")
    }
    return Payload(opened, ids["closed"], ids["made"], ids["lifted"], parts.get("notes", {}))
