"""Paths, texts, memories, versions, evidence, origin, proposals, idempotency results."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Integer, text

from remembrancer.db.tables import (
    Erasure,
    TextColumn,
    personal_index,
    personal_table,
    personal_unique,
)
from remembrancer.db.types import At, Blob, Id, Seq, Str

_PROFILE = text("type = 'user'")
"""The few versions that are considered in every turn. A statement uses the index if it says so with
a literal."""

paths = personal_table(
    "paths",
    Column("id", Id, nullable=False),
    Column("text", Str),
    personal_unique("uq_paths_text", "text"),
    key=("id",),
)
"""A path's words; null once cleared. Versions and events name it by id."""

texts = personal_table(
    "texts",
    Column("id", Id, nullable=False),
    Column("text", Str),
    Column("fingerprint", Blob),
    Column("salt", Blob),
    Column("commitment", Blob, nullable=False),
    Column("terms", Blob, nullable=False),
    Column("changed_at_seq", Seq, nullable=False),
    personal_index("ix_texts_fingerprint", "fingerprint"),
    personal_index("ix_texts_changed", "changed_at_seq"),
    key=("id",),
    wide=True,
)
"""What versions say, stored once. Forgetting nulls text, fingerprint and salt, empties terms."""

memories = personal_table(
    "memories",
    Column("id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("pin_rank", Integer),
    Column("meta", Str),
    Column("created_by", Str, nullable=False),
    Column("created_at", At, nullable=False),
    Column("changed_at", At, nullable=False),
    Column("event_seq", Seq, nullable=False),
    Column("forgotten_seq", Seq),
    ForeignKeyConstraint(
        ["user_id", "event_seq"], ["events.user_id", "events.seq"], name="fk_memories_event"
    ),
    personal_index("ix_memories_created", "created_at", "id"),
    key=("id",),
)
"""An identity. `revision` counts its events: what `expected_version` compares."""

versions = personal_table(
    "versions",
    Column("id", Id, nullable=False),
    Column("memory_id", Id, nullable=False),
    Column("text_id", Id, nullable=False),
    Column("type", Str, nullable=False),
    Column("path_id", Id),
    Column("space_id", Id),
    Column("trust", Str, nullable=False),
    Column("valid_from", At, nullable=False),
    Column("valid_to", At, nullable=False),
    Column("recorded_from", At, nullable=False),
    Column("recorded_to", At, nullable=False),
    Column("opened_seq", Seq, nullable=False),
    Column("closed_seq", Seq),
    Column("changed_at_seq", Seq, nullable=False),
    CheckConstraint("valid_from < valid_to", name="ck_versions_valid"),
    CheckConstraint("recorded_from < recorded_to", name="ck_versions_recorded"),
    ForeignKeyConstraint(
        ["user_id", "memory_id"], ["memories.user_id", "memories.id"], name="fk_versions_memory"
    ),
    ForeignKeyConstraint(
        ["user_id", "text_id"], ["texts.user_id", "texts.id"], name="fk_versions_text"
    ),
    ForeignKeyConstraint(
        ["user_id", "opened_seq"], ["events.user_id", "events.seq"], name="fk_versions_opened"
    ),
    ForeignKeyConstraint(
        ["user_id", "closed_seq"], ["events.user_id", "events.seq"], name="fk_versions_closed"
    ),
    personal_index("ix_versions_memory", "memory_id", "recorded_to"),
    personal_index("ix_versions_text", "text_id"),
    personal_index("ix_versions_path", "path_id"),
    personal_index("ix_versions_changed", "changed_at_seq"),
    personal_index(
        "ix_versions_profile", "recorded_to", sqlite_where=_PROFILE, postgresql_where=_PROFILE
    ),
    key=("id",),
)
"""Rectangles: valid × recorded, half-open. No two of one memory overlap (a trigger says so)."""

evidence = personal_table(
    "evidence",
    Column("id", Id, nullable=False),
    Column("memory_id", Id, nullable=False),
    Column("chat_id", Id),
    Column("message_id", Id),
    Column("model", Str),
    Column("quote", Str),
    Column("deleted_at", At),
    Column("event_seq", Seq, nullable=False),
    ForeignKeyConstraint(
        ["user_id", "memory_id"], ["memories.user_id", "memories.id"], name="fk_evidence_memory"
    ),
    ForeignKeyConstraint(
        ["user_id", "event_seq"], ["events.user_id", "events.seq"], name="fk_evidence_event"
    ),
    personal_index("ix_evidence_memory", "memory_id"),
    personal_index("ix_evidence_message", "message_id"),
    personal_index("ix_evidence_chat", "chat_id"),
    key=("id",),
)
"""The verbatim quote a memory rests on, and where it stands."""

origin = personal_table(
    "origin",
    Column("memory_id", Id, nullable=False),
    Column("import_id", Id, nullable=False),
    Column("data", Str),
    personal_index("ix_origin_import", "import_id"),
    key=("memory_id",),
)
"""Foreign times, actors and states of an imported memory, as they came (JSON)."""

proposals = personal_table(
    "proposals",
    Column("id", Id, nullable=False),
    Column("op", Str, nullable=False),
    Column("target_id", Id),
    Column("other_id", Id),
    Column("base_revision", Integer),
    Column("text", Str),
    Column("arguments", Str, nullable=False),
    Column("chat_id", Id),
    Column("message_id", Id),
    Column("quote", Str),
    Column("state", Str, nullable=False),
    Column("created_by", Str, nullable=False),
    Column("created_at", At, nullable=False),
    Column("event_seq", Seq, nullable=False),
    Column("decided_seq", Seq),
    ForeignKeyConstraint(
        ["user_id", "event_seq"], ["events.user_id", "events.seq"], name="fk_proposals_event"
    ),
    personal_index("ix_proposals_state", "state", "created_at"),
    personal_index("ix_proposals_target", "target_id"),
    personal_index("ix_proposals_other", "other_id"),
    personal_index("ix_proposals_message", "message_id"),
    personal_index("ix_proposals_chat", "chat_id"),
    key=("id",),
)
"""`op` is one of `models.Op`; `state` is open, approved, rejected or expired."""

idempotency = personal_table(
    "idempotency",
    Column("key", Str, nullable=False),
    Column("request_digest", Blob, nullable=False),
    Column("result", Str),
    Column("subject_id", Id),
    Column("created_at", At, nullable=False),
    key=("key",),
)
"""What a write answered, for a retry with the same key. Key and request are digests under the
person's own secret; results hold ids and states, no words."""

ERASURE = Erasure(
    texts=(
        TextColumn("paths", "text", "memory.erasure.clear_unused_paths"),
        TextColumn("texts", "text", "memory.erasure.clear_texts"),
        TextColumn("texts", "fingerprint", "memory.erasure.clear_texts"),
        TextColumn("texts", "salt", "memory.erasure.clear_texts"),
        TextColumn("texts", "terms", "memory.erasure.clear_texts"),
        TextColumn("memories", "meta", "memory.erasure.clear_about"),
        TextColumn("evidence", "quote", "memory.erasure.clear_about"),
        TextColumn("origin", "data", "memory.erasure.clear_about"),
        TextColumn("proposals", "text", "memory.erasure.clear_about"),
        TextColumn("proposals", "arguments", "memory.erasure.clear_about"),
        TextColumn("proposals", "quote", "memory.erasure.clear_about"),
        TextColumn("idempotency", "request_digest", "memory.retries.clear_about"),
        TextColumn("idempotency", "result", "memory.retries.clear_about"),
    ),
    exempt=(
        ("texts", "commitment"),  # can't be opened without the salt
        ("idempotency", "key"),  # a keyed digest of what the client gave
        ("memories", "created_by"),
        ("versions", "type"),
        ("versions", "trust"),
        ("evidence", "model"),
        ("proposals", "op"),
        ("proposals", "state"),
        ("proposals", "created_by"),
    ),
)
