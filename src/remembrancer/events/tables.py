"""The head row, the log, and where each sink has got to."""

from __future__ import annotations

from sqlalchemy import Column, Integer

from remembrancer.db.tables import Erasure, personal_index, personal_table
from remembrancer.db.types import At, Blob, Id, Seq, Str

head = personal_table(
    "head",
    Column("event_seq", Seq, nullable=False),
    Column("event_hash", Blob, nullable=False),
    Column("index_seq", Seq, nullable=False),
    Column("last_recorded_at", At, nullable=False),
)
"""One row a person, locked first in every write."""

events = personal_table(
    "events",
    Column("seq", Seq, nullable=False),
    Column("kind", Str, nullable=False),
    Column("actor_kind", Str, nullable=False),
    Column("actor_name", Str, nullable=False),
    Column("surface", Str, nullable=False),
    Column("subject_id", Id),
    Column("revision", Integer),
    Column("cause", Str),
    Column("recorded_at", At, nullable=False),
    Column("payload", Str, nullable=False),
    Column("hash", Blob, nullable=False),
    personal_index("ix_events_subject", "subject_id", "seq"),
    key=("seq",),
    wide=True,
)
"""`payload` is canonical JSON of ids, rectangles, states and commitments; never words."""

cursors = personal_table(
    "cursors",
    Column("sink", Str, nullable=False),
    Column("seq", Seq, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("error_code", Str),
    Column("updated_at", At, nullable=False),
    key=("sink",),
)

ERASURE = Erasure(
    exempt=(
        ("head", "event_hash"),
        ("events", "kind"),
        ("events", "actor_kind"),
        ("events", "actor_name"),
        ("events", "surface"),
        ("events", "cause"),
        ("events", "payload"),
        ("events", "hash"),
        ("cursors", "sink"),
        ("cursors", "error_code"),
    )
)
