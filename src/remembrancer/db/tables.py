"""The two classes of table, and the conventions every personal one keeps.

*Personal* tables hold everything of one person's; `user_id` leads every key and index. *System*
tables hold accounts, settings, embedding spaces and due work: ids, never personal text. Domains
declare theirs in their own `tables.py`, on one of the two metadata objects here, and say beside
them (`Erasure`) how a forgotten text leaves each column that could hold it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Column,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    bindparam,
)
from sqlalchemy.schema import SchemaItem

from remembrancer.db.types import Id

personal: Final = MetaData()
system: Final = MetaData()

OWNER: Final = bindparam("owner", type_=Id)
"""The person a scoped unit belongs to; the unit binds it, nobody else does."""


def personal_table(
    name: str, *items: SchemaItem, key: tuple[str, ...] = (), wide: bool = False
) -> Table:
    """A personal table: `user_id` first, the primary key led by it.

    `wide` rows (texts, vectors) keep SQLite's rowid; narrow ones are clustered by their key.
    """
    return Table(
        name,
        personal,
        Column("user_id", Id, nullable=False),
        *items,
        PrimaryKeyConstraint("user_id", *key, name=f"pk_{name}"),
        sqlite_with_rowid=wide,
    )


def personal_index(name: str, *columns: str, **options: Any) -> Index:
    """An index led by `user_id`."""
    return Index(name, "user_id", *columns, **options)


def personal_unique(name: str, *columns: str) -> UniqueConstraint:
    """A unique constraint led by `user_id`."""
    return UniqueConstraint("user_id", *columns, name=name)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """One personal column that can hold a person's words, and what clears it.

    `cleared_by` names the function that clears it when a value is forgotten; a test fails for a
    text or blob column that no domain has declared.
    """

    table: str
    column: str
    cleared_by: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a domain keeps of a person's text. `exempt` columns never hold words (say why)."""

    texts: tuple[TextColumn, ...] = ()
    exempt: tuple[tuple[str, str], ...] = ()
