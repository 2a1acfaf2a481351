"""SQLite files of other schemas: upgraded, run, or refused."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from remembrancer.db.database import Database
from remembrancer.db.migrations.run import upgrade
from remembrancer.db.sqlite import SqliteBackend
from remembrancer.errors import (
    SchemaError,
)
from remembrancer.scope import Scope
from tests.unit.db.files import add, again, plainly, texts


@pytest.fixture
def files(sqlite: SqliteBackend) -> Database:
    """A database over the files."""
    return Database(sqlite)


def test_a_newer_schema_runs_from_its_least_code_on(
    files: Database, sqlite: SqliteBackend, scope: Scope
) -> None:
    add(files, scope, "a")
    files.system_now("a test", lambda _unit: None)
    for place in (sqlite.person(scope), sqlite.system_file):
        plainly(place, "UPDATE alembic_version SET version_num = 'later_0009'")
    db = again(sqlite)
    add(db, scope, "b")
    db.backend.check()
    assert texts(db, scope) == ["a", "b"]
    db.close()
    for place in (sqlite.person(scope), sqlite.system_file):
        plainly(place, "UPDATE schema_level SET least_code = 2")
    db = again(sqlite)
    with pytest.raises(SchemaError, match="newer than this program") as refused:
        add(db, scope, "c")
    assert "Upgrade Remembrancer" in str(refused.value)
    assert db.backend.report().problems
    assert plainly(sqlite.person(scope), "SELECT count(*) FROM paths") == [(2,)]
    db.close()


def test_an_older_file_is_copied_then_upgraded(
    files: Database,
    sqlite: SqliteBackend,
    somebody: Callable[[], Scope],
    next_release: Callable[..., None],
) -> None:
    ada, ben, new = somebody(), somebody(), somebody()
    for each in (ada, ben):
        add(files, each, "a")
    sqlite.close()
    plainly(sqlite.person(ada), "DROP TRIGGER log_refuses_DELETE")
    next_release()
    db = again(sqlite)
    assert texts(db, ada) == ["a"]
    place = sqlite.person(ada)
    copy = place.with_name(f"{place.stem}.personal_0001.before-upgrade.db")
    assert plainly(copy, "SELECT text FROM paths") == [("a",)]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert plainly(place, "SELECT version_num, colour FROM alembic_version, paths") == [
        ("personal_0002", None)
    ]
    guards = "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
    assert ("log_refuses_DELETE",) in plainly(place, guards)
    add(db, new, "b")
    assert plainly(sqlite.person(new), guards) == plainly(place, guards)
    said = db.backend.migrate()
    assert f"{ben.user_id}.db: personal_0001 → personal_0002" in said
    assert f"{ada.user_id}.db: personal_0002 → personal_0002" in said
    db.backend.erase(ada)
    assert list(place.parent.glob(f"{place.stem}*")) == []
    db.close()


def test_a_failing_upgrade_changes_nothing(
    files: Database, sqlite: SqliteBackend, scope: Scope, next_release: Callable[..., None]
) -> None:
    add(files, scope, "a")
    sqlite.close()
    before = plainly(sqlite.person(scope), "SELECT type, name, sql FROM sqlite_master")
    next_release("raise ZeroDivisionError")
    db = again(sqlite)
    with pytest.raises(ZeroDivisionError):
        texts(db, scope)
    assert plainly(sqlite.person(scope), "SELECT type, name, sql FROM sqlite_master") == before
    db.close()


def test_migrating_twice_is_migrating_once(tmp_path: Path) -> None:
    dumps = []
    engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    for _ in range(2):
        with engine.begin() as connection:
            upgrade(connection, "personal")
        dumps.append(
            sorted(plainly(tmp_path / "x.db", "SELECT type, name, sql FROM sqlite_master"))
        )
    engine.dispose()
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 20
