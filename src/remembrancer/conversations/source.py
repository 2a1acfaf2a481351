"""What the personal index reads of conversations: rows that changed, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from sqlalchemy import bindparam, func, select

from remembrancer.conversations.tables import chats, messages
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.index.changes import Changes, MessageRow
from remembrancer.index.indexes import Source
from remembrancer.index.raw_ids import raw

_m, _c = messages.c, chats.c

# The columns of `MessageRow`, in its order.
_CHANGED: Final = (
    select(
        raw(_m.id),
        raw(_m.chat_id),
        _m.session,
        _m.position,
        raw(_c.space_id),
        _m.role,
        _m.speaker,
        _m.said_at,
        _m.live,
        _m.terms,
    )
    .select_from(messages.join(chats, (_c.user_id == _m.user_id) & (_c.id == _m.chat_id)))
    .where(_m.user_id == OWNER, _m.changed_at_seq > bindparam("after"))
)
_COUNT: Final = select(func.count()).select_from(messages).where(_m.user_id == OWNER)


def changes(unit: Unit, after: int) -> Changes:
    """Every message that changed after the index's sequence number, its space from its chat."""
    return Changes(messages=cast(Sequence[MessageRow], unit.all(_CHANGED, after=after)))


def count(unit: Unit) -> int:
    """How many messages there are: a smaller number than expected gives a deletion away."""
    return int(unit.scalar(_COUNT))


SOURCE: Final = Source(changes, count)
