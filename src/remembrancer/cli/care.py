"""Looking after a store: schema, derived data, proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from remembrancer.cli.commands import DONE, REFUSED
from remembrancer.cli.options import For, verb
from remembrancer.cli.session import Session
from remembrancer.errors import NotFoundError, StoreError

if TYPE_CHECKING:
    from remembrancer.accounts.models import Account
    from remembrancer.cli.output import Json

_NOTHING: Final = {"events": None, "versions": None, "texts": None, "last_hash": None}


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    verb(app, "migrate", For.STORE)(migrate)
    verb(app, "reindex", For.EVERYBODY)(reindex)
    verb(app, "verify", For.EVERYBODY)(verify)


def damaged() -> tuple[type[Exception], ...]:
    """What reading damaged rows may raise."""
    from sqlalchemy.exc import DBAPIError

    return (DBAPIError, AttributeError, KeyError, OverflowError, TypeError, ValueError)


def migrate(session: Session) -> None:
    """Make or upgrade the schema. SQLite files also do it when they are opened."""
    done = list(session.engine.db.backend.migrate())

    def say() -> None:
        for each in done:
            session.out.line(each)

    session.out.answer({"done": done}, say)


def reindex(
    session: Session,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only what has no vector yet.")
    ] = False,
) -> None:
    """Make derived things (terms, vectors) again from what is kept."""
    people = session.people()
    made: list[Json] = []
    for account in people:
        terms, vectors = _reindexed(session, account, pending=pending)
        made.append({"user": account.email, "terms": terms, "vectors": vectors})

    def say() -> None:
        rows = [[str(each["user"]), str(each["terms"]), str(each["vectors"])] for each in made]
        if rows:
            session.out.table(rows, heads=["person", "terms", "vectors"])
        else:
            session.out.line("No accounts.")

    session.out.answer({"people": made}, say)


def _reindexed(session: Session, account: Account, *, pending: bool) -> tuple[int, int]:
    scope = session.engine.accounts.scope(account)
    with session.out.progress(account.email, None) as advance:
        work = session.engine.reindex(scope, pending=pending, progress=advance)
        done = session.run(work)
    session.engine.indexes.drop(account.user_id)
    return done.terms, done.vectors


def verify(session: Session) -> int:
    """Prove the record: the chain holds, the log rebuilds the state, the words are as committed."""
    found = [_verified(session, account) for account in session.people()]
    damaged = [each for each in found if each["damage"]]

    def say() -> None:
        for each in found:
            damage = each["damage"]
            assert isinstance(damage, list)
            if not damage:
                session.out.line(
                    f"{each['user']} · whole · {each['events']} events, {each['versions']} versions"
                )
                continue
            session.out.line((f"{each['user']} · damaged", "red"))
            for one in damage:
                session.out.line(one, indent=2)
        if not found:
            session.out.line("No accounts.")

    session.out.answer({"ok": not damaged, "people": found}, say)
    return REFUSED if damaged else DONE


def _verified(session: Session, account: Account) -> Json:
    form: dict[str, object] = {"user": account.email}
    try:
        report = session.run(session.memory_of(account).verify())
    except NotFoundError:
        return {**form, **_NOTHING, "damage": ["The file or the data of this person is missing."]}
    except StoreError as error:
        return {**form, **_NOTHING, "damage": [str(error)]}
    except damaged() as error:  # its words may be a memory's
        said = f"The record can't be read: {type(error).__name__}."
        return {**form, **_NOTHING, "damage": [said]}
    return {
        **form,
        "events": report.events,
        "versions": report.versions,
        "texts": report.texts,
        "last_hash": report.last_hash,
        "damage": list(report.damage),
    }
