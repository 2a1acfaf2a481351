"""Verbs that look: recall, list, history, and what else the record holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from remembrancer.cli import forms, wording
from remembrancer.cli.explaining import show_recall
from remembrancer.cli.memories import json_object
from remembrancer.cli.options import (
    For,
    KnownAt,
    MemoryId,
    PathName,
    SpaceName,
    TypeName,
    ValidAt,
    verb,
)
from remembrancer.cli.output import styled
from remembrancer.cli.session import Session
from remembrancer.errors import InvalidInputError

if TYPE_CHECKING:
    from remembrancer.memory.models import Change, History, Version

Limit = Annotated[int, typer.Option("--limit", metavar="N", help="At most this many.")]
Offset = Annotated[int, typer.Option("--offset", metavar="N", help="Skip this many.")]
States = Annotated[
    list[str] | None,
    typer.Option("--state", metavar="STATE", help="In this state; may be repeated."),
]
Contains = Annotated[
    str, typer.Option("--contains", metavar="WORDS", help="Whose words hold these.")
]
MetaHas = Annotated[
    str | None, typer.Option("--meta", metavar="JSON", help="Whose meta has these members.")
]
DIFFERENCE = {"same": "", "gone": "strike dim", "new": "bold underline"}


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    for name, function in (
        ("recall", recall),
        ("list", list_memories),
        ("history", history),
        ("events", events),
        ("tombstones", tombstones),
        ("chats", chats),
    ):
        verb(app, name, For.READ)(function)


def spaces_of(session: Session) -> Mapping[UUID, str]:
    """The names of the person's spaces."""
    return {each.id: each.name for each in session.run(session.memory.spaces())}


def recall(
    session: Session,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, as a turn says it.")],
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also why, and what was left out.")
    ] = False,
    k: Annotated[int, typer.Option("--k", metavar="N", help="At most this many entries.")] = 8,
    space: SpaceName = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
) -> None:
    """Show what a model would be given for a question, in its order."""
    memory = session.in_space(space, make=False)
    found = session.run(memory.recall(query, k=k, valid_at=valid_at, known_at=known_at))
    failures = dict(found.trace.failures)
    for part in found.degraded:
        said = wording.DEGRADED[part]
        session.out.notice(f"{said} ({failures[part]})" if part in failures else said)
    form = forms.explained(found) if explain else found.as_json()
    session.out.answer(form, lambda: show_recall(session, found, explain=explain))


def list_memories(
    session: Session,
    *,
    type_name: TypeName = None,
    path: PathName = "",
    state: States = None,
    contains: Contains = "",
    meta: MetaHas = None,
    space: SpaceName = None,
    limit: Limit = 100,
    offset: Offset = 0,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
) -> None:
    """List memories, oldest first; archived and rejected ones only when asked for."""
    for field, value in (("limit", limit), ("offset", offset)):
        if value < 0:
            raise InvalidInputError(
                f"{field} is {value}.", field=field, value=value, limit="0 or more"
            )
    work = session.in_space(space, make=False).list(
        type=type_name,
        trust=state or (),
        path=path or "",
        contains=contains,
        meta=json_object(meta, "--meta"),
        valid_at=valid_at,
        known_at=known_at,
        limit=limit,
        offset=offset,
    )
    found = session.run(work)
    spaces = spaces_of(session)

    def say() -> None:
        for number, each in enumerate(found):
            if number:
                session.out.line("")
            wording.show_memory(session.out, each, spaces, session.account.zone)
        if not found:
            session.out.line("No memories.")
        elif len(found) == limit:
            session.out.notice(f"These are {limit}; --offset {offset + limit} shows the next.")

    session.out.answer({"memories": [forms.memory(each, spaces) for each in found]}, say)


def history(
    session: Session, memory_id: MemoryId, valid_at: ValidAt = None, known_at: KnownAt = None
) -> None:
    """Show everything the record holds about a memory, oldest first."""
    found = _as_of(session, session.run(session.memory.history(memory_id)), valid_at, known_at)
    spaces = spaces_of(session)
    session.out.answer(forms.history(found, spaces), lambda: show_history(session, found, spaces))


def _as_of(session: Session, found: History, valid_at: str | None, known_at: str | None) -> History:
    """What the record held at `known_at`, and of the versions those true at `valid_at`."""
    from remembrancer import clock

    changes, versions = found.changes, found.versions
    if known_at is not None:
        known = clock.to_datetime(clock.parse(known_at, session.account.zone, field="known_at"))
        if known is not None:
            changes = tuple(each for each in changes if each.at <= known)
            versions = tuple(each for each in versions if each.recorded_from <= known)
    if valid_at is not None:
        valid = clock.parse(valid_at, session.account.zone, field="valid_at")
        versions = tuple(each for each in versions if _holds(each, valid))
    return replace(found, changes=changes, versions=versions)


def _holds(each: Version, instant: int) -> bool:
    from remembrancer import clock

    start = clock.MIN if each.valid_from is None else clock.from_datetime(each.valid_from)
    end = clock.MAX if each.valid_to is None else clock.from_datetime(each.valid_to)
    return start <= instant < end


def show_history(session: Session, found: History, spaces: Mapping[UUID, str]) -> None:
    out, zone = session.out, session.account.zone
    out.line((f"{found.id} · version {found.version}", "bold"))
    if found.forgotten:
        out.line(wording.state("forgotten"), " · the words are gone from every version.")
    for change in found.changes:
        out.line("")
        out.line(
            f"{change.event}  {wording.when(change.at, zone)}  ",
            (change.kind, "bold"),
            f"  {change.actor}",
        )
        _show_change(session, change, spaces)
    if found.evidence:
        out.line("")
        out.line(("Evidence", "bold"))
    for proof in found.evidence:
        where = "evidence deleted" if proof.deleted else f"message {proof.message_id}"
        out.line(f"“{proof.quote}”" if proof.quote else "no quote", indent=2)
        out.line((where, "dim"), indent=2)


def _show_change(session: Session, change: Change, spaces: Mapping[UUID, str]) -> None:
    out, zone = session.out, session.account.zone
    if change.difference:
        words = (_marked(kind, text) for kind, text in change.difference)
        out.text(styled(*words), indent=4)
    for label, versions in (("was", change.closed), ("now", change.opened)):
        for each in versions:
            out.line((f"{label}: ", "dim"), wording.state(each.trust.value), indent=4)
            about = wording.said_of(each, spaces, zone)
            ended = each.recorded_to
            recorded = f"recorded {wording.when(each.recorded_from, zone)} to "
            recorded += "now" if ended is None else wording.when(ended, zone)
            out.line((f"{about} · {recorded}", "dim"), indent=6)
            out.line("▬▬▬▬▬▬" if each.content is None else each.content, indent=6)


def _marked(kind: str, text: str) -> tuple[str, str]:
    """Difference by mark as well as by style: [-gone-] {+new+}."""
    marks = {"gone": ("[-", "-]"), "new": ("{+", "+}")}.get(kind, ("", ""))
    return f"{marks[0]}{text}{marks[1]}", DIFFERENCE[kind]


def events(
    session: Session,
    after: Annotated[int, typer.Option("--after", metavar="N", help="Those after event N.")] = 0,
    limit: Limit = 500,
) -> None:
    """Show the log, in order. It holds no words."""
    found = session.run(session.memory.events(after=after, limit=limit))
    zone = session.account.zone

    def say() -> None:
        from remembrancer import clock

        rows = []
        for each in found:
            at = clock.to_datetime(each.recorded_at)
            shown = "" if at is None else wording.when(at, zone)
            actor = f"{each.actor.kind.value}:{each.actor.name}"
            rows.append([str(each.seq), shown, each.kind.value, actor])
        _table(session, rows, ["event", "at", "kind", "actor"], "No events.")

    session.out.answer({"events": [forms.event(each) for each in found]}, say)


def tombstones(session: Session) -> None:
    """Show what was rejected, refuted or forgotten, newest first."""
    found = session.run(session.memory.tombstones())
    zone = session.account.zone

    def say() -> None:
        for each in found:
            tries = f" · {each.attempts} attempts to bring it back" if each.attempts else ""
            lifted = " · lifted" if each.lifted else ""
            mark = "▬ " if each.text is None else "⊘ "
            out_line = f"{mark}{each.kind.value.capitalize()}"
            session.out.line(f"{out_line} · {wording.when(each.created_at, zone)}{tries}{lifted}")
            session.out.line("▬▬▬▬▬▬" if each.text is None else each.text, indent=2)
        if not found:
            session.out.line("Nothing was rejected, refuted or forgotten.")

    session.out.answer({"tombstones": [forms.tombstone(each) for each in found]}, say)


def chats(session: Session) -> None:
    """List the stored conversations."""
    found = session.run(session.memory.chats())
    spaces = spaces_of(session)

    def say() -> None:
        for each in found:
            where = "" if each.space_id is None else f" · in {spaces.get(each.space_id, '')}"
            session.out.line(each.title or "Untitled", f" · {each.messages} messages{where}")
            session.out.line((f"{each.id} · {each.source}", "dim"), indent=2)
        if not found:
            session.out.line("No chats.")

    session.out.answer({"chats": [forms.chat(each, spaces) for each in found]}, say)


def _table(session: Session, rows: Any, heads: list[str], empty: str) -> None:
    if rows:
        session.out.table(rows, heads=heads)
    else:
        session.out.line(empty)
