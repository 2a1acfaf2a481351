"""Tombstones, the keys their digests are made with, and the attempts they stopped."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKeyConstraint, Integer

from remembrancer.db.tables import Erasure, TextColumn, personal_index, personal_table
from remembrancer.db.types import At, Blob, Id, Seq, Str

keys = personal_table(
    "keys",
    Column("id", Id, nullable=False),
    Column("secret", Blob, nullable=False),
    Column("own", Integer, nullable=False),
    Column("created_at", At, nullable=False),
    key=("id",),
)
"""A person's own key, and those that came with imports of their exports."""

tombstones = personal_table(
    "tombstones",
    Column("id", Id, nullable=False),
    Column("kind", Str, nullable=False),
    Column("key_id", Id, nullable=False),
    Column("digest", Blob, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("run", Integer, nullable=False),
    Column("text", Str),
    Column("memory_id", Id),
    Column("event_seq", Seq, nullable=False),
    Column("lifted_seq", Seq),
    Column("created_at", At, nullable=False),
    ForeignKeyConstraint(
        ["user_id", "event_seq"], ["events.user_id", "events.seq"], name="fk_tombstones_event"
    ),
    personal_index("ix_tombstones_digest", "digest"),
    key=("id",),
)
"""`kind` is forgotten, rejected or refuted; `run` says it is long enough to be found inside text.

A forgotten one holds nothing of the text: `text` is null, `digest` is keyed.
"""

attempts = personal_table(
    "attempts",
    Column("id", Id, nullable=False),
    Column("tombstone_id", Id, nullable=False),
    Column("actor_kind", Str, nullable=False),
    Column("actor_name", Str, nullable=False),
    Column("surface", Str, nullable=False),
    Column("attempted_at", At, nullable=False),
    Column("event_seq", Seq, nullable=False),
    ForeignKeyConstraint(
        ["user_id", "event_seq"], ["events.user_id", "events.seq"], name="fk_attempts_event"
    ),
    personal_index("ix_attempts_tombstone", "tombstone_id", "attempted_at"),
    key=("id",),
)

ERASURE = Erasure(
    texts=(TextColumn("tombstones", "text", "tombstones.repository.clear_texts"),),
    exempt=(
        ("keys", "secret"),
        ("tombstones", "kind"),
        ("tombstones", "digest"),
        ("attempts", "actor_kind"),
        ("attempts", "actor_name"),
        ("attempts", "surface"),
    ),
)
