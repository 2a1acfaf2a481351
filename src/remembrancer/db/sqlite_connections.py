"""Open SQLite connections, kept for the next unit over the same file.

A connection allows what a unit needs: reading and writing rows. An authorizer refuses every other
statement, so nothing a unit says outlives it: no setting, trigger, temporary table or attached
file. Reading and writing units have connections of their own.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote
from uuid import UUID

from remembrancer.errors import SchemaError

BUSY_SECONDS: Final = 10.0
KEPT_CONNECTIONS: Final = 64

Inode: TypeAlias = tuple[int, int]
"""Device and number: what a file is, whatever its name points to later."""

_PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA recursive_triggers=ON",  # so that REPLACE meets the log's refusal to delete
    "PRAGMA journal_size_limit=16777216",
)
_READING: Final = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    }
)
_WRITING: Final = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_FIXED: Final = frozenset({"owner", "alembic_version", "schema_level"})
"""Tables that migrations alone write."""
_ASKED: Final = frozenset({"data_version", "read_uncommitted"})
"""What may be asked of the library; setting anything may not."""


def inode_of(place: Path) -> Inode | None:
    """What the file at `place` is now; None when there is none."""
    try:
        found = place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _permit(
    action: int, first: str | None, second: str | None, _database: str | None, _inside: str | None
) -> int:
    if action in _READING:
        return sqlite3.SQLITE_OK
    name = (first or "").lower()
    if action in _WRITING:
        fixed = name in _FIXED or name.startswith("sqlite_")
        return sqlite3.SQLITE_DENY if fixed else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and second is None and name in _ASKED:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


@dataclass(frozen=True, slots=True)
class Target:
    """Which connection a unit wants. `owner` is checked where the file has one."""

    place: Path
    write: bool
    owner: UUID | None = None


class Kept(sqlite3.Connection):
    """A connection that goes back to its cache when SQLAlchemy closes it."""

    give_back: Callable[[Kept], None] | None = None
    target: Target
    inode: Inode | None

    def close(self) -> None:
        if self.give_back is None:
            self.really_close()
        else:
            self.give_back(self)

    def really_close(self) -> None:
        """Close the file."""
        super().close()


def open_plain(place: Path) -> Kept:
    """A connection without an authorizer, for the store's own upkeep."""
    connection = sqlite3.connect(
        f"file:{quote(str(place))}?mode=rw",
        uri=True,
        factory=Kept,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.really_close()
        raise
    return connection


class Connections:
    """Idle connections by file, least recently used dropped first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: OrderedDict[int, Kept] = OrderedDict()
        self._asked = threading.local()
        self._closed = False

    @contextmanager
    def at(self, target: Target) -> Iterator[None]:
        """The engine's next connection on this thread is one to `target`."""
        self._asked.target = target
        try:
            yield
        finally:
            self._asked.target = None

    def take(self) -> Kept:
        """The engine's creator: an idle connection to what `at` named, or a new one."""
        target: Target | None = getattr(self._asked, "target", None)
        if target is None:
            raise RuntimeError("A connection is opened by a unit alone.")
        inode = inode_of(target.place)
        while (kept := self._pop(target)) is not None:
            if kept.inode == inode:
                return kept
            kept.really_close()  # the file was replaced or removed meanwhile
        return self._open(target, inode)

    def _pop(self, target: Target) -> Kept | None:
        with self._lock:
            for key in reversed(self._idle):
                if self._idle[key].target == target:
                    return self._idle.pop(key)
        return None

    def _open(self, target: Target, inode: Inode | None) -> Kept:
        connection = open_plain(target.place)
        try:
            if target.owner is not None:
                _check_owner(connection, target.owner, target.place)
            if not target.write:
                connection.execute("PRAGMA query_only=ON")
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.set_authorizer(_permit)
        except BaseException:
            connection.really_close()
            raise
        connection.target = target
        connection.inode = inode
        connection.give_back = self._give_back
        return connection

    def _give_back(self, connection: Kept) -> None:
        dropped: Kept | None = connection
        fresh = inode_of(connection.target.place) == connection.inode
        with self._lock:
            if fresh and not self._closed:
                self._idle[id(connection)] = connection
                dropped = None
                if len(self._idle) > KEPT_CONNECTIONS:
                    _, dropped = self._idle.popitem(last=False)
        if dropped is not None:
            dropped.really_close()

    def forget(self, place: Path) -> None:
        """Close the idle connections to a file that is about to go."""
        with self._lock:
            gone = [key for key, kept in self._idle.items() if kept.target.place == place]
            closing = [self._idle.pop(key) for key in gone]
        for connection in closing:
            connection.really_close()

    def close(self) -> None:
        """Close every idle connection; those in use close when they come back."""
        with self._lock:
            self._closed = True
            closing = list(self._idle.values())
            self._idle.clear()
        for connection in closing:
            connection.really_close()


def _check_owner(connection: Kept, owner: UUID, place: Path) -> None:
    row = connection.execute("SELECT user_id FROM owner").fetchone()
    if row is None or row[0] != owner.bytes:
        raise SchemaError(
            f"The file {place.name} belongs to somebody else.",
            hint="Put back the right file from a back-up.",
        )
