"""What every suite shares: stores of both kinds, and people in them.

Databases are real. A PostgreSQL server is started once a process, and its database shared by tests
that each make people of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from tests.support.stores import Place, Server, running_server, somebody

# The same examples each time; no deadline, since the machines are shared.
settings.register_profile(
    "remembrancer",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("remembrancer")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server of this process's own."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def migrated(postgresql: Server) -> tuple[str, str]:
    """The owner's and the log-in's URL of a migrated database."""
    owner, log_in = postgresql.database()
    store = SyncRemembrancer(database_url=log_in, migration_url=owner)
    store.migrate()
    store.close()
    return owner, log_in


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A store's place, on either store: files of this test's own, or the shared database."""
    if request.param == "sqlite":
        return Place("sqlite", tmp_path / "data")
    owner, log_in = request.getfixturevalue("migrated")
    return Place("postgresql", tmp_path / "data", log_in, owner)


@pytest.fixture
def store(place: Place) -> Iterator[SyncRemembrancer]:
    """A handle on the store, with the deterministic test embedder."""
    handle = place.open()
    yield handle
    handle.close()


@pytest.fixture
def ada(store: SyncRemembrancer) -> SyncPersonalMemory:
    """A person."""
    return somebody(store, "ada")


@pytest.fixture
def ben(store: SyncRemembrancer) -> SyncPersonalMemory:
    """Another person."""
    return somebody(store, "ben")
