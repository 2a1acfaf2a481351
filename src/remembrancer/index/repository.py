"""The statements over `vectors`: writing them, dropping them, reading what changed.

Which documents ought to have a vector is not known here; callers bring their ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, func, insert, select

from remembrancer.db.tables import OWNER
from remembrancer.db.types import Id
from remembrancer.db.units import Unit
from remembrancer.index.changes import AnyId
from remembrancer.index.raw_ids import raw
from remembrancer.index.tables import vectors

_MINE: Final = vectors.c.user_id == OWNER
_SPACE: Final = vectors.c.embedding_space == bindparam("space")
_AMONG: Final = vectors.c.document_id.in_(bindparam("documents", expanding=True, type_=Id))

_PUT: Final = insert(vectors)
_DROP: Final = delete(vectors).where(
    _MINE, _SPACE, vectors.c.document_id == bindparam("document", type_=Id)
)
_NEXT_SPACE: Final = select(func.min(vectors.c.embedding_space)).where(
    _MINE, vectors.c.embedding_space > bindparam("after")
)
_CHANGED: Final = select(raw(vectors.c.document_id), vectors.c.vector).where(
    _MINE, _SPACE, vectors.c.changed_at_seq > bindparam("after")
)
_OF: Final = select(vectors.c.document_id, vectors.c.made_from, vectors.c.vector).where(
    _MINE, _SPACE, _AMONG
)
_PRESENT: Final = select(vectors.c.document_id).where(_MINE, _SPACE, _AMONG)
_COUNT: Final = select(func.count()).where(_MINE, _SPACE)

_AT_ONCE: Final = 500
"""Ids in one statement: below every store's limit of bind values."""
_BATCH: Final = 2000


class VectorRow(NamedTuple):
    """A stored vector. `made_from` is the digest of the exact words embedded; `vector` is
    little-endian half precision, two bytes a dimension."""

    document_id: UUID
    made_from: bytes
    vector: bytes


def put_vectors(unit: Unit, space: int, rows: Iterable[VectorRow], seq: int) -> None:
    """Write vectors of distinct documents, in the place of those that are there.

    `seq` is `Journal.touch_index()` of this write.
    """
    fresh = list(rows)
    unit.run_many(_DROP, [{"space": space, "document": row.document_id} for row in fresh])
    unit.insert_many(
        _PUT, [{**row._asdict(), "embedding_space": space, "changed_at_seq": seq} for row in fresh]
    )


def drop_vectors(unit: Unit, documents: Iterable[UUID]) -> None:
    """Delete these documents' vectors in every embedding space.

    A deletion leaves no row behind to tell of it: the same write gives the documents' own rows its
    `changed_at_seq`, or deletes them.
    """
    gone = list(documents)
    for space in spaces(unit):
        unit.run_many(_DROP, [{"space": space, "document": each} for each in gone])


def spaces(unit: Unit) -> list[int]:
    """The embedding spaces this person has vectors in, ascending."""
    found: list[int] = []
    space: int | None = unit.scalar(_NEXT_SPACE, after=-1)
    while space is not None:
        found.append(space)
        space = unit.scalar(_NEXT_SPACE, after=space)
    return found


def changed_vectors(
    unit: Unit, space: int, after: int
) -> Iterator[tuple[Sequence[AnyId], Sequence[bytes]]]:
    """Ids and vectors changed after a sequence number, in batches, in no order."""
    for batch in unit.run(_CHANGED, space=space, after=after).partitions(_BATCH):
        ids, blobs = zip(*batch, strict=True)
        yield ids, blobs


def vectors_of(unit: Unit, space: int, documents: Iterable[UUID]) -> list[VectorRow]:
    """Those of these documents' vectors that there are, in no order."""
    return [
        VectorRow(row.document_id, row.made_from, row.vector)
        for part in _parts(documents)
        for row in unit.all(_OF, space=space, documents=part)
    ]


def missing(unit: Unit, space: int, documents: Iterable[UUID]) -> list[UUID]:
    """Those of these documents that have no vector in the space, in their order."""
    wanted = list(documents)
    present: set[Any] = set()
    for part in _parts(wanted):
        present.update(row.document_id for row in unit.all(_PRESENT, space=space, documents=part))
    return [each for each in wanted if each not in present]


def count(unit: Unit, space: int) -> int:
    """How many vectors this person has in the space."""
    return int(unit.scalar(_COUNT, space=space))


def _parts(documents: Iterable[UUID]) -> Iterator[list[UUID]]:
    every = list(documents)
    for start in range(0, len(every), _AT_ONCE):
        yield every[start : start + _AT_ONCE]
