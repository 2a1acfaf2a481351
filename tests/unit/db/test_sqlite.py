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
from sqlalchemy import create_engine, insert, select
from sqlalchemy.exc import DBAPIError

from remembrancer.db import sqlite_connections
from remembrancer.db.database import Database
from remembrancer.db.migrations.run import upgrade
from remembrancer.db.sqlite import SqliteBackend
from remembrancer.db.tables import OWNER
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

ALL = select(paths.c.text).where(paths.c.user_id == OWNER).order_by(paths.c.text)


@pytest.fixture
def files(sqlite: SqliteBackend) -> Database:
    """A database over the files."""
    return Database(sqlite)


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
    files: Database, sqlite: SqliteBackend, somebody: Callable[[], Scope]
) -> None:
    ada, ben = somebody(), somebody()
    for each in (ada, ben):
        sqlite.person(each).unlink()
    sqlite.person(ada).touch()
    plainly(sqlite.person(ben), "CREATE TABLE recipes (words)")
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
