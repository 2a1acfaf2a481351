"""One person's store, of either kind, and an index over it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from remembrancer.db.database import Database, open_backend
from remembrancer.index.indexes import PersonalIndexes
from tests.support.people import newcomer
from tests.support.sources import SOURCES


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request, tmp_path):
    if request.param == "sqlite":
        opened = Database(open_backend(tmp_path))
    else:
        owner, log_in = request.getfixturevalue("migrated")
        opened = Database(open_backend(tmp_path, log_in, owner))
    yield opened
    opened.close()


@pytest.fixture
def person(database):
    """`write(fn, *arguments)` and `view(space)` as one person."""
    scope = newcomer(database)
    indexes = PersonalIndexes(SOURCES, budget_bytes=1 << 30)

    def write(work, *arguments, **named):
        return database.write_now(scope, lambda unit: work(unit, *arguments, **named))

    def read(work, *arguments):
        return database.read_now(scope, lambda unit: work(unit, *arguments))

    def view(space=1, of=indexes):
        return database.read_now(scope, lambda unit: of.view(unit, space))

    return SimpleNamespace(scope=scope, indexes=indexes, write=write, read=read, view=view)
