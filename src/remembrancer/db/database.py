"""`Database`: units of work for everybody above, on threads of its own.

`await db.write(scope, fn)` runs the plain function `fn(unit)` whole on a database thread inside one
transaction; `db.write_now` is the same on the calling thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from remembrancer import clock
from remembrancer.clock import Instant
from remembrancer.db.backend import Backend
from remembrancer.db.units import SystemUnit, Unit
from remembrancer.scope import Scope

T = TypeVar("T")

THREADS = 8


def open_backend(
    data: Path, database_url: str | None = None, migration_url: str | None = None
) -> Backend:
    """SQLite files under `data`, or PostgreSQL when a URL is given."""
    if database_url is None:
        from remembrancer.db.sqlite import SqliteBackend

        return SqliteBackend(data)
    from remembrancer.db.postgresql import PostgresqlBackend

    return PostgresqlBackend(database_url, migration_url)


class Database:
    """Opens scoped and system units over one backend."""

    def __init__(self, backend: Backend, *, now: Callable[[], Instant] = clock.now) -> None:
        self.backend = backend
        self._now = now
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="database")

    def read_now(self, scope: Scope, work: Callable[[Unit], T]) -> T:
        """Run `work` in a read unit of this person's."""
        with self.backend.scoped(scope, write=False) as connection:
            return work(Unit(connection, scope, self._now(), writable=False))

    def write_now(self, scope: Scope, work: Callable[[Unit], T]) -> T:
        """Run `work` in a write unit of this person's; commit, or roll back and raise."""
        with self.backend.scoped(scope, write=True) as connection:
            return work(Unit(connection, scope, self._now(), writable=True))

    def system_now(self, reason: str, work: Callable[[SystemUnit], T], *, write: bool = False) -> T:
        """Run `work` in a unit over the system tables, for a stated reason."""
        with self.backend.system(write=write) as connection:
            return work(SystemUnit(connection, reason, self._now(), writable=write))

    async def read(self, scope: Scope, work: Callable[[Unit], T]) -> T:
        """`read_now` on a database thread."""
        return await self._on_thread(lambda: self.read_now(scope, work))

    async def write(self, scope: Scope, work: Callable[[Unit], T]) -> T:
        """`write_now` on a database thread."""
        return await self._on_thread(lambda: self.write_now(scope, work))

    async def system(
        self, reason: str, work: Callable[[SystemUnit], T], *, write: bool = False
    ) -> T:
        """`system_now` on a database thread."""
        return await self._on_thread(lambda: self.system_now(reason, work, write=write))

    async def scrub(self, scope: Scope) -> bool:
        """After a forget: get old bytes out of what the store keeps beside its tables.

        False while somebody still reads what was there before: try again later.
        """
        return await self._on_thread(lambda: self.backend.scrub(scope))

    async def call(self, work: Callable[[], T]) -> T:
        """Run something that blocks on the store (accounts, migrations) on a database thread."""
        return await self._on_thread(work)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Wait for the units under way, then close every connection."""
        self._threads.shutdown()
        self.backend.close()
