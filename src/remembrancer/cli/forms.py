"""The JSON forms of `--json`, as docs/reference/cli-json.md documents them.

Times are RFC 3339 in UTC, open ends null. Forms may gain members; none changes or goes away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer.cli.output import Json

if TYPE_CHECKING:
    from remembrancer.accounts.models import Account
    from remembrancer.conversations.models import Chat
    from remembrancer.events.log import Event
    from remembrancer.memory.models import Change, Evidence, History, Memory, Outcome, Proposal
    from remembrancer.memory.models import Version as MemoryVersion
    from remembrancer.memory.orphaning import Deleted
    from remembrancer.recall.models import Recall
    from remembrancer.tombstones.models import Tombstone


def moment(value: datetime | None) -> str | None:
    """RFC 3339 with a `Z`."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _id(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _vector(pending: bool) -> str:
    return "pending" if pending else "ready"


def added(outcome: Outcome, *, pending: bool) -> Json:
    """What `add` answers."""
    return {
        "id": _id(outcome.id),
        "status": outcome.status.value,
        "version": outcome.version,
        "vector": None if outcome.id is None else _vector(pending),
    }


def outcome(done: Outcome) -> Json:
    """What every other write answers."""
    return {
        "id": _id(done.id),
        "status": done.status.value,
        "version": done.version,
        "event": done.event,
        "vector": _vector(done.pending),
        "proposal": _id(done.proposal),
        "code": done.code,
        "detail": done.detail,
    }


def memory(each: Memory, spaces: Mapping[UUID, str]) -> Json:
    """One entry of a list."""
    return {
        "id": str(each.id),
        "version": each.version,
        "content": each.content,
        "type": each.type.value,
        "path": each.path,
        "space": None if each.space_id is None else spaces.get(each.space_id),
        "trust": each.trust.value,
        "valid_from": moment(each.valid_from),
        "valid_to": moment(each.valid_to),
        "recorded_from": moment(each.recorded_from),
        "created_at": moment(each.created_at),
        "changed_at": moment(each.changed_at),
        "created_by": each.created_by,
        "pin": each.pin_rank,
        "meta": dict(each.meta),
        "vector": _vector(each.pending),
    }


def version(each: MemoryVersion, spaces: Mapping[UUID, str]) -> Json:
    """One rectangle of a history; `content` is null once it is forgotten."""
    return {
        "id": str(each.id),
        "content": each.content,
        "type": each.type.value,
        "path": each.path,
        "space": None if each.space_id is None else spaces.get(each.space_id),
        "trust": each.trust.value,
        "valid_from": moment(each.valid_from),
        "valid_to": moment(each.valid_to),
        "recorded_from": moment(each.recorded_from),
        "recorded_to": moment(each.recorded_to),
    }


def _change(each: Change) -> Json:
    return {
        "event": each.event,
        "kind": each.kind,
        "actor": each.actor,
        "at": moment(each.at),
        "cause": each.cause,
        "opened": [str(one.id) for one in each.opened],
        "closed": [str(one.id) for one in each.closed],
        "difference": [list(part) for part in each.difference],
    }


def _evidence(each: Evidence) -> Json:
    return {
        "chat": _id(each.chat_id),
        "message": _id(each.message_id),
        "quote": each.quote,
        "model": each.model,
        "deleted": each.deleted,
    }


def history(found: History, spaces: Mapping[UUID, str]) -> Json:
    """Everything the record holds about a memory."""
    return {
        "id": str(found.id),
        "version": found.version,
        "forgotten": found.forgotten,
        "changes": [_change(each) for each in found.changes],
        "versions": [version(each, spaces) for each in found.versions],
        "evidence": [_evidence(each) for each in found.evidence],
    }


def explained(found: Recall) -> Json:
    """`recall`, and with `--explain` why, and the trace."""
    why = [
        {
            "id": str(each.id),
            "words": list(each.why.words),
            "meaning": each.why.meaning,
            "path": each.why.path,
            "speaker": each.why.speaker,
        }
        for each in found.entries
    ]
    return {**found.as_json(), "why": why, "trace": found.trace.as_json()}


def proposal(each: Proposal) -> Json:
    """One entry of the review queue."""
    return {
        "id": str(each.id),
        "op": each.op.value,
        "target": _id(each.target_id),
        "other": _id(each.other_id),
        "base_version": each.base_revision,
        "content": each.content,
        "arguments": dict(each.arguments),
        "quote": each.quote,
        "chat": _id(each.chat_id),
        "message": _id(each.message_id),
        "state": each.state,
        "created_by": each.created_by,
        "created_at": moment(each.created_at),
    }


def event(each: Event) -> Json:
    """One line of the log. It never holds words."""
    from remembrancer.clock import write

    return {
        "event": each.seq,
        "kind": each.kind.value,
        "actor": f"{each.actor.kind.value}:{each.actor.name}",
        "surface": each.actor.surface,
        "subject": _id(each.subject_id),
        "version": each.revision,
        "cause": each.cause,
        "at": write(each.recorded_at),
        "payload": json.loads(each.payload.write()),
    }


def tombstone(each: Tombstone) -> Json:
    """A value that may not come back by a machine; a forgotten one has no words."""
    return {
        "id": str(each.id),
        "kind": each.kind.value,
        "content": each.text,
        "memory": _id(each.memory_id),
        "created_at": moment(each.created_at),
        "lifted": each.lifted,
        "attempts": each.attempts,
    }


def chat(each: Chat, spaces: Mapping[UUID, str]) -> Json:
    """A stored conversation."""
    from remembrancer.clock import write

    return {
        "id": str(each.id),
        "title": each.title,
        "source": each.source,
        "external_id": each.external_id,
        "space": None if each.space_id is None else spaces.get(each.space_id),
        "import_id": _id(each.import_id),
        "created_at": write(each.created_at),
        "messages": each.messages,
    }


def deleted(report: Deleted) -> Json:
    """What a deletion removed, and what became of what rested on it."""

    def ids(found: Sequence[UUID]) -> list[str]:
        return [str(each) for each in found]

    return {
        "chats": report.chats,
        "messages": report.messages,
        "kept": ids(report.kept),
        "demoted": ids(report.demoted),
        "removed": ids(report.removed),
        "proposals_expired": report.proposals_expired,
    }


def account(each: Account) -> Json:
    """A person of this installation."""
    return {
        "user_id": str(each.user_id),
        "email": each.email,
        "role": each.role,
        "zone": each.zone,
        "created_at": moment(each.created_at),
    }
