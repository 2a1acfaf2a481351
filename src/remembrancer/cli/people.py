"""Accounts, and what a person allows machines."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from remembrancer.cli import forms
from remembrancer.cli.options import For, Yes, verb
from remembrancer.cli.session import SURFACE, Session
from remembrancer.errors import InvalidInputError

RULES = {
    "ask": "everything machines propose waits for you",
    "accept_quotes": "what rests on your own words is accepted, the rest waits",
    "accept_all": "everything machines propose is accepted",
    "off": "machines neither read nor write",
}
Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The person's address.")]


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    group = typer.Typer(help="The people of this installation.", no_args_is_help=True)
    app.add_typer(group, name="user")
    verb(group, "add", For.STORE)(add)
    verb(group, "remove", For.STORE)(remove)
    verb(group, "list", For.STORE)(list_people)
    verb(app, "policy", For.WRITE)(policy)


def add(
    session: Session,
    email: Email,
    admin: Annotated[bool, typer.Option("--admin", help="May administer.")] = False,
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="IANA zone, like Europe/Berlin.")
    ] = "UTC",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read a password from standard input.")
    ] = False,
) -> None:
    """Make an account; the first one administers."""
    from remembrancer.library.inputs import as_email

    hashed = _hashed(sys.stdin.readline()) if password_stdin else None
    made = session.engine.accounts.add(
        as_email(email), admin=admin, zone=zone, password_hash=hashed
    )
    session.out.answer(
        forms.account(made),
        lambda: session.out.line(f"Added {made.email} · {made.role} · {made.zone}"),
    )


def _hashed(line: str) -> str:
    """The Argon2id hash of a password, which is everything up to the line's end."""
    password = line.rstrip("\r\n")
    if not password:
        raise InvalidInputError(
            "The password is empty.",
            field="password",
            hint="Send it as one line on standard input.",
        )
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


def remove(session: Session, email: Email, yes: Yes = False) -> None:
    """Remove a person and everything of theirs."""
    from remembrancer.library.inputs import as_email
    from remembrancer.scope import Actor, ActorKind

    found = session.engine.accounts.find(as_email(email))
    if not yes and session.asks():
        asked = f"Remove {found.email}, with every memory and chat? This can't be undone."
        typer.confirm(asked, abort=True, err=True)
    operator = Actor(ActorKind.PERSON, "operator", SURFACE)
    removal = session.engine.remove_person(found.email, operator)
    form = {
        "user_id": str(removal.user_id),
        "removed_at": forms.moment(removal.removed_at),
        "removed_by": removal.removed_by,
        "events": removal.events,
        "last_hash": removal.last_hash,
    }
    session.out.answer(
        form,
        lambda: session.out.line(
            f"Removed {found.email}. What stays: {removal.events} events, ending in "
            f"{removal.last_hash[:16]}."
        ),
    )


def list_people(session: Session) -> None:
    """List the accounts, oldest first."""
    found = session.engine.accounts.everybody()

    def say() -> None:
        rows = [[each.email, each.role, each.zone] for each in found]
        if rows:
            session.out.table(rows, heads=["person", "role", "zone"])
        else:
            session.out.line("No accounts.")

    session.out.answer({"users": [forms.account(each) for each in found]}, say)


def policy(
    session: Session,
    rule: Annotated[
        str | None,
        typer.Argument(metavar="RULE", help="ask, accept_quotes, accept_all or off."),
    ] = None,
) -> None:
    """Show or set what becomes of what machines want to remember."""
    if rule is not None:
        session.run(session.memory.set_machine_writes(rule))
    stands = session.run(session.memory.machine_writes()).value
    session.out.answer(
        {"machine_writes": stands}, lambda: session.out.line(f"{stands}: {RULES[stands]}.")
    )
