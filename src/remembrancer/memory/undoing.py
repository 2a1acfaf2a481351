"""Undo: a compensating event that restores what a memory was before one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from remembrancer.errors import ConflictError, NotFoundError
from remembrancer.events import log
from remembrancer.events.kinds import Kind
from remembrancer.events.log import Event
from remembrancer.memory import correcting, deciding, proposing, repository, rules
from remembrancer.memory.checks import check_whole
from remembrancer.memory.drafts import Draft, NewVersion
from remembrancer.memory.models import Outcome, SetTrust, Status, Trust, Undo
from remembrancer.memory.writing import Writing

UNDOABLE: Final = frozenset(
    {
        Kind.MEMORY_ADDED,
        Kind.MEMORY_CORRECTED,
        Kind.MEMORY_RETRACTED,
        Kind.MEMORY_MOVED,
        Kind.MEMORY_PINNED,
        Kind.MEMORY_CONFIRMED,
        Kind.MEMORY_DISPUTED,
        Kind.MEMORY_ARCHIVED,
        Kind.MEMORY_REJECTED,
    }
)

_INSTEAD: Final = {
    Kind.MEMORY_FORGOTTEN: "Forgetting is for good.",
    Kind.MEMORY_UNDONE: "Make the change again instead.",
    Kind.PROPOSAL_MADE: "`review` decides it.",
}


def undo(writing: Writing, request: Undo) -> Outcome:
    """Undo one event, if nothing has changed its memory since. Only a person may."""
    refusal = rules.only_a_person(writing, None, "undoes")
    if refusal is not None:
        return refusal
    event = _last(writing) if request.event is None else _named(writing, request.event)
    assert event.subject_id is not None
    if event.kind is Kind.MEMORY_ADDED and not event.actor.is_person:
        return deciding.set_trust(writing, SetTrust(event.subject_id, Trust.REJECTED))
    return _restore(writing, event, event.subject_id)


def _named(writing: Writing, seq: int) -> Event:
    check_whole(seq, log.LAST_SEQ, "event")
    event = log.get(writing.unit, seq)
    if event is None:
        raise NotFoundError(f"There is no event {seq}.", field="event", value=seq)
    if event.kind not in UNDOABLE or event.subject_id is None:
        raise ConflictError(
            f"{event.kind.value} can't be undone.",
            field="event",
            value=seq,
            hint=_INSTEAD.get(event.kind, "`history` shows what can be."),
        )
    if not _is_undoable(writing, event):
        raise ConflictError(
            "The memory has changed since.",
            field="event",
            value=seq,
            hint="Undo the later change first; `history` shows it.",
        )
    return event


def _last(writing: Writing) -> Event:
    """The person's newest change that can still be undone."""
    before = 2**62
    while True:
        page = log.latest(writing.unit, before=before, limit=100)
        for event in page:
            if event.actor.is_person and event.kind in UNDOABLE and _is_undoable(writing, event):
                return event
        if not page:
            raise NotFoundError("There is nothing to undo.", field="event")
        before = page[-1].seq


def _is_undoable(writing: Writing, event: Event) -> bool:
    """Every later event of the memory is an undo, or was undone; and this one wasn't."""
    assert event.subject_id is not None
    if repository.find_identity(writing.unit, event.subject_id) is None:
        return False
    history = log.about(writing.unit, event.subject_id)
    return _stands_last(history, event.seq)


def _stands_last(history: Sequence[Event], seq: int) -> bool:
    undone = {each.payload.notes.get("undid") for each in history}
    if seq in undone:
        return False
    later = [each for each in history if each.seq > seq and each.revision is not None]
    return all(each.kind is Kind.MEMORY_UNDONE or each.seq in undone for each in later)


def _restore(writing: Writing, event: Event, memory_id: UUID) -> Outcome:
    repository.identity(writing.unit, memory_id)
    before = repository.believed_at(writing.unit, memory_id, event.recorded_at - 1)
    for each in before:
        if each.content is not None:
            correcting.check_free(writing, each.content, each, each.rectangle.valid_from)
    draft = Draft(memory_id, notes={"undid": event.seq})
    draft.closes = repository.believed(writing.unit, memory_id)
    draft.opens = [NewVersion.again(each) for each in before]
    draft.lifts = list(event.payload.made)
    draft.unlifts = list(event.payload.lifted)
    landed = writing.land(Kind.MEMORY_UNDONE, draft)
    if event.kind is Kind.MEMORY_PINNED:
        rank = event.payload.notes.get("before")
        writing.rank(memory_id, rank if isinstance(rank, int) else None)
    proposing.reopen_decided(writing.unit, event.seq, memory_id, landed.revision)
    return landed.outcome(Status.UPDATED, memory_id)
