"""The migrations build what the tables declare, on both stores."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData, NullPool, create_engine

from remembrancer.db.database import Database
from remembrancer.db.migrations.model import personal, system
from remembrancer.db.postgresql import SCHEMA, driver_url
from remembrancer.db.sqlite import SqliteBackend
from tests.support.people import newcomer
from tests.support.stores import Place

BOOKKEEPING = {"alembic_version", "owner", "schema_level", "session_keys"}
"""What the migrations keep for themselves."""


def differences(connection: Connection, *declared: MetaData) -> list[object]:
    """What autogenerate would write."""

    def counts(_thing: object, name: str | None, kind: str, *_rest: object) -> bool:
        return not (kind == "table" and name in BOOKKEEPING)

    options = {"include_object": counts, "compare_type": True}
    context = MigrationContext.configure(connection, opts=options)
    whole = MetaData()
    for each in declared:
        for table in each.tables.values():
            table.to_metadata(whole)
    return list(compare_metadata(context, whole))


def test_nothing_is_left_to_migrate(place: Place, request: pytest.FixtureRequest) -> None:
    if place.kind == "postgresql":
        assert place.migration_url is not None
        options = {"options": f"-c search_path={SCHEMA}"}
        engine = create_engine(
            driver_url(place.migration_url), poolclass=NullPool, connect_args=options
        )
        with engine.connect() as connection:
            assert differences(connection, personal, system) == []
            assert differences(connection, personal) != [], "a table too many is seen"
        return
    backend = SqliteBackend(place.data)
    scope = newcomer(Database(backend))
    with backend.system(write=False):
        pass
    for file, declared, other in (
        (backend.person(scope), personal, system),
        (backend.system_file, system, personal),
    ):
        with closing(sqlite3.connect(file)) as raw:
            engine = create_engine("sqlite://", creator=lambda raw=raw: raw, poolclass=NullPool)
            with engine.connect() as connection:
                assert differences(connection, declared) == []
                assert differences(connection, other) != [], "another schema is seen"
    backend.close()
