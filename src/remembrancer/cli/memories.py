"""Verbs that change memories. Each passes the library's one gateway and says what became of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli import forms, wording
from remembrancer.cli.commands import DONE, REFUSED, WrongUseError
from remembrancer.cli.options import (
    ChangedAt,
    Expected,
    For,
    MemoryId,
    PathName,
    SpaceName,
    TypeName,
    ValidAt,
    WasWrong,
    Yes,
    verb,
)
from remembrancer.cli.session import Session

if TYPE_CHECKING:
    from remembrancer.memory.models import Outcome

SAID = {
    "created": "Remembered",
    "candidate": "Proposed; it waits for you",
    "duplicate": "Known already",
    "refused": "Refused",
    "updated": "Done",
    "unchanged": "Nothing to change",
    "proposed": "Proposed; it waits for you",
    "forgotten": "Forgotten",
    "skipped": "Skipped",
}
Quoted = Annotated[
    str | None, typer.Option("--quote", metavar="WORDS", help="The person's words it rests on.")
]
Meta = Annotated[
    str | None, typer.Option("--meta", metavar="JSON", help="An object to keep with it.")
]
ValidFrom = Annotated[
    str | None, typer.Option("--valid-from", metavar="T", help="True from then on.")
]
ValidTo = Annotated[
    str | None, typer.Option("--valid-to", metavar="T", help="True until then; a day included.")
]
MessageId = Annotated[
    str | None, typer.Option("--message", metavar="ID", help="The message the quote is in.")
]
ChatId = Annotated[
    str | None, typer.Option("--chat", metavar="ID", help="The chat the quote is in.")
]
Key = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="A retry with it does nothing."),
]


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    for name, function in (
        ("add", add),
        ("correct", correct),
        ("retract", retract),
        ("move", move),
        ("confirm", confirm),
        ("dispute", dispute),
        ("archive", archive),
        ("reject", reject),
        ("pin", pin),
        ("forget", forget),
        ("undo", undo),
        ("clear", clear),
    ):
        verb(app, name, For.WRITE)(function)


def json_object(text: str | None, option: str) -> Mapping[str, object] | None:
    """The object in an option's value."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError as error:
        raise WrongUseError(f"{option} isn't JSON: {error}.") from None
    except RecursionError:
        raise WrongUseError(f"{option} is nested too deeply.") from None
    if not isinstance(found, dict):
        raise WrongUseError(f'{option} takes a JSON object, such as {{"source": "diary"}}.')
    return found


def _words(text: str) -> str:
    """The text, or standard input for `-`, without the line end it was sent with."""
    return sys.stdin.read().removesuffix("\n") if text == "-" else text


def told(session: Session, done: Outcome) -> int:
    """Say what became of a write; 1 when it was refused."""
    session.out.answer(forms.outcome(done), lambda: say(session, done))
    return _code(session, done)


def say(session: Session, done: Outcome) -> None:
    """One line: what happened, the id, the version."""
    if done.status.value == "refused":
        return
    parts = [f"{SAID[done.status.value]}."]
    if done.id is not None:
        parts.append(str(done.id))
    if done.version is not None:
        parts.append(f"version {done.version}")
    session.out.line(" · ".join(parts))
    if done.proposal is not None and done.status.value in ("candidate", "proposed"):
        session.out.line((f"remembrancer review approve {done.proposal}", "dim"), indent=2)


def _code(session: Session, done: Outcome) -> int:
    if done.status.value == "refused":
        session.out.aside(f"Refused: {done.detail or done.code}")
        return REFUSED
    if done.pending:
        session.out.notice(f"No vector yet: {wording.PENDING}.")
    if done.resembles is not None:
        session.out.notice("It resembles something that was rejected: decide in `review`.")
    return DONE


def add(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads it.")],
    *,
    type_name: TypeName = "context",
    path: PathName = "",
    space: SpaceName = None,
    meta: Meta = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    quote: Quoted = None,
    message: MessageId = None,
    chat: ChatId = None,
    key: Key = None,
) -> int:
    """Remember something."""
    from remembrancer.text.limits import check_content

    about = json_object(meta, "--meta")
    if quote is None and (message or chat):
        raise WrongUseError("--message and --chat say where a --quote stands.")
    words = _words(text)
    if space is not None:
        check_content(words)  # before a space is made for it
    memory = session.in_space(space, make=True)
    work = memory.add(
        words,
        type=type_name or "context",
        path=path or "",
        valid_from=valid_from,
        valid_to=valid_to,
        meta=about,
        quote=quote,
        message_id=message,
        chat_id=chat,
        idempotency_key=key,
    )
    done = session.run(work)
    pending = done.pending
    if done.id is not None and done.status.value == "duplicate":
        known = session.run(memory.get(done.id))
        pending = known is not None and known.pending
    session.out.answer(forms.added(done, pending=pending), lambda: say(session, done))
    return _code(session, done)


def _one_meaning(was_wrong: bool, at: str | None, option: str) -> None:
    if was_wrong == (at is not None):
        raise WrongUseError(f"Was it wrong, or did it change? Give --was-wrong or {option} T.")


def correct(
    session: Session,
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is so; - reads it.")],
    *,
    was_wrong: WasWrong = False,
    changed_at: ChangedAt = None,
    valid_at: ValidAt = None,
    path: PathName = None,
    type_name: TypeName = None,
    quote: Quoted = None,
    expected: Expected = None,
) -> int:
    """Replace what a memory says: it was wrong, or the world changed."""
    _one_meaning(was_wrong, changed_at, "--changed-at")
    work = session.memory.correct(
        memory_id,
        _words(text),
        was_wrong=was_wrong,
        changed_at=changed_at,
        valid_at=valid_at,
        path=path,
        type=type_name,
        quote=quote,
        expected_version=expected,
    )
    return told(session, session.run(work))


def retract(
    session: Session,
    memory_id: MemoryId,
    *,
    was_wrong: WasWrong = False,
    ended_at: Annotated[
        str | None, typer.Option("--ended-at", metavar="T", help="It ended then.")
    ] = None,
    valid_at: ValidAt = None,
    expected: Expected = None,
) -> int:
    """Stop believing a memory, with nothing in its place."""
    _one_meaning(was_wrong, ended_at, "--ended-at")
    work = session.memory.retract(
        memory_id,
        was_wrong=was_wrong,
        ended_at=ended_at,
        valid_at=valid_at,
        expected_version=expected,
    )
    return told(session, session.run(work))


def move(
    session: Session,
    memory_id: MemoryId,
    *,
    path: PathName = None,
    type_name: TypeName = None,
    space: SpaceName = None,
    leave: Annotated[bool, typer.Option("--leave-space", help="Out of its space.")] = False,
    expected: Expected = None,
) -> int:
    """Change where a memory stands; an empty path clears it."""
    if path is None and type_name is None and space is None and not leave:
        raise WrongUseError("Where to? Give --path, --type, --space or --leave-space.")
    if space is not None and leave:
        raise WrongUseError("--space and --leave-space exclude each other.")
    work = session.memory.move(
        memory_id,
        path=path,
        type=type_name,
        space=space,
        leave_space=leave,
        expected_version=expected,
    )
    return told(session, session.run(work))


def confirm(session: Session, memory_id: MemoryId, *, expected: Expected = None) -> int:
    """Say that it is so; brings back an archived or rejected memory."""
    return told(session, session.run(session.memory.confirm(memory_id, expected_version=expected)))


def dispute(session: Session, memory_id: MemoryId, *, expected: Expected = None) -> int:
    """Doubt a memory: no model is given it until you decide."""
    return told(session, session.run(session.memory.dispute(memory_id, expected_version=expected)))


def archive(session: Session, memory_id: MemoryId, *, expected: Expected = None) -> int:
    """Put a memory away; confirm brings it back."""
    return told(session, session.run(session.memory.archive(memory_id, expected_version=expected)))


def reject(session: Session, memory_id: MemoryId, *, expected: Expected = None) -> int:
    """Say no to a memory: no machine may bring it back."""
    return told(session, session.run(session.memory.reject(memory_id, expected_version=expected)))


def pin(
    session: Session,
    memory_id: MemoryId,
    *,
    rank: Annotated[
        int | None, typer.Option("--rank", metavar="N", help="Lowest first; 0 if not given.")
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Unpin.")] = False,
) -> int:
    """Give a memory its place in the profile's order."""
    if off and rank is not None:
        raise WrongUseError("--rank and --off exclude each other.")
    place = None if off else rank or 0
    return told(session, session.run(session.memory.pin(memory_id, place)))


def forget(
    session: Session,
    memory_id: MemoryId,
    *,
    redact: Annotated[
        bool, typer.Option("--redact", help="Also out of the messages it came from.")
    ] = False,
    yes: Yes = False,
    expected: Expected = None,
) -> int:
    """Remove a memory's words for good, from every version."""
    if not yes and session.asks():
        found = session.run(session.memory.history(memory_id))
        said = next((one.content for one in reversed(found.versions) if one.content), None)
        session.out.line(said or "", indent=2)
        count = len({one.text_id for one in found.versions})
        whole = "this line" if count == 1 else f"this line, and {count} wordings of it"
        typer.confirm(f"Forget {whole}? The words can't be brought back.", abort=True, err=True)
    work = session.memory.forget(memory_id, redact=redact, expected_version=expected)
    return told(session, session.run(work))


def undo(
    session: Session,
    event: Annotated[
        int | None, typer.Argument(metavar="EVENT", help="The event's number in history.")
    ] = None,
) -> int:
    """Undo your last change, or one event."""
    return told(session, session.run(session.memory.undo(event)))


def clear(
    session: Session,
    *,
    yes: Yes = False,
    tombstones: Annotated[
        bool,
        typer.Option("--tombstones/--no-tombstones", help="Whether machines may say it again."),
    ] = True,
) -> None:
    """Forget every memory of a person's."""
    if not yes:
        if not session.asks():
            raise WrongUseError("It forgets everything and can't be undone: give --yes.")
        whom = session.account.email
        typer.confirm(
            f"Forget every memory of {whom}? The words can't be brought back.", abort=True, err=True
        )
    count = session.run(session.memory.clear_all(tombstones=tombstones))
    session.out.answer({"forgotten": count}, lambda: session.out.line(f"Forgotten: {count}."))
