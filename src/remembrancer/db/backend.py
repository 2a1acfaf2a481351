"""The `Backend` port: what truly differs between SQLite and PostgreSQL."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from sqlalchemy import Connection

from remembrancer.errors import NotFoundError
from remembrancer.scope import Scope


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What `doctor` says of a store. `problems` name what is wrong and the way out."""

    kind: str
    place: str
    server_version: str
    schema: str
    problems: tuple[str, ...]


class Backend(Protocol):
    """One of the three ports. Every method may raise a `StoreError`."""

    kind: str
    """`sqlite` or `postgresql`."""

    def create(self, scope: Scope) -> None:
        """Make room for a person. Nothing else does: a unit of somebody unknown finds nothing."""
        ...

    def scoped(self, scope: Scope, *, write: bool) -> AbstractContextManager[Connection]:
        """A connection that reaches this person's rows only, inside one transaction."""
        ...

    def system(self, *, write: bool) -> AbstractContextManager[Connection]:
        """A connection that reaches the system tables only, inside one transaction."""
        ...

    def migrate(self) -> list[str]:
        """Bring the schema up to date; says what it did."""
        ...

    def check(self) -> None:
        """Refuse a store this code must not use (wrong schema, superuser, too old a server)."""
        ...

    def report(self) -> StoreReport:
        """Everything `check` would refuse, as words."""
        ...

    def erase(self, scope: Scope) -> None:
        """Remove everything of this person's, the log included."""
        ...

    def scrub(self, scope: Scope) -> bool:
        """After a forget: get old bytes out of what the store keeps beside its tables.

        False while somebody still reads what was there before: try again later.
        """
        ...

    def size(self, scope: Scope) -> int | None:
        """Bytes this person takes on disk, where the store can tell."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


def nobody() -> NotFoundError:
    """The error for a scope whose person was removed, or never made."""
    return NotFoundError(
        "This person was removed.", field="user", hint="Ask for the account again."
    )


def person_file(user_id: UUID) -> str:
    """The name of a person's SQLite file."""
    return f"{user_id}.db"
