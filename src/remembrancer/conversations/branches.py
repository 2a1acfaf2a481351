"""A chat is a tree of messages; its live branch is the one that was spoken on last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select, update

from remembrancer.conversations.models import AuthoredBy
from remembrancer.conversations.skeletons import Skeleton, skeletons
from remembrancer.conversations.tables import messages
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import RefusedError
from remembrancer.scope import Actor

_m = messages.c
_SET_LIVE: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.id == bindparam("message"))
    .values(live=bindparam("to_live"), changed_at_seq=bindparam("moved"))
)
_SAID_BY_PERSON: Final = select(_m.id).where(
    _m.user_id == OWNER,
    _m.chat_id == bindparam("chat"),
    _m.live == 0,
    _m.authored_by == AuthoredBy.PERSON.value,
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


def check_edit(unit: Unit, actor: Actor, chat_id: UUID, edited_away: Sequence[UUID]) -> None:
    """`RefusedError` when a machine edits away what the person said: only the person does."""
    if actor.is_person or not edited_away:
        return
    gone = set(edited_away)
    if any(row.id in gone for row in unit.all(_SAID_BY_PERSON, chat=chat_id)):
        raise RefusedError("Only the person edits away what they said.", field="authority")
