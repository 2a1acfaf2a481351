"""A chat is a tree of messages; its live branch is the one that was spoken on last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, update

from remembrancer.conversations.skeletons import Skeleton, skeletons
from remembrancer.conversations.tables import messages
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit

_m = messages.c
_SET_LIVE: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.id == bindparam("message"))
    .values(live=bindparam("to_live"), changed_at_seq=bindparam("moved"))
)


def newest_branch(tree: Sequence[Skeleton]) -> set[UUID]:
    """The newest leaf (by when it was said, then by arrival) and all above it."""
    parents = {each.id: each.parent_id for each in tree}
    inner = set(parents.values())
    leaves = [each for each in tree if each.id not in inner]
    branch: set[UUID] = set()
    if leaves:
        place: UUID | None = max(leaves, key=lambda each: (each.said_at, each.position)).id
        while place is not None and place not in branch:
            branch.add(place)
            place = parents.get(place)
    return branch


def settle(unit: Unit, chat_id: UUID, index_seq: int) -> list[UUID]:
    """Mark the newest branch live and the others not; the messages that were live until now."""
    tree = skeletons(unit, chat_id)
    branch = newest_branch(tree)
    moved = [each for each in tree if each.live != (each.id in branch)]
    unit.run_many(
        _SET_LIVE,
        (
            {"message": each.id, "to_live": int(each.id in branch), "moved": index_seq}
            for each in moved
        ),
    )
    return [each.id for each in moved if each.live]
