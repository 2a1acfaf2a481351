"""SQLite: whose file it is, which schema it has, and what is said when it can't be used."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import DBAPIError

from remembrancer.db import sqlite_connections
from remembrancer.db.database import Database
from remembrancer.db.sqlite import SqliteBackend
from remembrancer.db.units import Unit
from remembrancer.errors import (
    NotFoundError,
    SchemaError,
    StoreLockedError,
    StoreUnavailableError,
    UnsupportedServerError,
)
from remembrancer.ids import new_id
from remembrancer.memory.tables import paths
from remembrancer.scope import Scope
from tests.support.hostile import SQLITE
from tests.unit.db.files import ALL, add, again, plainly, texts


@pytest.fixture
def files(sqlite: SqliteBackend) -> Database:
    """A database over the files."""
    return Database(sqlite)


def test_a_new_person_s_file_is_private_and_whole(files: Database, scope: Scope) -> None:
    add(files, scope, "a")
    backend = files.backend
    assert isinstance(backend, SqliteBackend)
    place = backend.person(scope)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert [each.name for each in place.parent.glob(".*")] == []
    assert plainly(place, "SELECT user_id FROM owner") == [(scope.user_id.bytes,)]
    assert plainly(place, "PRAGMA integrity_check") == [("ok",)]


def test_many_processes_and_threads_make_a_file_once(sqlite: SqliteBackend, scope: Scope) -> None:
    handles = [again(sqlite) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: add(handles[n % 4], scope, f"{n:02}"), range(32)))
    assert texts(handles[0], scope) == [f"{n:02}" for n in range(32)]
    for each in handles:
        each.close()


def test_a_folder_may_have_any_name(tmp_path: Path, scope: Scope) -> None:
    db = Database(SqliteBackend(tmp_path / "a b#c?d=e%20&f'g\"é"))
    add(db, scope, "a", new=True)
    assert texts(db, scope) == ["a"]
    db.backend.scrub(scope)
    db.close()
    assert [each.name for each in tmp_path.iterdir()] == ["a b#c?d=e%20&f'g\"é"]


def test_another_person_s_file_in_one_s_place_is_refused(
    files: Database, sqlite: SqliteBackend, somebody: Callable[[], Scope]
) -> None:
    ada, ben = somebody(), somebody()
    add(files, ada, "Ada's")
    add(files, ben, "Ben's")
    for each in (ada, ben):
        sqlite.scrub(each)
    own = sqlite.person(ada).with_suffix(".kept")
    sqlite.person(ada).rename(own)
    shutil.copy(sqlite.person(ben), sqlite.person(ada))
    fresh = again(sqlite)
    for db in (files, fresh):  # also where Ada's connections were open already
        for run in (db.read_now, db.write_now):
            with pytest.raises(SchemaError, match="belongs to somebody else"):
                run(ada, lambda unit: unit.all(ALL))
    own.replace(sqlite.person(ada))
    assert texts(files, ada) == texts(fresh, ada) == ["Ada's"]
    assert texts(files, ben) == ["Ben's"]
    fresh.close()


def test_a_file_erased_by_another_process_is_not_written_to(
    files: Database, sqlite: SqliteBackend, scope: Scope
) -> None:
    add(files, scope, "before")
    other = again(sqlite)
    other.backend.erase(scope)
    for run in (files.read_now, files.write_now):
        with pytest.raises(NotFoundError, match="removed"):
            run(scope, lambda unit: unit.all(ALL))
    assert not sqlite.person(scope).exists()
    add(files, scope, "after", new=True)
    assert texts(other, scope) == texts(files, scope) == ["after"]
    other.close()


def test_connections_are_kept_for_a_few_people_only(
    files: Database,
    sqlite: SqliteBackend,
    somebody: Callable[[], Scope],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite_connections, "KEPT_CONNECTIONS", 3)
    people = [somebody() for _ in range(6)]
    for each in people:
        add(files, each, "a")
        assert texts(files, each) == ["a"]
    idle = sqlite._connections._idle
    assert len(idle) == 3
    kept = list(idle.values())
    files.close()
    for connection in kept:
        with pytest.raises(sqlite3.ProgrammingError):
            connection.execute("SELECT 1")
    assert not idle


def test_a_connection_is_never_in_two_units_at_once(
    files: Database, somebody: Callable[[], Scope]
) -> None:
    people = [somebody() for _ in range(3)]
    busy: set[int] = set()

    def work(unit: Unit) -> None:
        mine = id(unit.connection.connection.dbapi_connection)
        assert mine not in busy
        busy.add(mine)
        assert len(unit.all(ALL)) == 1
        busy.remove(mine)

    for each in people:
        add(files, each, "a")
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(files.read_now, people[n % 3], work) for n in range(300)]:
            done.result()


def test_a_locked_file_is_said_and_still_read(
    files: Database, sqlite: SqliteBackend, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(files, scope, "a")
    sqlite.close()
    monkeypatch.setattr(sqlite_connections, "BUSY_SECONDS", 0.05)
    db = again(sqlite)
    with closing(sqlite3.connect(sqlite.person(scope), isolation_level=None)) as plain:
        plain.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError, match="Another process"):
            add(db, scope, "b")
        assert texts(db, scope) == ["a"]
        plain.execute("COMMIT")
    add(db, scope, "b")
    assert texts(db, scope) == ["a", "b"]
    db.close()


@pytest.mark.parametrize("page", [0, 1])
def test_a_damaged_file_is_said(
    files: Database, sqlite: SqliteBackend, scope: Scope, page: int
) -> None:
    for n in range(200):
        add(files, scope, f"{n:0500}")
    sqlite.scrub(scope)
    sqlite.close()
    place = sqlite.person(scope)
    with place.open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xa5" * (4096 if page == 0 else place.stat().st_size - 4096))
    db = again(sqlite)
    with pytest.raises(StoreUnavailableError, match="damaged"):
        texts(db, scope)
    db.close()


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """A folder that can be read, not written, by the one who runs inside."""
    for each in [folder, *folder.rglob("*")]:
        each.chmod(0o555 if each.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for each in [folder, *folder.rglob("*")]:
            each.chmod(0o755)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that others can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="remembrancer-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_read_only_folder_is_said(
    shared: Path, scope: Scope, somebody: Callable[[], Scope]
) -> None:
    db = Database(SqliteBackend(shared / "data"))
    add(db, scope, "a", new=True)
    db.close()
    with unprivileged(shared):
        for place in (shared / "data", shared / "data" / "new"):
            again_ = Database(SqliteBackend(place))
            with pytest.raises(StoreUnavailableError):
                add(again_, somebody(), "b", new=True)
            with pytest.raises(StoreUnavailableError):
                add(again_, scope, "b", new=True)
            again_.close()
        assert Database(SqliteBackend(shared / "data" / "new")).backend.report().problems
    db = Database(SqliteBackend(shared / "data"))
    add(db, scope, "b")
    assert texts(db, scope) == ["a", "b"]
    db.close()


def test_a_file_in_the_folder_s_place_is_said(tmp_path: Path, scope: Scope) -> None:
    (tmp_path / "data").write_text("something else")
    db = Database(SqliteBackend(tmp_path / "data"))
    with pytest.raises(StoreUnavailableError, match="can't be used"):
        add(db, scope, "a", new=True)
    with pytest.raises(StoreUnavailableError):
        db.backend.migrate()
    assert db.backend.report().problems
    db.close()


def test_an_empty_file_is_made_and_a_foreign_one_refused(
    sqlite: SqliteBackend, somebody: Callable[[], Scope]
) -> None:
    ada, ben = somebody(), somebody()
    for each in (ada, ben):
        sqlite.person(each).unlink()
    sqlite.person(ada).touch()
    plainly(sqlite.person(ben), "CREATE TABLE recipes (words)")
    files = again(sqlite)
    add(files, ada, "a")
    assert texts(files, ada) == ["a"]
    with pytest.raises(SchemaError, match="not a database of this program"):
        add(files, ben, "a")
    assert plainly(sqlite.person(ben), "SELECT count(*) FROM recipes") == [(0,)]


def test_an_sqlite_that_is_too_old_is_refused(
    sqlite: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite.check()
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(UnsupportedServerError) as refused:
        sqlite.check()
    assert refused.value.limit == "3.37.0"
    assert sqlite.report().problems == (str(refused.value),)


def test_a_unit_may_read_and_write_rows_and_nothing_else(
    files: Database, sqlite: SqliteBackend, scope: Scope
) -> None:
    add(files, scope, "a")
    said = [*SQLITE["settings"], *SQLITE["schema"], *SQLITE["definitions"], *SQLITE["temporary"]]
    refused = [each for each in said if not each.startswith("WITH")]

    def everything(unit: Unit) -> None:
        for each in refused:
            with pytest.raises(DBAPIError, match=r"not authorized|may not be modified"):
                unit.connection.exec_driver_sql(each)
        unit.connection.exec_driver_sql("PRAGMA data_version").scalar_one()
        with unit.connection.begin_nested():
            unit.run(insert(paths), user_id=scope.user_id, id=new_id(), text="b")

    with pytest.raises(StoreUnavailableError, match="read-only"):
        files.read_now(scope, everything)  # all but the insert
    files.write_now(scope, everything)
    assert texts(files, scope) == ["a", "b"]
    kept = {each.target.write: each for each in sqlite._connections._idle.values()}
    assert set(kept) == {False, True}
    for write, connection in kept.items():
        connection.set_authorizer(None)
        settings = {"foreign_keys": 1, "secure_delete": 1, "query_only": int(not write)}
        found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in settings}
        assert found == settings
        assert connection.execute("SELECT count(*) FROM sqlite_temp_master").fetchone() == (0,)
