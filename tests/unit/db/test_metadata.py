"""The conventions of the schema, walked: keys, indexes, erasure, and the migrations' heads."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Index, MetaData, Table, UniqueConstraint, create_engine

import remembrancer
from remembrancer.db.migrations import model, run
from remembrancer.db.migrations.model import DOMAINS, personal, system
from remembrancer.db.postgresql import driver_url
from remembrancer.db.schema import CODE_LEVEL, HEADS, LEAST_CODE
from remembrancer.db.tables import Erasure
from remembrancer.db.types import Blob, Id, Str
from tests.support.stores import Place

ERASURES = [each.ERASURE for each in DOMAINS if hasattr(each, "ERASURE")]


def _keys(table: Table) -> Iterator[tuple[str, list[str]]]:
    yield "primary key", [each.name for each in table.primary_key.columns]
    for each in table.constraints:
        if isinstance(each, UniqueConstraint):
            yield str(each.name), [column.name for column in each.columns]
    for index in table.indexes:
        assert isinstance(index, Index)
        yield str(index.name), [column.name for column in index.columns]


@pytest.mark.parametrize("table", personal.sorted_tables, ids=lambda each: each.name)
def test_user_id_leads_every_key_of_a_personal_table(table: Table) -> None:
    assert isinstance(table.columns["user_id"].type, Id)
    assert not table.columns["user_id"].nullable
    found = dict(_keys(table))
    assert found
    assert {name for name, columns in found.items() if columns[0] != "user_id"} == set()
    for each in table.foreign_keys:
        assert each.column.table.metadata is personal
    for constraint in table.foreign_key_constraints:
        assert constraint.column_keys[0] == "user_id"
        assert constraint.elements[0].column.name == "user_id"


def test_the_walk_would_see_a_key_that_is_not_led_by_the_person() -> None:
    keys = [columns[0] for table in system.sorted_tables for _, columns in _keys(table)]
    assert [each for each in keys if each != "user_id"]


def test_system_tables_point_at_no_personal_one() -> None:
    for table in system.sorted_tables:
        assert {each.column.table.metadata for each in table.foreign_keys} <= {system}


def test_every_module_of_tables_is_in_the_model() -> None:
    root = Path(remembrancer.__file__).parent
    there = {f"remembrancer.{each.parent.name}.tables" for each in root.glob("*/tables.py")}
    assert {each.__name__ for each in model.DOMAINS} == there - {"remembrancer.db.tables"}


def _wordy() -> set[tuple[str, str]]:
    """Personal columns that could hold somebody's words."""
    return {
        (table.name, column.name)
        for table in personal.sorted_tables
        for column in table.columns
        if isinstance(column.type, Str | Blob)
    }


def test_every_personal_text_column_is_declared_with_what_clears_it() -> None:
    cleared = [(each.table, each.column) for part in ERASURES for each in part.texts]
    exempt = [each for part in ERASURES for each in part.exempt]
    declared = cleared + exempt
    assert len(declared) == len(set(declared))
    assert set(declared) == _wordy()
    assert {("texts", "text"), ("messages", "text")} <= set(cleared)


def test_a_domain_speaks_for_its_own_tables_only() -> None:
    for domain in DOMAINS:
        own = {each.name for each in vars(domain).values() if isinstance(each, Table)}
        part: Erasure | None = getattr(domain, "ERASURE", None)
        if part is not None:
            assert {each.table for each in part.texts} | {each[0] for each in part.exempt} <= own


@pytest.mark.parametrize(
    "name", sorted({each.cleared_by for part in ERASURES for each in part.texts})
)
def test_what_clears_a_column_is_a_function(name: str) -> None:
    module, function = f"remembrancer.{name}".rsplit(".", 1)
    assert callable(getattr(import_module(module), function))


def test_heads_are_alembic_s() -> None:
    assert run.heads() == HEADS
    assert set(HEADS.values()) <= run.known_revisions()
    assert LEAST_CODE <= CODE_LEVEL


def _missing(differences: object) -> list[object]:
    """What the tables say and the database lacks; what is there besides belongs to the rest."""
    assert isinstance(differences, list)
    return [each for each in differences if not str(each[0]).startswith("remove_")]


def test_a_migrated_store_is_what_the_tables_say(place: Place) -> None:
    if place.kind == "postgresql":
        search = {"options": "-c search_path=remembrancer"}
        engines = [create_engine(driver_url(place.migration_url or ""), connect_args=search)]
        parts: list[tuple[MetaData, ...]] = [(personal, system)]
    else:
        with place.open() as store:
            ada = store.person("ada")
            ada.add("Ada plays the viola.")
        person = place.data / "people" / f"{ada.account.user_id}.db"
        engines = [
            create_engine(f"sqlite:///{each}") for each in (person, place.data / "system.db")
        ]
        parts = [(personal,), (system,)]
    for engine, declared in zip(engines, parts, strict=True):
        with engine.connect() as connection:
            context = MigrationContext.configure(connection)
            for metadata in declared:
                assert _missing(compare_metadata(context, metadata)) == []
        engine.dispose()
