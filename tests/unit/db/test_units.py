"""Units of work: what they bind, when they commit, and that they run whole on a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from remembrancer.accounts.tables import settings
from remembrancer.db.database import Database
from remembrancer.db.tables import OWNER
from remembrancer.db.units import SystemUnit, Unit
from remembrancer.errors import NotFoundError, StoreError
from remembrancer.ids import new_id
from remembrancer.memory.tables import paths
from remembrancer.scope import Scope
from tests.support.stores import Place

ADD = insert(paths)
ALL = select(paths.c.text).where(paths.c.user_id == OWNER).order_by(paths.c.text)
COUNT = select(func.count()).select_from(paths).where(paths.c.user_id == OWNER)
RENAME = (
    update(paths)
    .where(paths.c.user_id == OWNER, paths.c.text == bindparam("old"))
    .values(text=bindparam("new"))
)


def add(*names: str) -> Callable[[Unit], None]:
    return lambda unit: unit.insert_many(ADD, [{"id": new_id(), "text": each} for each in names])


def texts(unit: Unit) -> list[str]:
    return [row.text for row in unit.all(ALL)]


def test_a_unit_binds_its_person_to_everything(
    db: Database, scope: Scope, somebody: Callable[[], Scope]
) -> None:
    other = somebody()
    db.write_now(scope, add("a", "b"))
    db.write_now(other, lambda unit: unit.insert(ADD, id=new_id(), text="c"))
    assert db.read_now(scope, texts) == ["a", "b"]
    assert db.read_now(other, texts) == ["c"]
    # Whoever a statement's author names, the unit's own person is bound.
    named = {"owner": other.user_id, "user_id": other.user_id}
    db.write_now(scope, lambda unit: unit.insert(ADD, id=new_id(), text="d", **named))
    assert db.read_now(scope, lambda unit: unit.run(ALL, **named).scalars().all()) == list("abd")
    assert db.read_now(other, texts) == ["c"]


def test_rows_one_and_many(db: Database, scope: Scope) -> None:
    def work(unit: Unit) -> object:
        unit.insert_many(ADD, [])
        unit.run_many(RENAME, [])
        add("a", "b")(unit)
        unit.run_many(RENAME, [{"old": "a", "new": "x"}, {"old": "b", "new": "y"}])
        first = unit.first(ALL)
        return texts(unit), None if first is None else first.text, unit.scalar(COUNT)

    assert db.write_now(scope, work) == (["x", "y"], "x", 2)
    nobody = select(paths.c.text).where(paths.c.user_id == OWNER, paths.c.text == "z")
    assert db.read_now(scope, lambda unit: (unit.first(nobody), unit.scalar(nobody))) == (
        None,
        None,
    )


def test_an_exception_undoes_the_whole_unit(db: Database, scope: Scope) -> None:
    db.write_now(scope, add("kept"))

    def fail(unit: Unit) -> None:
        add("lost")(unit)
        assert texts(unit) == ["kept", "lost"]
        raise ZeroDivisionError

    for _ in range(30):  # more than any pool holds: nothing leaks
        with pytest.raises(ZeroDivisionError):
            db.write_now(scope, fail)
    with pytest.raises(IntegrityError):
        db.write_now(scope, add("new", "kept"))
    with pytest.raises(KeyboardInterrupt):
        db.write_now(scope, lambda _unit: (_ for _ in ()).throw(KeyboardInterrupt()))
    assert db.read_now(scope, texts) == ["kept"]


def test_a_read_unit_writes_nothing(db: Database, scope: Scope) -> None:
    db.write_now(scope, add("kept"))
    with pytest.raises((StoreError, DBAPIError)):
        db.read_now(scope, add("lost"))
    assert db.read_now(scope, texts) == ["kept"]
    db.write_now(scope, add("later"))
    assert db.read_now(scope, texts) == ["kept", "later"]
    assert db.read_now(scope, lambda unit: unit.writable) is False
    assert db.write_now(scope, lambda unit: unit.writable) is True


def test_units_nest_across_people(
    db: Database, scope: Scope, somebody: Callable[[], Scope]
) -> None:
    other = somebody()

    def outer(unit: Unit) -> list[str]:
        add("outer")(unit)
        db.write_now(other, add("inner"))
        return texts(unit) + db.read_now(other, texts)

    assert db.write_now(scope, outer) == ["outer", "inner"]


def test_writes_of_many_threads_take_turns(db: Database, scope: Scope) -> None:
    async def many() -> None:
        await asyncio.gather(*(db.write(scope, add(f"{n:03}")) for n in range(40)))
        assert await db.read(scope, texts) == [f"{n:03}" for n in range(40)]
        assert await db.read(scope, lambda _unit: threading.current_thread().name != "MainThread")

    asyncio.run(many())


def test_a_system_unit_says_why_and_reaches_no_personal_table(
    db: Database, scope: Scope, place: Place
) -> None:
    db.write_now(scope, add("mine"))
    key = f"k{new_id()}"
    row = {"key": key, "value": "v", "updated_at": 1}

    def keep(unit: SystemUnit) -> str:
        unit.insert(insert(settings), **row)
        return unit.reason

    async def write() -> str:
        return await db.system("a test", keep, write=True)

    assert asyncio.run(write()) == "a test"
    found = select(settings.c.value).where(settings.c.key == bindparam("wanted"))
    assert db.system_now("a test", lambda unit: unit.scalar(found, wanted=key)) == "v"

    def reach(unit: SystemUnit) -> object:
        return unit.connection.exec_driver_sql("SELECT * FROM paths").all()

    with pytest.raises((StoreError, DBAPIError)):
        db.system_now("a test", reach)
    with pytest.raises((StoreError, DBAPIError)):
        db.read_now(scope, lambda unit: unit.connection.exec_driver_sql("SELECT * FROM settings"))
    assert db.read_now(scope, texts) == ["mine"]


def test_erasing_takes_everything_and_nobody_else_s(
    db: Database, scope: Scope, somebody: Callable[[], Scope], place: Place
) -> None:
    other = somebody()
    for each in (scope, other):
        db.write_now(each, add("a"))
    db.backend.erase(scope)
    if place.kind == "sqlite":
        with pytest.raises(NotFoundError, match="removed"):
            db.read_now(scope, texts)
    else:
        assert db.read_now(scope, texts) == []
    assert db.read_now(other, texts) == ["a"]
    db.backend.scrub(other)
    size = db.backend.size(other)
    assert (size is None) == (place.kind == "postgresql")


def test_a_store_says_how_it_is(db: Database, place: Place) -> None:
    report = db.backend.report()
    assert report.kind == place.kind
    assert report.problems == ()
    assert "secret" not in repr(report)
    assert Path(report.place) == place.data or place.kind == "postgresql"
    assert db.backend.migrate()
    assert db.backend.report() == report


def test_a_read_unit_sees_one_moment(db: Database, scope: Scope) -> None:
    db.write_now(scope, add("before"))

    def work(unit: Unit) -> tuple[list[str], list[str]]:
        seen = texts(unit)
        db.write_now(scope, add("meanwhile"))
        return seen, texts(unit)

    assert db.read_now(scope, work) == (["before"], ["before"])
    assert db.read_now(scope, texts) == ["before", "meanwhile"]
