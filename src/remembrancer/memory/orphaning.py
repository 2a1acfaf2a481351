"""When a source goes: what rested on it is kept as the person chooses, with a report.

A message that is edited away isn't gone, but nobody stands by it any more: what rested on it alone
goes to the person's inbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, or_, select, update

from remembrancer.conversations import deleting
from remembrancer.conversations import repository as chats
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import NotFoundError
from remembrancer.events.kinds import Kind
from remembrancer.events.log import Journal
from remembrancer.jobs import names, queue
from remembrancer.memory import erasure, forgetting, origins, proposing, repository
from remembrancer.memory.drafts import Draft
from remembrancer.memory.models import Meaning, Op, Trust
from remembrancer.memory.repository import Standing
from remembrancer.memory.tables import evidence, proposals
from remembrancer.memory.writing import Writing
from remembrancer.scope import Actor, ActorKind, labels_person

_e, _p = evidence.c, proposals.c
_SOURCES: Final[BindParameter[UUID]] = bindparam("sources", expanding=True)
"""Messages and chats, by id."""
_RESTING: Final = (
    select(_e.memory_id)
    .where(
        _e.user_id == OWNER,
        or_(_e.message_id.in_(_SOURCES), _e.chat_id.in_(_SOURCES)),
        _e.deleted_at.is_(None),
    )
    .order_by(_e.event_seq, _e.memory_id)
)
_UNHOOK: Final = (
    update(evidence)
    .where(
        _e.user_id == OWNER,
        or_(_e.message_id.in_(_SOURCES), _e.chat_id.in_(_SOURCES)),
    )
    .values(quote=None, deleted_at=bindparam("then"))
)
_PROPOSALS: Final = (
    select(_p.id, _p.op, _p.target_id, _p.state)
    .where(_p.user_id == OWNER, or_(_p.message_id.in_(_SOURCES), _p.chat_id.in_(_SOURCES)))
    .order_by(_p.event_seq, _p.id)
)
_EDITS: Final = Actor(ActorKind.SYSTEM, "edits", "conversations")
"""Who notices that a message was edited away."""


class Choice(StrEnum):
    """What becomes of memories whose only source is deleted."""

    KEEP = "keep"
    """Confirmed ones stay ("evidence deleted"), active ones become candidates."""
    REMOVE = "remove"
    """Their words go too, unless a person confirmed them."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The report of a deletion: what was removed, and what became of what rested on it."""

    chats: int = 0
    messages: int = 0
    kept: tuple[UUID, ...] = ()
    demoted: tuple[UUID, ...] = ()
    removed: tuple[UUID, ...] = ()
    proposals_expired: int = 0


def delete_message(writing: Writing, message_id: UUID, choice: Choice) -> Deleted:
    """Remove one message. `NotFoundError` for no such message."""
    resting, expired = _unhook(writing, [message_id])
    removed = deleting.delete_message(
        writing.unit, message_id, index_seq=writing.journal.touch_index()
    )
    if not removed.message_ids:
        raise NotFoundError(f"There is no message {message_id}.", field="id", value=str(message_id))
    writing.note(Kind.MESSAGE_DELETED, message_id, choice=choice.value)
    writing.ask_for_vectors()
    report = _settle_all(writing, resting, choice, Deleted(messages=1, proposals_expired=expired))
    settle_edited_away(writing.unit, writing.journal, removed.edited_away)
    return report


def _unhook(writing: Writing, sources: Sequence[UUID]) -> tuple[list[UUID], int]:
    """Mark evidence in these messages and chats as deleted, and clear the quotes.

    What rested on them, and how many proposals expired with them. The proposal that a candidate
    memory stands for stays with it.
    """
    unit = writing.unit
    resting: dict[UUID, None] = {}
    expired = 0
    for some in chats.batched(sources):
        resting.update(dict.fromkeys(row.memory_id for row in unit.all(_RESTING, sources=some)))
        for row in unit.all(_PROPOSALS, sources=some):
            if row.op == Op.ADD.value or row.state != "open":
                erasure.clear_proposal(unit, row.id)
                continue
            stamp = writing.note(Kind.PROPOSAL_EXPIRED, row.target_id, proposal=str(row.id))
            erasure.clear_proposal(unit, row.id)
            proposing.settle(unit, row.id, "expired", stamp.seq)
            expired += 1
        unit.run(_UNHOOK, sources=some, then=unit.now)
    queue.enqueue(unit, lane="upkeep", name=names.SCRUB, coalesce_key="")
    return list(resting), expired


def _settle_all(
    writing: Writing, resting: Sequence[UUID], choice: Choice, report: Deleted
) -> Deleted:
    outcomes: dict[str, list[UUID]] = {"kept": [], "demoted": [], "removed": []}
    for memory_id in resting:
        outcomes[_settle(writing, memory_id, choice)].append(memory_id)
    if outcomes["removed"]:
        forgetting.clear_store_wide(writing, outcomes["removed"])
    return replace(
        report,
        kept=(*report.kept, *outcomes["kept"]),
        demoted=(*report.demoted, *outcomes["demoted"]),
        removed=(*report.removed, *outcomes["removed"]),
    )


def _settle(writing: Writing, memory_id: UUID, choice: Choice) -> str:
    """One memory that lost a source. Returns kept, demoted or removed."""
    standing = repository.believed(writing.unit, memory_id)
    found = repository.find_identity(writing.unit, memory_id)
    if found is None or found.forgotten or _rests(writing, memory_id):
        return "kept"
    if _stands_by_itself(standing, found.created_by):
        return "kept"
    if choice is Choice.REMOVE:
        forgetting.forget_silently(writing, memory_id)
        return "removed"
    if not standing or standing[0].trust is not Trust.ACTIVE:
        return "kept"
    _demote(writing, memory_id, standing)
    return "demoted"


def _stands_by_itself(standing: Sequence[Standing], created_by: str) -> bool:
    """Whether a person wrote or approved it: their act carries it, with or without a source."""
    return labels_person(created_by) or any(each.trust is Trust.CONFIRMED for each in standing)


def _rests(writing: Writing, memory_id: UUID) -> bool:
    """Whether a message that is still said carries the memory."""
    placed = [
        each.message_id
        for each in repository.evidence_of(writing.unit, memory_id)
        if each.message_id is not None and not each.deleted
    ]
    there = chats.messages_by_id(writing.unit, placed)
    return any(each.live for each in there.values())


def _demote(writing: Writing, memory_id: UUID, standing: Sequence[Standing]) -> None:
    """From active to candidate: out of prompts, into the inbox."""
    draft = Draft(memory_id)
    draft.reopen(standing, trust=Trust.CANDIDATE)
    landed = writing.land(Kind.MEMORY_ORPHANED, draft)
    proposing.record(writing, Op.ADD, target=memory_id, event_seq=landed.stamp.seq)


def settle_edited_away(unit: Unit, journal: Journal, message_ids: Iterable[UUID]) -> None:
    """Bring what rests on these messages alone to the person's inbox.

    What is active becomes a candidate; for what a person approved, retracting it is proposed.
    """
    writing = Writing(unit, journal, _EDITS)
    resting = {
        row.memory_id: None
        for some in chats.batched(message_ids)
        for row in unit.all(_RESTING, sources=some)
    }
    for memory_id in resting:
        standing = repository.believed(unit, memory_id)
        found = repository.find_identity(unit, memory_id)
        if not standing or found is None or found.forgotten or _rests(writing, memory_id):
            continue
        if _stands_by_itself(standing, found.created_by):
            proposing.propose(
                writing,
                Op.RETRACT,
                target=memory_id,
                base_revision=found.revision,
                arguments={"meaning": Meaning.UNSTATED.value},
            )
        elif standing[0].trust is Trust.ACTIVE:
            _demote(writing, memory_id, standing)


def delete_chat(writing: Writing, chat_id: UUID, choice: Choice) -> Deleted:
    """Remove a chat and its messages. `NotFoundError` for no such chat."""
    if chats.chat(writing.unit, chat_id) is None:
        raise NotFoundError(f"There is no chat {chat_id}.", field="id", value=str(chat_id))
    messages = chats.message_ids(writing.unit, chat_id)
    resting, expired = _unhook(writing, [*messages, chat_id])
    deleting.delete_chat(writing.unit, chat_id)
    writing.journal.touch_index()
    writing.note(Kind.CHAT_DELETED, chat_id, messages=len(messages), choice=choice.value)
    report = Deleted(chats=1, messages=len(messages), proposals_expired=expired)
    return _settle_all(writing, resting, choice, report)


def delete_import(writing: Writing, import_id: UUID, choice: Choice) -> Deleted:
    """Remove everything one import brought: its chats, and memories that came with it.

    `NotFoundError` when nothing came with an import of that id.
    """
    made = chats.chats_of_import(writing.unit, import_id)
    memories = origins.memories_of(writing.unit, import_id)
    if not made and not memories:
        raise NotFoundError(f"There is no import {import_id}.", field="id", value=str(import_id))
    total = Deleted()
    for chat in made:
        part = delete_chat(writing, chat.id, choice)
        total = Deleted(
            total.chats + 1,
            total.messages + part.messages,
            total.kept + part.kept,
            total.demoted + part.demoted,
            total.removed + part.removed,
            total.proposals_expired + part.proposals_expired,
        )
    reported = {*total.kept, *total.demoted, *total.removed}
    left = [each for each in memories if each not in reported]
    return _settle_all(writing, left, choice, total)
