"""Proposals as rows: making, finding, settling. Deciding what approval does is `deciding`'s."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, bindparam, insert, or_, select, update

from remembrancer.clock import moment
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import NotFoundError
from remembrancer.events.kinds import Kind
from remembrancer.ids import new_id
from remembrancer.memory.models import Op, Outcome, Proposal, Quote, Status
from remembrancer.memory.tables import proposals
from remembrancer.memory.writing import Writing

_c = proposals.c
_ADD: Final = insert(proposals)
_ONE: Final = select(proposals).where(_c.user_id == OWNER, _c.id == bindparam("proposal"))
_OPEN: Final = (
    select(proposals)
    .where(_c.user_id == OWNER, _c.state == bindparam("wanted"))
    .order_by(_c.created_at, _c.id)
)
_SETTLE: Final = (
    update(proposals)
    .where(_c.user_id == OWNER, _c.id == bindparam("proposal"))
    .values(state=bindparam("outcome"), decided_seq=bindparam("by"))
)
_SETTLE_ADD: Final = (
    update(proposals)
    .where(
        _c.user_id == OWNER,
        _c.target_id == bindparam("target"),
        _c.op == Op.ADD.value,
        _c.state == "open",
    )
    .values(state=bindparam("outcome"), decided_seq=bindparam("by"))
)
_REOPEN: Final = (
    update(proposals)
    .where(_c.user_id == OWNER, _c.decided_seq == bindparam("by"))
    .values(state="open", decided_seq=None)
)
_REBASE: Final = (
    update(proposals)
    .where(
        _c.user_id == OWNER,
        _c.decided_seq == bindparam("by"),
        _c.target_id == bindparam("target"),
        _c.base_revision.is_not(None),
    )
    .values(base_revision=bindparam("base"))
)
_ABOUT: Final = select(proposals).where(
    _c.user_id == OWNER,
    or_(_c.target_id == bindparam("memory"), _c.other_id == bindparam("memory")),
)
_SAME: Final = select(_c.id).where(
    _c.user_id == OWNER,
    _c.op == bindparam("wanted_op"),
    _c.target_id == bindparam("target"),
    _c.arguments == bindparam("asked"),
    _c.text.is_not_distinct_from(bindparam("said")),
    _c.state == "open",
)


def record(
    writing: Writing,
    op: Op,
    *,
    target: UUID | None,
    event_seq: int,
    other: UUID | None = None,
    base_revision: int | None = None,
    text: str | None = None,
    arguments: Mapping[str, object] | None = None,
    quote: Quote | None = None,
    proposal_id: UUID | None = None,
) -> UUID:
    """Store a proposal; its event `event_seq` is written already. Returns its id."""
    proposal = proposal_id or new_id()
    writing.unit.insert(
        _ADD,
        id=proposal,
        op=op.value,
        target_id=target,
        other_id=other,
        base_revision=base_revision,
        text=text,
        arguments=_written(arguments or {}),
        chat_id=None if quote is None else quote.chat_id,
        message_id=None if quote is None else quote.message_id,
        quote=None if quote is None else quote.text,
        state="open",
        created_by=writing.actor.label,
        created_at=writing.unit.now,
        event_seq=event_seq,
        decided_seq=None,
    )
    return proposal


def propose(
    writing: Writing,
    op: Op,
    *,
    target: UUID,
    base_revision: int,
    text: str | None = None,
    other: UUID | None = None,
    arguments: Mapping[str, object] | None = None,
    quote: Quote | None = None,
) -> Outcome:
    """Make a proposal with its event, once: the same open one is returned again."""
    asked = {name: value for name, value in (arguments or {}).items() if value is not None}
    if other is not None:
        asked["other"] = str(other)
    same = writing.unit.scalar(
        _SAME,
        wanted_op=op.value,
        target=target,
        asked=_written(asked),
        said=text,
    )
    if same is not None:
        return Outcome(Status.PROPOSED, id=target, version=base_revision, proposal=same)
    proposal = new_id()
    stamp = writing.note(Kind.PROPOSAL_MADE, target, proposal=str(proposal), op=op.value)
    record(
        writing,
        op,
        target=target,
        other=other,
        base_revision=base_revision,
        text=text,
        arguments=asked,
        quote=quote,
        event_seq=stamp.seq,
        proposal_id=proposal,
    )
    return Outcome(
        Status.PROPOSED, id=target, version=base_revision, event=stamp.seq, proposal=proposal
    )


def _written(arguments: Mapping[str, object]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False)


def settle(unit: Unit, proposal: UUID, outcome: str, by: int) -> None:
    """Close a proposal: approved, rejected or expired, by an event."""
    unit.run(_SETTLE, proposal=proposal, outcome=outcome, by=by)


def settle_add(writing: Writing, memory_id: UUID, outcome: str, by: int) -> None:
    """Close the open proposal a candidate memory stands for, if there is one."""
    writing.unit.run(_SETTLE_ADD, target=memory_id, outcome=outcome, by=by)


def reopen_decided(unit: Unit, by: int, target: UUID, revision: int) -> None:
    """Undo what an event decided about proposals; those about `target` rest on its `revision`,
    at which it is again what it was when they were made."""
    unit.run(_REBASE, by=by, target=target, base=revision)
    unit.run(_REOPEN, by=by)


def _proposal(row: Row[Any]) -> Proposal:
    return Proposal(
        id=row.id,
        op=Op(row.op),
        target_id=row.target_id,
        other_id=row.other_id,
        base_revision=row.base_revision,
        content=row.text,
        arguments=json.loads(row.arguments),
        quote=row.quote,
        chat_id=row.chat_id,
        message_id=row.message_id,
        state=row.state,
        created_by=row.created_by,
        created_at=moment(row.created_at),
    )


def get(unit: Unit, proposal: UUID) -> Proposal:
    """One proposal; `NotFoundError` when this person has none of that id."""
    row = unit.first(_ONE, proposal=proposal)
    if row is None:
        raise NotFoundError(
            f"There is no proposal {proposal}.",
            field="id",
            value=str(proposal),
            hint="`review` lists what waits.",
        )
    return _proposal(row)


def in_state(unit: Unit, state: str = "open") -> list[Proposal]:
    """Proposals in one state, oldest first."""
    return [_proposal(row) for row in unit.all(_OPEN, wanted=state)]


def about(unit: Unit, memory_id: UUID) -> list[Proposal]:
    """Every proposal that names a memory."""
    return [_proposal(row) for row in unit.all(_ABOUT, memory=memory_id)]
