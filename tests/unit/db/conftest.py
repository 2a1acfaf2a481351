"""Bare stores for the data layer's own tests: a `Database`, and scopes of nobody in particular."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from remembrancer.db import sqlite_files
from remembrancer.db.database import Database, open_backend
from remembrancer.db.migrations import run
from remembrancer.db.schema import HEADS
from remembrancer.db.sqlite import SqliteBackend
from remembrancer.ids import new_id
from remembrancer.scope import Scope, mint
from tests.support.stores import Place


@pytest.fixture
def db(place: Place) -> Iterator[Database]:
    """A database on either store."""
    opened = Database(open_backend(place.data, place.database_url, place.migration_url))
    yield opened
    opened.close()


def _made(request: pytest.FixtureRequest) -> Scope:
    """A person with room in the store that the test uses; no head row."""
    scope = mint(new_id())
    if "db" in request.fixturenames:
        request.getfixturevalue("db").backend.create(scope)
    if "sqlite" in request.fixturenames:
        request.getfixturevalue("sqlite").create(scope)
    return scope


@pytest.fixture
def scope(request: pytest.FixtureRequest) -> Scope:
    """Somebody's scope."""
    return _made(request)


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteBackend]:
    """SQLite files of this test's own."""
    backend = SqliteBackend(tmp_path / "data")
    yield backend
    backend.close()


@pytest.fixture
def somebody(request: pytest.FixtureRequest) -> Callable[[], Scope]:
    """Makes scopes."""
    return lambda: _made(request)


_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "personal_0002"
down_revision = "personal_0001"
branch_labels = None
depends_on = None


def upgrade():
    op.add_column("paths", sa.Column("colour", sa.Text))
    {then}
"""


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes the code one whose schema has one more revision; `then` is said at its end."""

    def make(then: str = "pass") -> None:
        versions = tmp_path / "versions"
        versions.mkdir()
        (versions / "personal_0002.py").write_text(_REVISION.format(then=then))
        config = Config()
        here = Path(run.__file__).parent
        config.set_main_option("script_location", str(here))
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", f"{here / 'versions'}\n{versions}")
        scripts = ScriptDirectory.from_config(config)
        monkeypatch.setattr(run, "_scripts", lambda: scripts)
        monkeypatch.setattr(sqlite_files, "_templates", {})
        monkeypatch.setitem(HEADS, "personal", "personal_0002")
        run.known_revisions.cache_clear()

    yield make
    run.known_revisions.cache_clear()
