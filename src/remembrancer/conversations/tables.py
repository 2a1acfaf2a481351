"""Spaces, chats, messages, and the spans of messages that are withheld."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKeyConstraint, Integer

from remembrancer.db.tables import (
    Erasure,
    TextColumn,
    personal_index,
    personal_table,
    personal_unique,
)
from remembrancer.db.types import At, Blob, Id, Seq, Str

spaces = personal_table(
    "spaces",
    Column("id", Id, nullable=False),
    Column("name", Str, nullable=False),
    Column("created_at", At, nullable=False),
    Column("event_seq", Seq, nullable=False),
    personal_unique("uq_spaces_name", "name"),
    key=("id",),
)

chats = personal_table(
    "chats",
    Column("id", Id, nullable=False),
    Column("source", Str, nullable=False),
    Column("external_id", Str, nullable=False),
    Column("space_id", Id),
    Column("title", Str, nullable=False),
    Column("import_id", Id),
    Column("created_at", At, nullable=False),
    personal_unique("uq_chats_external", "source", "external_id"),
    key=("id",),
)
"""A chat is identified by (source, external_id); without an id, by its first message's digest."""

messages = personal_table(
    "messages",
    Column("id", Id, nullable=False),
    Column("chat_id", Id, nullable=False),
    Column("parent_id", Id),
    Column("position", Integer, nullable=False),
    Column("session", Integer, nullable=False),
    Column("digest", Blob, nullable=False),
    Column("role", Str, nullable=False),
    Column("speaker", Str, nullable=False),
    Column("authored_by", Str, nullable=False),
    Column("said_at", At, nullable=False),
    Column("text", Str, nullable=False),
    Column("terms", Blob, nullable=False),
    Column("live", Integer, nullable=False),
    Column("changed_at_seq", Seq, nullable=False),
    ForeignKeyConstraint(
        ["user_id", "chat_id"], ["chats.user_id", "chats.id"], name="fk_messages_chat"
    ),
    personal_unique("uq_messages_digest", "chat_id", "digest"),
    personal_index("ix_messages_changed", "changed_at_seq"),
    personal_index("ix_messages_chat", "chat_id", "position"),
    key=("id",),
    wide=True,
)
"""`role` is user, assistant or other; `live` is 0 on a branch that was edited away. `position`
counts along the chat, `session` its stretches of time. `terms` are those of what isn't withheld."""

withheld = personal_table(
    "withheld",
    Column("message_id", Id, nullable=False),
    Column("span_from", Integer, nullable=False),
    Column("span_to", Integer, nullable=False),
    Column("tombstone_id", Id, nullable=False),
    Column("event_seq", Seq),
    ForeignKeyConstraint(
        ["user_id", "message_id"], ["messages.user_id", "messages.id"], name="fk_withheld_message"
    ),
    key=("message_id", "span_from", "span_to", "tombstone_id"),
)
"""Half-open character spans; `event_seq` is null where a message was scanned when it was stored."""

ERASURE = Erasure(
    texts=(
        TextColumn("messages", "text", "conversations.redacting.redact"),
        TextColumn("messages", "terms", "conversations.withholding.withhold"),
        TextColumn("messages", "digest", "conversations.redacting.redact"),
        TextColumn("chats", "external_id", "conversations.redacting.redact"),
        TextColumn("chats", "title", "conversations.redacting.clear_titles"),
        TextColumn("messages", "speaker", "conversations.naming.clear_names"),
        TextColumn("spaces", "name", "conversations.naming.clear_names"),
    ),
    exempt=(
        ("chats", "source"),
        ("messages", "role"),
        ("messages", "authored_by"),
    ),
)
