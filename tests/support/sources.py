"""Rows for the personal index, written straight into the tables and read straight from them.

For tests and measurements of the index by itself. No rule of the write path is kept here but one:
what changes carries the sequence number of its write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, bindparam, delete, func, insert, select, update

from remembrancer.clock import MAX, MIN
from remembrancer.conversations.tables import chats, messages
from remembrancer.db.tables import OWNER
from remembrancer.db.types import Id
from remembrancer.db.units import Unit
from remembrancer.events.log import Journal, journal
from remembrancer.events.tables import events
from remembrancer.index.changes import Changes, MessageRow, TextRow, VersionRow
from remembrancer.index.indexes import Source
from remembrancer.index.raw_ids import raw
from remembrancer.memory.tables import memories, paths, texts, versions

_AFTER = bindparam("after")
_TEXTS = select(raw(texts.c.id), texts.c.terms).where(
    texts.c.user_id == OWNER, texts.c.changed_at_seq > _AFTER
)
_VERSIONS = (
    select(
        raw(versions.c.id),
        raw(versions.c.memory_id),
        raw(versions.c.text_id),
        versions.c.type,
        func.coalesce(paths.c.text, ""),
        raw(versions.c.space_id),
        versions.c.trust,
        versions.c.valid_from,
        versions.c.valid_to,
        versions.c.recorded_from,
        versions.c.recorded_to,
    )
    .select_from(
        versions.outerjoin(
            paths, (paths.c.user_id == versions.c.user_id) & (paths.c.id == versions.c.path_id)
        )
    )
    .where(versions.c.user_id == OWNER, versions.c.changed_at_seq > _AFTER)
)
_MESSAGES = (
    select(
        raw(messages.c.id),
        raw(messages.c.chat_id),
        messages.c.session,
        messages.c.position,
        raw(chats.c.space_id),
        messages.c.role,
        messages.c.speaker,
        messages.c.said_at,
        messages.c.live,
        messages.c.terms,
    )
    .select_from(
        messages.join(
            chats, (chats.c.user_id == messages.c.user_id) & (chats.c.id == messages.c.chat_id)
        )
    )
    .where(messages.c.user_id == OWNER, messages.c.changed_at_seq > _AFTER)
)
_COUNT = select(func.count()).where(messages.c.user_id == OWNER)


def memory_changes(unit: Unit, after: int) -> Changes:
    return Changes(
        texts=cast("Sequence[TextRow]", unit.all(_TEXTS, after=after)),
        versions=cast("Sequence[VersionRow]", unit.all(_VERSIONS, after=after)),
    )


def message_changes(unit: Unit, after: int) -> Changes:
    return Changes(messages=cast("Sequence[MessageRow]", unit.all(_MESSAGES, after=after)))


MEMORY = Source(memory_changes)
CONVERSATIONS = Source(message_changes, lambda unit: unit.scalar(_COUNT))
SOURCES = (MEMORY, CONVERSATIONS)


def _event(unit: Unit) -> None:
    """The event that versions and memories point at."""
    if unit.first(select(events.c.seq).where(events.c.user_id == OWNER, events.c.seq == 1)) is None:
        unit.insert(
            insert(events),
            seq=1,
            kind="memory.added",
            actor_kind="system",
            actor_name="",
            surface="test",
            recorded_at=1,
            payload="{}",
            hash=b"",
        )


def add_texts(unit: Unit, rows: Iterable[TextRow]) -> int:
    """New texts; the write's sequence number."""
    with journal(unit) as held:
        seq = held.touch_index()
        unit.insert_many(
            insert(texts),
            (
                {
                    "id": row.document_id,
                    "commitment": b"",
                    "terms": row.terms,
                    "changed_at_seq": seq,
                }
                for row in rows
            ),
        )
    return seq


def add_versions(unit: Unit, rows: Iterable[VersionRow]) -> int:
    """New versions, and their memories and paths; the write's sequence number."""
    fresh = list(rows)
    with journal(unit) as held:
        seq = held.touch_index()
        _event(unit)
        _insert_missing(
            unit,
            memories,
            {
                row.memory_id: {
                    "revision": 1,
                    "created_by": "",
                    "created_at": 0,
                    "changed_at": 0,
                    "event_seq": 1,
                }
                for row in fresh
            },
        )
        names = {
            row.path: UUID(int=1 + len(row.path) * 1_000_003 + sum(row.path.encode()))
            for row in fresh
            if row.path
        }
        _insert_missing(unit, paths, {id_: {"text": name} for name, id_ in names.items()})
        unit.insert_many(
            insert(versions),
            (
                {
                    "id": row.version_id,
                    **{k: v for k, v in row._asdict().items() if k not in ("version_id", "path")},
                    "path_id": names.get(row.path),
                    "opened_seq": 1,
                    "changed_at_seq": seq,
                }
                for row in fresh
            ),
        )
    return seq


def add_messages(unit: Unit, rows: Iterable[MessageRow]) -> int:
    """New messages, and their chats; the write's sequence number."""
    fresh = list(rows)
    with journal(unit) as held:
        seq = held.touch_index()
        _insert_missing(
            unit,
            chats,
            {
                row.chat_id: {
                    "source": "",
                    "external_id": str(row.chat_id),
                    "space_id": row.space_id,
                    "title": "",
                    "created_at": 0,
                }
                for row in fresh
            },
        )
        unit.insert_many(
            insert(messages),
            (
                {
                    "id": row.message_id,
                    **{
                        k: v
                        for k, v in row._asdict().items()
                        if k not in ("message_id", "space_id")
                    },
                    "live": int(row.live),
                    "digest": row.message_id.bytes,
                    "authored_by": "",
                    "text": "",
                    "changed_at_seq": seq,
                }
                for row in fresh
            ),
        )
    return seq


def _insert_missing(unit: Unit, table: Table, rows: Mapping[UUID, Mapping[str, Any]]) -> None:
    present = {row.id for row in unit.all(select(table.c.id).where(table.c.user_id == OWNER))}
    unit.insert_many(insert(table), ({"id": k, **v} for k, v in rows.items() if k not in present))


def change(unit: Unit, table: Table, id_: UUID, **columns: Any) -> int:
    """Set columns of one row of `texts`, `versions` or `messages`; the write's sequence number."""
    with journal(unit) as held:
        seq = held.touch_index()
        unit.run(
            update(table)
            .where(table.c.user_id == OWNER, table.c.id == bindparam("which", type_=Id))
            .values(changed_at_seq=bindparam("to_seq"), **columns),
            which=id_,
            to_seq=seq,
        )
    return seq


def remove(unit: Unit, table: Table, id_: UUID) -> int:
    """Delete one row; the write's sequence number."""
    with journal(unit) as held:
        seq = held.touch_index()
        unit.run(
            delete(table).where(
                table.c.user_id == OWNER, table.c.id == bindparam("which", type_=Id)
            ),
            which=id_,
        )
    return seq


def touch(unit: Unit) -> int:
    """Move the sequence number by itself, as a completed vector does."""
    with journal(unit) as held:
        return held.touch_index()


def version(text_id: UUID, version_id: UUID, memory_id: UUID, **other: Any) -> VersionRow:
    """A currently believed version of that text, unbounded, confirmed, `context`."""
    plain = VersionRow(
        version_id, memory_id, text_id, "context", "", None, "confirmed", MIN, MAX, 1, MAX
    )
    return plain._replace(**other)


def message(message_id: UUID, chat_id: UUID, terms: bytes, **other: Any) -> MessageRow:
    """A live message of the user's, first of its chat."""
    return MessageRow(message_id, chat_id, 0, 0, None, "user", "", 1, True, terms)._replace(**other)


__all__ = [
    "CONVERSATIONS", "MEMORY", "SOURCES", "Journal", "add_messages", "add_texts", "add_versions",
    "change", "message", "remove", "touch", "version",
]  # fmt: skip
