"""S4: the store itself refuses. Raw SQL on a unit's own connection, and outside of any unit.

What came back from an attack is searched for Ben's words and ids, and Ben's rows are compared with
what they were.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError, ResourceClosedError

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.db.migrations.model import personal
from remembrancer.db.postgresql import PostgresqlBackend
from remembrancer.db.units import Unit
from remembrancer.errors import PrivilegedRoleError, StoreError
from tests.support.hostile import POSTGRESQL, READS, SQLITE, say
from tests.support.stores import Place, Server, somebody

T = TypeVar("T")
WORD = "heliotrope"
OWN = "saxifrage"
SCHEMA = "remembrancer"


@dataclass(frozen=True)
class Pair:
    """Ada and Ben in one store, each with a memory and a chat."""

    place: Place
    store: SyncRemembrancer
    ada: SyncPersonalMemory
    ben: SyncPersonalMemory
    owner_url: str

    def in_unit(self, memory: SyncPersonalMemory, work: Callable[[Unit], T]) -> T:
        return self.store._store.engine.db.write_now(memory._memory._scope, work)

    def file(self, memory: SyncPersonalMemory) -> Path:
        return self.place.data / "people" / f"{memory.account.user_id}.db"

    def rows_of(self, memory: SyncPersonalMemory) -> list[object]:
        """Everything stored of one person, past all guards."""
        user_id = memory.account.user_id
        if self.place.kind == "sqlite":
            with closing(sqlite3.connect(self.file(memory))) as plain:
                return list(plain.iterdump())
        with psycopg.connect(self.owner_url) as owner:
            return [
                owner.execute(
                    f"SELECT * FROM {SCHEMA}.{name} WHERE user_id = %s ORDER BY 1, 2", (user_id,)
                ).fetchall()
                for name in sorted(personal.tables)
            ]


def _pair(place: Place, owner_url: str) -> Iterator[Pair]:
    store = place.open()
    ada, ben = somebody(store, "ada"), somebody(store, "ben")
    ada.add(f"Ada's favourite flower is the {OWN}.", path="flowers")
    ben.add(f"Ben's favourite flower is the {WORD}.", path=f"{WORD}/flowers")
    store.add([{"role": "user", "content": f"I like the {WORD}."}], user_id=ben.account.email)
    yield Pair(place, store, ada, ben, owner_url)
    store.close()


@pytest.fixture(scope="module")
def on_postgresql(
    migrated: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    owner, log_in = migrated
    place = Place("postgresql", tmp_path_factory.mktemp("data"), log_in, owner)
    for pair in _pair(place, owner.replace("+psycopg", "")):
        with psycopg.connect(pair.owner_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
        yield pair


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    yield from _pair(Place("sqlite", tmp_path_factory.mktemp("data")), "")


def _token(unit: Unit) -> str:
    if unit.connection.dialect.name == "sqlite":
        return ""
    return str(unit.connection.exec_driver_sql("SHOW remembrancer.unit").scalar())


def _attack(pair: Pair, statements: tuple[str, ...]) -> None:
    """Say it all in Ada's unit; nothing of Ben's comes back or changes, and both go on."""
    ada, ben = pair.ada.account.user_id, pair.ben.account.user_id
    names = {
        "{ada}": str(ada),
        "{ben}": str(ben),
        "{ben_hex}": ben.bytes.hex(),
        "{token}": pair.in_unit(pair.ben, _token),
        "{file}": str(pair.file(pair.ben)),
    }
    filled = []
    for statement in statements:
        for name, value in names.items():
            statement = statement.replace(name, value)  # noqa: PLW2901
        filled.append(statement)
    before = pair.rows_of(pair.ben)
    ids = {str(each.id) for each in pair.ben.list()} | {str(each.id) for each in pair.ben.chats()}
    assert ids
    seen: list[str] = []

    def work(unit: Unit) -> None:
        own = say(unit.connection, ["SELECT text FROM texts"])
        assert OWN in str(own)
        seen.extend(say(unit.connection, filled))

    with suppress(DBAPIError, StoreError):  # such a unit may end badly, alone
        pair.in_unit(pair.ada, work)
    said = "\n".join(seen)
    assert WORD not in said
    assert not [each for each in ids if each in said or each.replace("-", "") in said]
    assert pair.rows_of(pair.ben) == before
    for memory, word, others in ((pair.ben, WORD, OWN), (pair.ada, OWN, WORD)):
        text = str(pair.in_unit(memory, lambda unit: say(unit.connection, READS)))
        assert word in text
        assert others not in text
        assert memory.verify().damage == ()


@pytest.mark.postgresql
@pytest.mark.parametrize("attack", POSTGRESQL)
def test_S4_nothing_said_in_a_unit_reaches_another_person_on_postgresql(
    on_postgresql: Pair, attack: str
) -> None:
    _attack(on_postgresql, tuple(POSTGRESQL[attack]))


@pytest.mark.parametrize("attack", SQLITE)
def test_S4_nothing_said_in_a_unit_reaches_another_person_on_sqlite(
    on_sqlite: Pair, attack: str
) -> None:
    _attack(on_sqlite, tuple(SQLITE[attack]))


def _last_text(unit: Unit) -> object:
    query = "SELECT text FROM texts WHERE text IS NOT NULL ORDER BY id DESC LIMIT 1"
    return unit.connection.exec_driver_sql(query).scalar()


@pytest.mark.postgresql
def test_S4_what_a_unit_leaves_on_its_connection_is_gone_for_the_next(on_postgresql: Pair) -> None:
    pair = on_postgresql
    traps = [
        "CREATE TEMP TABLE texts (LIKE remembrancer.texts)",
        "CREATE TEMP TABLE memories (LIKE remembrancer.memories)",
        *(f"PREPARE _pg3_{n} (text, text) AS SELECT 1" for n in range(10)),
        "SET search_path = pg_temp, remembrancer",
        "SET default_transaction_read_only = on",
        "DECLARE kept CURSOR WITH HOLD FOR SELECT 'kept'",
        "SELECT pg_advisory_lock(1)",
        "LISTEN somebody",
    ]
    pids = []

    def trap(unit: Unit) -> None:
        pids.append(unit.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar())
        for each in traps:
            unit.connection.exec_driver_sql(each)

    def look(unit: Unit) -> list[object]:
        pids.append(unit.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar())
        return [
            unit.connection.exec_driver_sql(each).scalar()
            for each in (
                "SELECT count(*) FROM pg_prepared_statements",
                "SELECT count(*) FROM pg_cursors",
                "SELECT count(*) FROM pg_listening_channels()",
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid ="
                " pg_backend_pid()",
                "SELECT to_regclass('pg_temp.texts')",
                "SHOW search_path",
                "SHOW default_transaction_read_only",
            )
        ]

    pair.in_unit(pair.ada, trap)
    assert pair.in_unit(pair.ben, look) == [0, 0, 0, 0, None, f"{SCHEMA},pg_temp", "off"]
    assert pids[0] == pids[1]  # else this shows nothing
    pair.in_unit(pair.ada, trap)
    pair.ben.add(f"Ben pressed a {WORD} in a book.")
    assert pair.in_unit(pair.ben, _last_text) == f"Ben pressed a {WORD} in a book."
    left = pair.in_unit(pair.ada, lambda unit: say(unit.connection, ["TABLE pg_temp.texts"]))
    assert left == []


@pytest.mark.postgresql
def test_S4_two_open_units_do_not_show_each_other(on_postgresql: Pair) -> None:
    pair = on_postgresql

    def spy(unit: Unit) -> list[str]:
        looks = ["SELECT * FROM pg_stat_activity", "SELECT * FROM pg_locks"]
        return say(unit.connection, [*looks, "RESET ROLE", *looks])

    def work(unit: Unit) -> tuple[str, list[str]]:
        token = _token(unit)
        unit.connection.exec_driver_sql("SELECT * FROM texts WHERE text = %s", (WORD,)).all()
        return token, pair.in_unit(pair.ada, spy)

    token, seen = pair.in_unit(pair.ben, work)
    assert seen
    assert "FROM texts WHERE text = $1" in str(seen)  # the statement shows, what it asked for not
    assert WORD not in str(seen)
    assert token not in str(seen)


@pytest.mark.postgresql
def test_S4_the_log_in_has_nothing_outside_a_unit(on_postgresql: Pair) -> None:
    pair = on_postgresql
    tables = [*personal.tables, "accounts", "settings", "session_keys"]
    with psycopg.connect(pair.place.database_url or "", autocommit=True) as plain:
        for name in tables:
            for verb in ("SELECT * FROM {}", "DELETE FROM {}", "INSERT INTO {} DEFAULT VALUES"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    plain.execute(verb.format(f"{SCHEMA}.{name}"))
        for role in ("remembrancer_scoped", "remembrancer_system"):
            plain.execute(f"SET ROLE {role}")
            for name in tables:
                try:
                    rows = plain.execute(f"SELECT * FROM {SCHEMA}.{name}").fetchall()
                except psycopg.errors.InsufficientPrivilege:
                    rows = []
                assert rows == []
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                plain.execute(
                    f"INSERT INTO {SCHEMA}.paths VALUES (%s, gen_random_uuid(), 'planted')",
                    (pair.ben.account.user_id,),
                )
    with psycopg.connect(pair.owner_url) as owner:
        there = owner.execute(f"SELECT count(*) FROM {SCHEMA}.texts").fetchone()
    assert there is not None
    assert there[0] >= 2


@pytest.mark.postgresql
def test_S4_a_superuser_and_the_owner_are_refused_at_the_start(
    postgresql: Server, migrated: tuple[str, str]
) -> None:
    owner, log_in = migrated
    database = make_url(owner).database or ""
    backend = PostgresqlBackend(log_in)
    backend.check()
    backend.close()
    for made, undone in (
        ("CREATE ROLE app_bypassing LOGIN BYPASSRLS PASSWORD 'secret'", ""),
        ("CREATE ROLE app_joining LOGIN NOINHERIT PASSWORD 'secret' IN ROLE postgres", ""),
        ("CREATE ROLE app_owning LOGIN PASSWORD 'secret'", f"{SCHEMA}.texts OWNER TO app_owning"),
    ):
        name = made.split()[2]
        postgresql.execute(made)
        postgresql.execute(f"GRANT remembrancer_scoped, remembrancer_system TO {name}")
        if undone:
            postgresql.execute(f"ALTER TABLE {undone}", database)
        refused = PostgresqlBackend(log_in.replace("remembrancer_app", name))
        with pytest.raises(PrivilegedRoleError):
            refused.check()
        assert refused.report().problems
        refused.close()
        if undone:
            postgresql.execute(f"ALTER TABLE {SCHEMA}.texts OWNER TO postgres", database)
    superuser = PostgresqlBackend(owner)
    with pytest.raises(PrivilegedRoleError, match="superuser"):
        superuser.check()
    superuser.close()


def test_S4_a_unit_is_dead_when_it_is_over(store: SyncRemembrancer) -> None:
    ada = somebody(store, "ada")
    ada.add(f"The {OWN} flowers.")
    db, scope = store._store.engine.db, ada._memory._scope
    kept: list[Unit] = []

    def keep(unit: Unit) -> object:
        kept.append(unit)
        return _last_text(unit)

    def fail(unit: Unit) -> None:
        keep(unit)
        raise RuntimeError("in the middle of a unit")

    assert db.write_now(scope, keep)
    assert db.read_now(scope, keep)
    with pytest.raises(RuntimeError):
        db.write_now(scope, fail)
    assert len(kept) == 3
    for unit in kept:
        with pytest.raises(ResourceClosedError):
            _last_text(unit)


def test_S4_no_sqlite_connection_is_opened_outside_a_unit(on_sqlite: Pair) -> None:
    engine = on_sqlite.store._store.engine.db.backend._engine  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError):
        engine.connect()
