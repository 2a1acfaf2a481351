"""SQLite: one file a person beside one for the system.

The boundary is the file. A unit's connection can attach no other (see `sqlite_connections`),
triggers pin `user_id` to the file's owner, and a connection is handed out inside a unit only. One
engine and so one statement cache serves all files.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from remembrancer.db.backend import StoreReport, nobody, person_file
from remembrancer.db.failures import filing, storing
from remembrancer.db.schema import HEADS
from remembrancer.db.sqlite_connections import Connections, Inode, Target, inode_of, open_plain
from remembrancer.db.sqlite_files import BEFORE_UPGRADE, copies_of, ensure
from remembrancer.errors import SchemaError, StoreError, UnsupportedServerError
from remembrancer.scope import Scope

LEAST_SQLITE: Final = (3, 37, 0)
SCRUB_MILLISECONDS: Final = 250
"""How long the truncating checkpoint, which holds writers off, waits for a reader. A job retries
it."""


def _engine(connections: Connections) -> Engine:
    engine = create_engine(
        "sqlite://", creator=connections.take, poolclass=NullPool, hide_parameters=True
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


class SqliteBackend:
    """Files under `folder`: `system.db` and `people/<id>.db`."""

    kind = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connections = Connections()
        self._engine = _engine(self._connections)
        self._ready: dict[Path, Inode | None] = {}
        self._opening = threading.Lock()

    @property
    def system_file(self) -> Path:
        return self.folder / "system.db"

    def person(self, scope: Scope) -> Path:
        """The file of a person."""
        return self.folder / "people" / person_file(scope.user_id)

    @contextmanager
    def _transaction(self, target: Target) -> Iterator[Connection]:
        place = f"the database {target.place.name}"
        with storing(place), self._connections.at(target):
            connection = self._engine.connect().execution_options(write=target.write)
        with connection:
            with storing(place):
                transaction = connection.begin()
            try:
                yield connection
                with storing(place):
                    transaction.commit()
            except DBAPIError as error:
                with suppress(DBAPIError):  # else its words would hide what happened
                    transaction.rollback()
                with storing(place):
                    raise error
            except BaseException:
                with suppress(DBAPIError):
                    transaction.rollback()
                raise

    def create(self, scope: Scope) -> None:
        """Make a person's file, beside the system's."""
        self._prepare(self.system_file, "system")
        self._prepare(self.person(scope), "personal", scope)

    @contextmanager
    def scoped(self, scope: Scope, *, write: bool) -> Iterator[Connection]:
        place = self.person(scope)
        if inode_of(place) is None:
            raise nobody()
        self._prepare(place, "personal", scope)
        with self._transaction(Target(place, write, scope.user_id)) as connection:
            yield connection

    @contextmanager
    def system(self, *, write: bool) -> Iterator[Connection]:
        self._prepare(self.system_file, "system")
        with self._transaction(Target(self.system_file, write)) as connection:
            yield connection

    def _prepare(self, place: Path, branch: str, scope: Scope | None = None) -> None:
        """Make or upgrade a file the first time it is met, and when another took its place."""
        with filing(f"the data folder {self.folder}"):
            inode = inode_of(place)
            if inode is not None and self._ready.get(place) == inode:
                return
            with self._opening:
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if branch == "system":
                    self._refuse_lost()
                ensure(place, branch, None if scope is None else scope.user_id)
                self._ready[place] = inode_of(place)

    def migrate(self) -> list[str]:
        """Bring the system file and every person's file up to date."""
        with filing(f"the data folder {self.folder}"):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._refuse_lost()
            had = ensure(self.system_file, "system")
            done = [f"system.db: {had or 'new'} → {HEADS['system']}"]
            for place in self._people():
                had = ensure(place, "personal")
                done.append(f"{place.name}: {had} → {HEADS['personal']}")
        return done

    def _people(self) -> list[Path]:
        """The people's files, without the copies that upgrades left."""
        found = sorted((self.folder / "people").glob("*-*.db"))
        return [
            each
            for each in found
            if not each.name.startswith(".") and not each.name.endswith(BEFORE_UPGRADE)
        ]

    def _refuse_lost(self) -> None:
        """A new system file beside people's files would hide them all: it was lost."""
        if self.system_file.exists() and self.system_file.stat().st_size:
            return
        people = len(self._people())
        if people:
            raise SchemaError(
                f"system.db is missing beside the files of {people} people.",
                value=people,
                hint="Restore it from a back-up; the people's files are untouched.",
            )

    def strays(self, known: Collection[UUID]) -> list[str]:
        """Names of files no account owns, and of what a killed creation left."""
        owned = {person_file(each) for each in known}
        found = [each.name for each in self._people() if each.name not in owned]
        return found + sorted(each.name for each in (self.folder / "people").glob(".*.new"))

    def check(self) -> None:
        """Refuse an SQLite library or a schema this code can't use."""
        if sqlite3.sqlite_version_info < LEAST_SQLITE:
            raise UnsupportedServerError(
                f"SQLite {sqlite3.sqlite_version} is too old.",
                value=sqlite3.sqlite_version,
                limit=".".join(map(str, LEAST_SQLITE)),
                hint="Use a Python built with SQLite 3.37 or newer.",
            )
        with self.system(write=False):
            pass

    def report(self) -> StoreReport:
        problems = []
        try:
            self.check()
        except StoreError as error:
            problems.append(str(error))
        if self.folder.exists() and not os.access(self.folder, os.W_OK):
            problems.append(f"The data folder {self.folder} can't be written to.")
        return StoreReport(
            self.kind, str(self.folder), sqlite3.sqlite_version, HEADS["system"], tuple(problems)
        )

    def erase(self, scope: Scope) -> None:
        """Unlink the person's file, and the copies that upgrades left."""
        place = self.person(scope)
        self._connections.forget(place)
        self._ready.pop(place, None)
        with filing(f"the data folder {self.folder}"):
            for ending in ("", "-wal", "-shm"):
                place.with_name(place.name + ending).unlink(missing_ok=True)
            for copy in copies_of(place):
                copy.unlink(missing_ok=True)

    def scrub(self, scope: Scope) -> bool:
        """Move the write-ahead log into the file and cut it to nothing, unless it is read."""
        place = self.person(scope)
        with storing(f"the database {place.name}"), closing(open_plain(place)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {SCRUB_MILLISECONDS}")
            row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return bool(row[0] == 0)

    def size(self, scope: Scope) -> int | None:
        place = self.person(scope)
        return place.stat().st_size if place.exists() else None

    def close(self) -> None:
        self._connections.close()
        self._engine.dispose()
