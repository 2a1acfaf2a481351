"""Chats without their words: who follows whom, and which digests are there. Constant statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, bindparam, func, select

from remembrancer.clock import Instant
from remembrancer.conversations.tables import messages
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.index.changes import AnyId
from remembrancer.index.raw_ids import raw

_RECENT: Final = 100
"""Among so many of a chat's last messages its newest session is looked for."""

_m = messages.c
_HERE: Final = (_m.user_id == OWNER) & (_m.chat_id == bindparam("chat"))

_ALL: Final = (
    select(_m.id, _m.digest, _m.parent_id, _m.position, _m.session, _m.said_at, _m.live)
    .where(_HERE)
    .order_by(_m.position)
)
_LATEST: Final = _ALL.order_by(None).order_by(_m.position.desc()).limit(bindparam("most"))
_TAIL: Final = _ALL.where(_m.live == 1).order_by(None).order_by(_m.position.desc()).limit(1)
_NEWEST: Final = (
    select(_m.position, _m.session)
    .where(_HERE)
    .order_by(_m.position.desc())
    .limit(bindparam("most"))
    .subquery()
)
_TOP: Final = select(
    func.max(_NEWEST.c.position).label("position"), func.max(_NEWEST.c.session).label("session")
)
_DIGESTS: Final = select(_m.digest, raw(_m.id).label("id")).where(_HERE)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A stored message without its words."""

    id: UUID
    digest: bytes
    parent_id: UUID | None
    position: int
    session: int
    said_at: Instant
    live: bool


def skeletons(unit: Unit, chat_id: UUID) -> list[Skeleton]:
    """A chat's messages, in order of arrival."""
    return [_skeleton(row) for row in unit.all(_ALL, chat=chat_id)]


def latest(unit: Unit, chat_id: UUID, most: int) -> list[Skeleton]:
    """The last messages of a chat to arrive, in order of arrival."""
    return [_skeleton(row) for row in reversed(unit.all(_LATEST, chat=chat_id, most=most))]


def tail_of(unit: Unit, chat_id: UUID) -> Skeleton | None:
    """The newest message of a chat's live branch."""
    row = unit.first(_TAIL, chat=chat_id)
    return None if row is None else _skeleton(row)


def top_of(unit: Unit, chat_id: UUID) -> tuple[int, int]:
    """The greatest position and session among a chat's last messages; −1 each when it is empty."""
    row = unit.first(_TOP, chat=chat_id, most=_RECENT)
    if row is None or row.position is None:
        return -1, -1
    return row.position, row.session


def known_digests(unit: Unit, chat_id: UUID) -> dict[bytes, AnyId]:
    """The digests of what a chat holds, and whose they are."""
    return {row.digest: row.id for row in unit.all(_DIGESTS, chat=chat_id)}


def _skeleton(row: Row[Any]) -> Skeleton:
    return Skeleton(
        row.id,
        row.digest,
        row.parent_id,
        row.position,
        row.session,
        row.said_at,
        bool(row.live),
    )
