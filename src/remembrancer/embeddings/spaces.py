"""Embedding spaces as the store knows them: every vector belongs to one, named by a small id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from remembrancer.db.database import Database
from remembrancer.db.units import SystemUnit
from remembrancer.embeddings.base import SpaceSpec
from remembrancer.embeddings.tables import embedding_spaces

_BY_KEY: Final = select(embedding_spaces.c.id).where(embedding_spaces.c.key == bindparam("wanted"))
_SERVING: Final = (
    select(embedding_spaces.c.id)
    .where(embedding_spaces.c.state == "serving")
    .order_by(embedding_spaces.c.id)
)
_ADD: Final = insert(embedding_spaces)


def serving_ids(db: Database) -> Sequence[int]:
    """Every space that is registered as serving, oldest first. Blocks."""
    return db.system_now(
        "list the embedding spaces", lambda unit: [row.id for row in unit.all(_SERVING)]
    )


def space_id(db: Database, spec: SpaceSpec) -> int:
    """The id of a space, registered when it is new."""

    def find(unit: SystemUnit) -> int | None:
        found: int | None = unit.scalar(_BY_KEY, wanted=spec.key)
        return found

    def register(unit: SystemUnit) -> int:
        found = find(unit)
        if found is not None:
            return found
        unit.insert(
            _ADD,
            key=spec.key,
            model=spec.model,
            revision=spec.revision,
            dimension=spec.dimension,
            query_prefix=spec.query_prefix,
            passage_prefix=spec.passage_prefix,
            state="serving",
            created_at=unit.now,
        )
        found = find(unit)
        assert found is not None
        return found

    known = db.system_now("find the embedding space", find)
    if known is not None:
        return known
    try:
        return db.system_now("register the embedding space", register, write=True)
    except IntegrityError:
        known = db.system_now("find the embedding space", find)
        if known is None:
            raise
        return known  # Another process registered it meanwhile.
