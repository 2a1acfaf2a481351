"""`demo`: a conversation of nine months, three questions in two languages, and what is recalled.

Everything happens in a temporary folder that is gone afterwards.
"""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from remembrancer.cli import wording
from remembrancer.cli.explaining import show_recall
from remembrancer.cli.options import For, verb
from remembrancer.cli.session import Given, Session

if TYPE_CHECKING:
    from remembrancer.cli.output import Json

PERSON: Final = "ines"
ZONE: Final = "Europe/Amsterdam"
QUESTIONS: Final = (
    "What must I avoid when I cook for Wei and me?",
    "Wie heißt die Tochter meiner Schwester Judith?",
    "On which day do I swim, now that the pool has changed its hours?",
)
GREETING: Final = "Good morning! How are you today?"
"""Nothing of hers fits it, so nothing is given."""
ENTRIES: Final = 4
LEFT_OUT: Final = 4


def register(app: typer.Typer) -> None:
    """Add this verb."""
    verb(app, "demo", For.STORE)(demo)


def demo(session: Session) -> None:
    """Import a shipped conversation, ask three questions, show what is recalled and why."""
    with tempfile.TemporaryDirectory(prefix="remembrancer-demo-") as folder:
        given = Given(user=PERSON, data=Path(folder), json=session.given.json)
        with Session(given, alone=True) as own:
            _run(own)
    session.out.notice("It was all in a temporary folder, which is gone.")


def _run(session: Session) -> None:
    session.engine.accounts.add(PERSON, zone=ZONE)
    imported = _import(session)
    answers = [_ask(session, question) for question in QUESTIONS]
    answers.append(_ask(session, GREETING))
    corrected = _correct(session)
    if session.given.json:
        session.out.json({"imported": imported, "recalls": answers, "corrected": corrected})


def _import(session: Session) -> int:
    from remembrancer import clock
    from remembrancer.conversations import form

    written = files("remembrancer.examples").joinpath("conversation.json").read_bytes()
    told = form.parse(written, zone=ZONE)
    count = sum(len(each.messages) for each in told)
    title = told[0].title
    _heading(session, f"A conversation: {title}")
    first, last = (clock.write(each.said_at) or "" for each in told[0].messages[:: count - 1])
    _say(session, f"{count} messages from {first[:10]} to {last[:10]}, in three languages.")
    scope = session.engine.accounts.scope(session.account)
    with session.out.progress("Reading", count) as advance:
        work = session.engine.conversations.import_all(scope, session.actor, told, progress=advance)
        done = session.run(work)
    _say(session, "They are stored as evidence. No memory was made of them.")
    return done.new


def _ask(session: Session, question: str) -> Json:
    _heading(session, f"Asked: {question}")
    found = session.run(session.memory.recall(question, k=ENTRIES))
    for part in found.degraded:
        session.out.notice(wording.DEGRADED[part])
    if not session.given.json:
        show_recall(session, found, explain=True, most=LEFT_OUT)
    return {"query": question, **found.as_json()}


def _correct(session: Session) -> str:
    memory = session.memory
    _heading(session, "A memory, added and then corrected")
    made = session.run(memory.add("I swim on Mondays.", type="user", path="sport"))
    assert made.id is not None
    session.run(memory.correct(made.id, "I swim on Tuesdays.", changed_at="2026-04-01"))
    for label, at in (("In March 2026: ", "2026-03-01"), ("Now: ", None)):
        stood = session.run(memory.get(made.id, valid_at=at))
        if stood is not None:
            _say(session, f"{label}{stood.content}")
    if not session.given.json:
        from remembrancer.cli.reading import show_history

        session.out.line("")
        show_history(session, session.run(memory.history(made.id)), {})
    report = session.run(memory.verify())
    whole = "whole" if not report.damage else "damaged"
    _say(session, "")
    _say(session, f"The record: {report.events} events, the chain is {whole}.")
    return str(made.id)


def _heading(session: Session, words: str) -> None:
    if not session.given.json:
        session.out.line("")
        session.out.line((words, "bold"))
        session.out.line(("═" * min(72, len(words)), "dim"))


def _say(session: Session, words: str) -> None:
    if not session.given.json:
        session.out.line(words)
