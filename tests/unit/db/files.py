"""What the tests of SQLite files do with them, through units and past every guard."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import insert, select

from remembrancer.db.database import Database
from remembrancer.db.sqlite import SqliteBackend
from remembrancer.db.tables import OWNER
from remembrancer.ids import new_id
from remembrancer.memory.tables import paths
from remembrancer.scope import Scope

ALL = select(paths.c.text).where(paths.c.user_id == OWNER).order_by(paths.c.text)


def add(db: Database, scope: Scope, text: str, *, new: bool = False) -> None:
    if new:
        db.backend.create(scope)
    db.write_now(scope, lambda unit: unit.insert(insert(paths), id=new_id(), text=text))


def texts(db: Database, scope: Scope) -> list[str]:
    return db.read_now(scope, lambda unit: [row.text for row in unit.all(ALL)])


def plainly(place: Path, *statements: str) -> list[tuple[object, ...]]:
    """Run statements past every guard; the last one's rows."""
    with closing(sqlite3.connect(place)) as plain, plain:
        rows: list[tuple[object, ...]] = []
        for each in statements:
            rows = plain.execute(each).fetchall()
        return rows


def again(backend: SqliteBackend) -> Database:
    """The same files, met for the first time by another process."""
    return Database(SqliteBackend(backend.folder))
