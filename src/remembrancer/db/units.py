"""Units of work: the only way to a connection.

A `Unit` belongs to one person and binds their id to every statement; a `SystemUnit` reaches the
system tables and nothing else. Both are handed to a plain function, run whole on a database thread,
and are dead when it returns. They can't await, so no connection is held while a model thinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, Executable, Insert, Row

from remembrancer.clock import Instant
from remembrancer.scope import Scope


class _Work:
    """What both kinds of unit share: running constant statements."""

    __slots__ = ("_connection", "now", "writable")

    def __init__(self, connection: Connection, now: Instant, *, writable: bool) -> None:
        self._connection = connection
        self.now = now
        self.writable = writable

    @property
    def connection(self) -> Connection:
        """The unit's own connection. It closes with the unit."""
        return self._connection

    def _bound(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return dict(values)

    def _row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return dict(values)

    def run(self, statement: Executable, **values: Any) -> CursorResult[Any]:
        """Execute one statement with its bind values."""
        return self._connection.execute(statement, self._bound(values))

    def run_many(self, statement: Executable, rows: Iterable[Mapping[str, Any]]) -> None:
        """Execute one statement for every mapping of bind values."""
        bound = [self._bound(row) for row in rows]
        if bound:
            self._connection.execute(statement, bound)

    def insert(self, statement: Insert, **columns: Any) -> None:
        """Insert one row; column values by name."""
        self._connection.execute(statement, self._row(columns))

    def insert_many(self, statement: Insert, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows; column values by name."""
        full = [self._row(row) for row in rows]
        if full:
            self._connection.execute(statement, full)

    def all(self, statement: Executable, **values: Any) -> Sequence[Row[Any]]:
        """Every row."""
        return self.run(statement, **values).all()

    def first(self, statement: Executable, **values: Any) -> Row[Any] | None:
        """The first row, or None."""
        return self.run(statement, **values).first()

    def scalar(self, statement: Executable, **values: Any) -> Any:
        """The first column of the first row, or None."""
        return self.run(statement, **values).scalar()


class Unit(_Work):
    """A unit of work over one person's tables. Statements name the person by the bind `owner`."""

    __slots__ = ("scope",)

    def __init__(
        self, connection: Connection, scope: Scope, now: Instant, *, writable: bool
    ) -> None:
        super().__init__(connection, now, writable=writable)
        self.scope = scope

    def _bound(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**values, "owner": self.scope.user_id}

    def _row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**values, "user_id": self.scope.user_id}


class SystemUnit(_Work):
    """A unit over system tables, for a stated `reason`. It can't reach personal tables."""

    __slots__ = ("reason",)

    def __init__(
        self, connection: Connection, reason: str, now: Instant, *, writable: bool
    ) -> None:
        super().__init__(connection, now, writable=writable)
        self.reason = reason
