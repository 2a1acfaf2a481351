"""Origin data of imported memories: foreign times, actors and states, kept as they came."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, insert, select

from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.memory.tables import origin

_ADD: Final = insert(origin)
_OF_IMPORT: Final = select(origin.c.memory_id).where(
    origin.c.user_id == OWNER, origin.c.import_id == bindparam("of_import")
)


def record(unit: Unit, memory_id: UUID, import_id: UUID, data: str | None) -> None:
    """Keep where an imported memory came from."""
    unit.insert(_ADD, memory_id=memory_id, import_id=import_id, data=data)


def memories_of(unit: Unit, import_id: UUID) -> list[UUID]:
    """The memories an import made."""
    return [row.memory_id for row in unit.all(_OF_IMPORT, of_import=import_id)]
