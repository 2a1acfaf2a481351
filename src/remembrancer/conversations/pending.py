"""Messages that still need a vector, and the words to make it from.

The words are read in one unit, embedded outside of any, and the vectors stored in another; what
changed in between is told by `made_from`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select

from remembrancer.conversations import repository
from remembrancer.conversations.models import Message
from remembrancer.conversations.repository import BOUND, FIRST_ID
from remembrancer.conversations.tables import messages
from remembrancer.conversations.words import embedded_words, made_from
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.index.tables import vectors

_m, _v = messages.c, vectors.c

_WITH_VECTORS: Final = (
    select(_m.id, _v.made_from)
    .select_from(
        messages.outerjoin(
            vectors,
            (_v.user_id == _m.user_id)
            & (_v.embedding_space == bindparam("space"))
            & (_v.document_id == _m.id),
        )
    )
    .where(_m.user_id == OWNER, _m.terms != b"", _m.id > bindparam("after"))
    .order_by(_m.id)
    .limit(bindparam("most"))
)
_MISSING: Final = _WITH_VECTORS.where(_v.made_from.is_(None))


@dataclass(frozen=True, slots=True)
class Pending:
    """A message without a vector, the words to embed, and their digest."""

    message_id: UUID
    words: str
    made_from: bytes


def pending(unit: Unit, space: int, *, after: UUID = FIRST_ID, limit: int = BOUND) -> list[Pending]:
    """Messages without a vector in an embedding space, by id, at most `limit`; [] when done.

    Those of which nothing can be found by words (withheld whole, punctuation only) need none.
    """
    rows = unit.all(_MISSING, space=space, after=after, most=limit)
    return words_of(unit, [row.id for row in rows])


def words_of(unit: Unit, ids: Sequence[UUID]) -> list[Pending]:
    """The words of these messages as they stand, in order; without those that say nothing."""
    there = repository.messages_by_id(unit, ids)
    wanted = {each.parent_id for each in there.values() if each.parent_id is not None}
    before = {**there, **repository.messages_by_id(unit, wanted - set(there))}
    found = []
    for message_id in ids:
        message = there.get(message_id)
        if message is None:
            continue
        words = words_after(before.get(message.parent_id) if message.parent_id else None, message)
        if words:
            found.append(Pending(message_id, words, made_from(words)))
    return found


def words_after(previous: Message | None, message: Message) -> str:
    """What a stored message is embedded as, after the one before it."""
    if previous is None or previous.session != message.session:
        return embedded_words("", message.visible, speaker=message.speaker)
    return embedded_words(
        previous.visible,
        message.visible,
        previous_speaker=previous.speaker,
        speaker=message.speaker,
    )
