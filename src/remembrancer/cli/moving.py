"""Conversations in, and out again."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli import forms, wording
from remembrancer.cli.options import For, SpaceName, verb
from remembrancer.cli.session import Session
from remembrancer.errors import InvalidInputError

if TYPE_CHECKING:
    from remembrancer.conversations.service import Imported


class Keeping(StrEnum):
    """What becomes of memories whose only source goes."""

    KEEP = "keep"
    REMOVE = "remove"


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    verb(app, "import", For.WRITE)(import_file)
    group = typer.Typer(help="Stored conversations.", no_args_is_help=True)
    app.add_typer(group, name="chat")
    verb(group, "delete", For.WRITE)(delete_chat)


def _read(place: str) -> bytes:
    if place == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(place).expanduser().read_bytes()
    except OSError as error:
        raise InvalidInputError(
            f"{place} can't be read: {error.strerror}.",
            field="file",
            value=place,
            hint="Give the path of a JSON file, or - for standard input.",
        ) from None


def import_file(
    session: Session,
    place: Annotated[str, typer.Argument(metavar="FILE", help="A JSON file; - reads it.")],
    *,
    me: Annotated[
        str | None, typer.Option("--me", metavar="NAME", help="Which speaker is the person.")
    ] = None,
    space: SpaceName = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Leave them to `reindex --pending`.")
    ] = False,
) -> None:
    """Store a conversation as evidence; it makes no memory by itself."""
    from remembrancer.conversations import form
    from remembrancer.conversations.service import Imported

    told = form.parse(_read(place), me=me, zone=session.account.zone)
    if space is not None:
        told = [replace(each, space=space) for each in told]
    service = session.engine.conversations
    scope = session.engine.accounts.scope(session.account)
    new = session.run(service.count_new(scope, told))
    if dry_run:
        known = sum(len(each.messages) for each in told) - new
        _answer(session, Imported(None, (), new, known, 0), dry_run=True)
        return
    with session.out.progress("Reading", new) as advance:
        work = session.memory.import_conversations(told, progress=advance, embed=not no_vectors)
        done = session.run(work)
    _answer(session, done, dry_run=False)


def _answer(session: Session, done: Imported, *, dry_run: bool) -> None:
    form: dict[str, object] = {
        "import_id": None if done.import_id is None else str(done.import_id),
        "chats": [str(each) for each in done.chats],
        "new": done.new,
        "known": done.known,
        "pending": done.pending,
        "dry_run": dry_run,
    }

    def say() -> None:
        if dry_run:
            session.out.line(f"{done.new} messages would be stored; {done.known} are known.")
            return
        session.out.line(f"Stored {done.new} messages; {done.known} were known.")
        if done.import_id is not None:
            session.out.line((f"import {done.import_id}", "dim"), indent=2)
        if done.pending:
            session.out.notice(f"{done.pending} without a vector yet: {wording.PENDING}.")

    session.out.answer(form, say)


def delete_chat(
    session: Session,
    chat: Annotated[str, typer.Argument(metavar="ID", help="The chat's id.")],
    choice: Annotated[
        Keeping,
        typer.Option(
            "--choice",
            metavar="keep|remove",
            help="Memories that rest on it alone: keep, or remove.",
        ),
    ],
) -> None:
    """Remove a conversation; memories that rested on it are kept or removed."""
    from remembrancer.memory.orphaning import Choice

    report = session.run(session.memory.delete_chat(chat, choice=Choice(choice.value)))
    said = (
        f"Deleted {report.messages} messages. Of what rested on them: {len(report.kept)} kept, "
        f"{len(report.demoted)} now wait for you, {len(report.removed)} removed."
    )
    session.out.answer(forms.deleted(report), lambda: session.out.line(said))
