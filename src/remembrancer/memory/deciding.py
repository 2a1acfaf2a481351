"""A person's decisions: trust states, pins, and what waits in their queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import UUID

from remembrancer.clock import parse
from remembrancer.errors import ConflictError
from remembrancer.events.kinds import Kind
from remembrancer.memory import correcting, forgetting, proposing, repository, rules
from remembrancer.memory.checks import check_whole
from remembrancer.memory.drafts import Draft, NewTombstone
from remembrancer.memory.models import (
    Correct,
    Forget,
    Meaning,
    Move,
    Op,
    Outcome,
    Pin,
    Proposal,
    Retract,
    SetTrust,
    Status,
    Trust,
    Type,
)
from remembrancer.memory.repository import Standing
from remembrancer.memory.transitions import check_transition
from remembrancer.memory.writing import Writing
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Kind as Grave

_KINDS: Final = {
    Trust.CONFIRMED: Kind.MEMORY_CONFIRMED,
    Trust.DISPUTED: Kind.MEMORY_DISPUTED,
    Trust.ARCHIVED: Kind.MEMORY_ARCHIVED,
    Trust.REJECTED: Kind.MEMORY_REJECTED,
}
LAST_RANK: Final = 1_000_000
_PROPOSED: Final = {Trust.ARCHIVED: Op.ARCHIVE}


def set_trust(writing: Writing, request: SetTrust) -> Outcome:
    """Move a memory along the table. A machine may only propose to archive."""
    found = repository.identity(writing.unit, request.memory_id)
    rules.check_version(found, request.expected_version)
    standing = repository.standing(writing.unit, found.id)
    answer = _by_machine(writing, request, standing[0].trust, found.revision)
    if answer is not None:
        return answer
    if not check_transition(standing[0].trust, request.trust):
        return Outcome(Status.UNCHANGED, id=found.id, version=found.revision)
    draft = Draft(found.id)
    draft.reopen(standing, trust=request.trust)
    _tombstones(writing, draft, standing, request.trust)
    landed = writing.land(_KINDS[request.trust], draft)
    outcome = "rejected" if request.trust is Trust.REJECTED else "approved"
    proposing.settle_add(writing, found.id, outcome, landed.stamp.seq)
    return landed.outcome(Status.UPDATED, found.id)


def _by_machine(
    writing: Writing, request: SetTrust, present: Trust, revision: int
) -> Outcome | None:
    memory_id = request.memory_id
    refusal = rules.switched_off(writing)
    if refusal is not None:
        return refusal
    op = _PROPOSED.get(request.trust)
    if op is not None and not writing.actor.is_person:
        if not check_transition(present, request.trust):
            return Outcome(Status.UNCHANGED, id=memory_id, version=revision)
        return proposing.propose(writing, op, target=memory_id, base_revision=revision)
    return rules.only_a_person(
        writing, memory_id, f"makes a memory {request.trust.value}", revision
    )


def _tombstones(writing: Writing, draft: Draft, standing: list[Standing], wanted: Trust) -> None:
    for each in standing:
        if each.content is None:
            continue
        if wanted is Trust.REJECTED:
            draft.tombstones.append(NewTombstone(Grave.REJECTED, each.content))
        elif each.trust is Trust.REJECTED:
            draft.lifts += [grave.id for grave in graves.equal(writing.unit, each.content)]


def pin(writing: Writing, request: Pin) -> Outcome:
    """Give a memory its place in the profile's order, or take it away."""
    if request.rank is not None:
        check_whole(request.rank, LAST_RANK, "rank")
    found = repository.identity(writing.unit, request.memory_id)
    rules.check_version(found, request.expected_version)
    refusal = rules.only_a_person(writing, found.id, "pins a memory", found.revision)
    if refusal is not None:
        return refusal
    if found.pin_rank == request.rank:
        return Outcome(Status.UNCHANGED, id=found.id, version=found.revision)
    notes: dict[str, str | int | None] = {"rank": request.rank, "before": found.pin_rank}
    landed = writing.land(Kind.MEMORY_PINNED, Draft(found.id, notes=notes))
    writing.rank(found.id, request.rank)
    return landed.outcome(Status.UPDATED, found.id)


def _open(writing: Writing, proposal_id: UUID) -> Proposal:
    proposal = proposing.get(writing.unit, proposal_id)
    if proposal.state != "open":
        raise ConflictError(
            f"The proposal is {proposal.state} already.",
            field="id",
            value=str(proposal_id),
            hint="`review` lists what still waits.",
        )
    return proposal


def approve(
    writing: Writing,
    proposal_id: UUID,
    *,
    meaning: Meaning | None = None,
    at: int | None = None,
) -> Outcome:
    """Carry out what was proposed, if its memory hasn't changed since."""
    proposal = _open(writing, proposal_id)
    outcome = _carry_out(writing, proposal, meaning, at)
    if outcome.event is None:
        stamp = writing.note(Kind.PROPOSAL_APPROVED, proposal.target_id, proposal=str(proposal_id))
        outcome = replace(outcome, event=stamp.seq)
    assert outcome.event is not None
    if proposal.op is not Op.ADD:
        proposing.settle(writing.unit, proposal_id, "approved", outcome.event)
    return replace(outcome, proposal=proposal_id)


def _carry_out(
    writing: Writing, proposal: Proposal, meaning: Meaning | None, at: int | None
) -> Outcome:
    target, base = proposal.target_id, proposal.base_revision
    assert target is not None
    match proposal.op:
        case Op.ADD:
            return set_trust(writing, SetTrust(target, Trust.CONFIRMED))
        case Op.CORRECT:
            return correcting.correct(writing, _correction(proposal, target, meaning, at))
        case Op.RETRACT:
            return correcting.retract(writing, _retraction(proposal, target, meaning, at))
        case Op.MOVE:
            return correcting.move(writing, _placing(proposal, target))
        case Op.MERGE:
            assert proposal.other_id is not None
            rules.check_version(repository.identity(writing.unit, target), base)
            return _merge(writing, proposal.other_id)
        case Op.ARCHIVE:
            return set_trust(writing, SetTrust(target, Trust.ARCHIVED, base))
        case Op.FORGET:
            return forgetting.forget(writing, Forget(target, expected_version=base))


def _merge(writing: Writing, other: UUID) -> Outcome:
    """The person says that both say the same: the other one is believed, and put away."""
    if any(each.trust is Trust.CANDIDATE for each in repository.believed(writing.unit, other)):
        set_trust(writing, SetTrust(other, Trust.CONFIRMED))
    return set_trust(writing, SetTrust(other, Trust.ARCHIVED))


def _meaning(proposal: Proposal, meaning: Meaning | None) -> Meaning:
    return meaning or Meaning(str(proposal.arguments.get("meaning", Meaning.UNSTATED.value)))


def _at(proposal: Proposal, at: int | None) -> int | None:
    return _asked(proposal, "at") if at is None else at


def _asked(proposal: Proposal, name: str) -> int | None:
    said = proposal.arguments.get(name)
    return None if said is None else parse(str(said))


def _correction(
    proposal: Proposal, target: UUID, meaning: Meaning | None, at: int | None
) -> Correct:
    assert proposal.content is not None
    path, kind = proposal.arguments.get("path"), proposal.arguments.get("type")
    chosen = _meaning(proposal, meaning)
    return Correct(
        target,
        proposal.content,
        chosen,
        at=None if chosen is Meaning.WAS_WRONG else _at(proposal, at),
        valid_at=_asked(proposal, "valid_at"),
        path=None if path is None else str(path),
        type=None if kind is None else Type(str(kind)),
        expected_version=proposal.base_revision,
    )


def _placing(proposal: Proposal, target: UUID) -> Move:
    asked = proposal.arguments
    path, kind, space = asked.get("path"), asked.get("type"), asked.get("space")
    return Move(
        target,
        path=None if path is None else str(path),
        type=None if kind is None else Type(str(kind)),
        space=None if space is None else UUID(str(space)),
        leave_space=bool(asked.get("leave_space")),
        expected_version=proposal.base_revision,
    )


def _retraction(
    proposal: Proposal, target: UUID, meaning: Meaning | None, at: int | None
) -> Retract:
    chosen = _meaning(proposal, meaning)
    return Retract(
        target,
        chosen,
        at=None if chosen is Meaning.WAS_WRONG else _at(proposal, at),
        valid_at=_asked(proposal, "valid_at"),
        expected_version=proposal.base_revision,
    )


def reject(writing: Writing, proposal_id: UUID) -> Outcome:
    """Say no. The value of a rejected add or correction gets a tombstone."""
    proposal = _open(writing, proposal_id)
    if proposal.op is Op.ADD:
        assert proposal.target_id is not None
        outcome = set_trust(writing, SetTrust(proposal.target_id, Trust.REJECTED))
        return replace(outcome, proposal=proposal_id)
    assert proposal.target_id is not None
    draft = Draft(proposal.target_id, notes={"proposal": str(proposal_id)}, revises=False)
    if proposal.op is Op.CORRECT and proposal.content is not None:
        quotes: tuple[tuple[UUID, str], ...] = ()
        if proposal.message_id is not None and proposal.quote is not None:
            quotes = ((proposal.message_id, proposal.quote),)
        draft.tombstones.append(NewTombstone(Grave.REJECTED, proposal.content, quotes=quotes))
    landed = writing.land(Kind.PROPOSAL_REJECTED, draft)
    proposing.settle(writing.unit, proposal_id, "rejected", landed.stamp.seq)
    return replace(landed.outcome(Status.UPDATED, proposal.target_id), proposal=proposal_id)
