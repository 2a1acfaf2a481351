"""Looking for words in all that a store keeps: every column, and on SQLite every byte.

Reads as nobody may (PostgreSQL's superuser, the files themselves), so that nothing is overlooked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np
from sqlalchemy import NullPool, create_engine

from remembrancer.db.postgresql import driver_url
from remembrancer.embeddings.base import Kind
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.embeddings.vectors import rows_to_half
from remembrancer.text.analyse import pack_terms, term_counts, term_hash, unpack_terms, word_forms
from remembrancer.text.normalise import fingerprint
from tests.support.stores import Place


@dataclass(frozen=True)
class Traces:
    """What a value leaves in a store: its tokens as text, and what is computed from it."""

    tokens: tuple[str, ...]
    values: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    """Words of which only the text is looked for."""

    def in_cell(self, column: str, cell: object) -> Iterator[str]:
        """The names of the traces in one column of one row."""
        if not isinstance(cell, str | bytes):
            return
        data = cell.encode() if isinstance(cell, str) else cell
        yield from self.in_bytes(data)
        if column == "terms" and data:
            hashes = {term_hash(form) for each in self.tokens for (form, *_) in word_forms(each)}
            if hashes & set(unpack_terms(data)[0].tolist()):
                yield "a token's term"

    def in_bytes(self, data: bytes) -> Iterator[str]:
        """The names of the traces in some bytes."""
        folded = data.lower()
        for token in (*self.tokens, *self.phrases):
            if token.lower().encode() in folded:
                yield f"token {token}"
        for value in self.values:
            for name, mark in _computed(value).items():
                if mark in data:
                    yield name


@lru_cache(maxsize=1_000)
def _computed(value: str) -> dict[str, bytes]:
    vector = TrigramEmbedder().embed([value], Kind.PASSAGE)
    return {
        "fingerprint": fingerprint(value),
        "terms": pack_terms(term_counts(value)),
        "vector": rows_to_half(np.asarray(vector))[0],
    }


@dataclass(frozen=True)
class Found:
    """Where a trace stands."""

    table: str
    column: str
    trace: str


def found_in_rows(place: Place, traces: Traces) -> set[Found]:
    """Every column of every table of every person and of the system."""
    return {
        Found(table, column, trace)
        for table, row in _rows(place)
        for column, cell in row.items()
        for trace in traces.in_cell(column, cell)
    }


def found_in_files(place: Place, traces: Traces) -> set[str]:
    """The names of the traces in the raw bytes of every SQLite file, logs of writes included."""
    if place.kind != "sqlite":
        return set()
    files = [each for each in place.data.rglob("*") if each.is_file()]
    assert files
    return {trace for each in files for trace in traces.in_bytes(each.read_bytes())}


def rows_of(place: Place, user_id: UUID) -> dict[str, int]:
    """How many rows name this person, by table."""
    counts: dict[str, int] = {}
    for table, row in _rows(place):
        if any(cell in (user_id, user_id.bytes) for cell in row.values()):
            counts[table] = counts.get(table, 0) + 1
    return counts


def _rows(place: Place) -> Iterator[tuple[str, dict[str, object]]]:
    if place.kind == "sqlite":
        for file in sorted(place.data.rglob("*.db")):
            yield from _rows_of_file(str(file))
    else:
        yield from _rows_of_server(place.migration_url or "")


def _rows_of_file(file: str) -> Iterator[tuple[str, dict[str, object]]]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield table, dict(row)


def _rows_of_server(url: str) -> Iterator[tuple[str, dict[str, object]]]:
    engine = create_engine(driver_url(url), poolclass=NullPool)
    with engine.connect() as connection:
        tables = connection.exec_driver_sql(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'remembrancer'"
        ).scalars()
        for table in list(tables):
            for row in connection.exec_driver_sql(f'SELECT * FROM remembrancer."{table}"'):
                cells = dict(row._mapping)
                yield (
                    table,
                    {
                        name: bytes(cell) if isinstance(cell, memoryview) else cell
                        for name, cell in cells.items()
                    },
                )
    engine.dispose()
