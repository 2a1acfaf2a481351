"""The person's queue: what machines propose, and the person's decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from remembrancer.cli import forms, wording
from remembrancer.cli.commands import WrongUseError
from remembrancer.cli.memories import told
from remembrancer.cli.options import ChangedAt, For, WasWrong, group_verb, verb
from remembrancer.cli.session import Session
from remembrancer.errors import NotFoundError

if TYPE_CHECKING:
    from remembrancer.memory.models import Proposal

ProposalId = Annotated[str, typer.Argument(metavar="ID", help="The proposal's id.")]
ASKS = {
    "add": "Remember",
    "correct": "Correct to",
    "retract": "No longer believe",
    "move": "Move",
    "merge": "Merge with another that says nearly the same",
    "archive": "Put away",
    "forget": "Forget",
}


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    group = typer.Typer(help="List what waits for you; approve or reject it.")
    app.add_typer(group, name="review")
    group_verb(group, For.WRITE)(review)
    verb(group, "list", For.WRITE)(list_proposals)
    verb(group, "approve", For.WRITE)(approve)
    verb(group, "reject", For.WRITE)(reject)


def review(session: Session) -> None:
    """List what waits for you; approve or reject it."""
    _listed(session, "open")


def list_proposals(
    session: Session,
    state: Annotated[
        str, typer.Option("--state", metavar="STATE", help="open, approved, rejected or expired.")
    ] = "open",
) -> None:
    """List proposals, oldest first."""
    if state not in ("open", "approved", "rejected", "expired"):
        raise WrongUseError("--state is open, approved, rejected or expired.")
    _listed(session, state)


def _listed(session: Session, state: str) -> None:
    found = session.run(session.memory.proposals(state))

    def say() -> None:
        for number, each in enumerate(found):
            if number:
                session.out.line("")
            _show(session, each)
        if not found:
            session.out.line("Nothing waits for you." if state == "open" else "None.")

    session.out.answer({"proposals": [forms.proposal(each) for each in found]}, say)


def _show(session: Session, each: Proposal) -> None:
    out, zone = session.out, session.account.zone
    proposed = f"{each.created_by} · {wording.when(each.created_at, zone)}"
    out.line((f"{ASKS[each.op.value]}?", "bold"), (f"  {proposed}", "dim"))
    if each.content:
        out.line(each.content, indent=2)
    if each.target_id is not None:
        _show_target(session, each.target_id, each.content)
    if each.quote:
        out.line(f"“{each.quote}”", indent=2)
    out.line((str(each.id), "dim"), indent=2)


def _show_target(session: Session, target: UUID, proposed: str | None) -> None:
    """What the memory says now, unless it is what is proposed; a bar once it is forgotten."""
    try:
        standing = session.run(session.memory.get(target))
    except NotFoundError:
        session.out.line(wording.state("forgotten"), indent=2)
        return
    if standing is not None and standing.content != proposed:
        session.out.line(("now: ", "dim"), standing.content, indent=2)


def approve(
    session: Session,
    proposal: ProposalId,
    was_wrong: WasWrong = False,
    changed_at: ChangedAt = None,
) -> int:
    """Carry a proposal out; say what a correction means."""
    if was_wrong and changed_at is not None:
        raise WrongUseError("--was-wrong and --changed-at exclude each other.")
    work = session.memory.approve(proposal, was_wrong=was_wrong, changed_at=changed_at)
    return told(session, session.run(work))


def reject(session: Session, proposal: ProposalId) -> int:
    """Say no to a proposal: no machine may bring its value back."""
    return told(session, session.run(session.memory.decline(proposal)))
