"""Removing messages, chats and imports whole. What rests on them is `memory.service`'s to settle.

No event is written here, and no tombstone: importing the same file again brings them back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from remembrancer.conversations import branches, repository
from remembrancer.conversations.redacting import rekey
from remembrancer.conversations.tables import chats, messages, withheld
from remembrancer.conversations.withholding import drop_made_with
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.index.repository import drop_vectors

_m, _w, _c = messages.c, withheld.c, chats.c

_OF_CHAT: Final = select(_m.id).where(_m.user_id == OWNER, _m.chat_id == bindparam("chat"))
_DROP_SPANS_OF_CHAT: Final = delete(withheld).where(
    _w.user_id == OWNER, _w.message_id.in_(_OF_CHAT)
)
_DROP_MESSAGES_OF_CHAT: Final = delete(messages).where(
    _m.user_id == OWNER, _m.chat_id == bindparam("chat")
)
_DROP_SPANS: Final = delete(withheld).where(
    _w.user_id == OWNER, _w.message_id == bindparam("message")
)
_DROP_MESSAGE: Final = delete(messages).where(_m.user_id == OWNER, _m.id == bindparam("message"))
_DROP_CHAT: Final = delete(chats).where(_c.user_id == OWNER, _c.id == bindparam("chat"))
_ADOPT: Final = (
    update(messages)
    .where(
        _m.user_id == OWNER, _m.chat_id == bindparam("chat"), _m.parent_id == bindparam("former")
    )
    .values(parent_id=bindparam("to_parent"))
)


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed, and what it left to do."""

    chat_ids: tuple[UUID, ...] = ()
    message_ids: tuple[UUID, ...] = ()
    remake: tuple[UUID, ...] = ()
    """Messages that stay and whose vectors must be made again."""
    edited_away: tuple[UUID, ...] = ()
    """Messages that are no longer on the live branch."""


def delete_message(unit: Unit, message_id: UUID, *, index_seq: int) -> Removed:
    """Remove one message; those that followed it follow the one before it. Nothing for no such."""
    message = repository.find_message(unit, message_id)
    if message is None:
        return Removed()
    remake = drop_made_with(unit, (message,), index_seq)
    unit.run(_ADOPT, chat=message.chat_id, former=message_id, to_parent=message.parent_id)
    unit.run(_DROP_SPANS, message=message_id)
    unit.run(_DROP_MESSAGE, message=message_id)
    drop_vectors(unit, (message_id,))
    rekey(unit, message.chat_id)
    away = branches.settle(unit, message.chat_id, index_seq)
    return Removed(
        message_ids=(message_id,),
        remake=tuple(each for each in remake if each != message_id),
        edited_away=tuple(away),
    )


def delete_chat(unit: Unit, chat_id: UUID) -> Removed:
    """Remove a chat with all its messages. Nothing for no such."""
    if repository.chat(unit, chat_id) is None:
        return Removed()
    ids = tuple(repository.message_ids(unit, chat_id))
    unit.run(_DROP_SPANS_OF_CHAT, chat=chat_id)
    unit.run(_DROP_MESSAGES_OF_CHAT, chat=chat_id)
    drop_vectors(unit, ids)
    unit.run(_DROP_CHAT, chat=chat_id)
    return Removed(chat_ids=(chat_id,), message_ids=ids)


def delete_import(unit: Unit, import_id: UUID) -> Removed:
    """Remove every chat that an import made, also what was said in it since."""
    gone = [delete_chat(unit, each.id) for each in repository.chats_of_import(unit, import_id)]
    return Removed(
        chat_ids=tuple(chat_id for each in gone for chat_id in each.chat_ids),
        message_ids=tuple(message_id for each in gone for message_id in each.message_ids),
    )
