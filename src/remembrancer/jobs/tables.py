"""Jobs (personal) and due work (system: who has work, in which lane, from when; ids only)."""

from __future__ import annotations

from sqlalchemy import Column, Integer, PrimaryKeyConstraint, Table

from remembrancer.db.tables import (
    Erasure,
    TextColumn,
    personal_index,
    personal_table,
    system,
)
from remembrancer.db.types import At, Id, Str

jobs = personal_table(
    "jobs",
    Column("id", Id, nullable=False),
    Column("lane", Str, nullable=False),
    Column("name", Str, nullable=False),
    Column("coalesce_key", Str, nullable=False),
    Column("state", Str, nullable=False),
    Column("payload", Str, nullable=False),
    Column("run_at", At, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("error_code", Str),
    Column("created_at", At, nullable=False),
    Column("ended_at", At),
    personal_index("ix_jobs_lane", "state", "lane", "run_at"),
    personal_index("ix_jobs_coalesce", "name", "coalesce_key", "state"),
    key=("id",),
)
"""`state` is waiting, running, done, cancelled or dead. A payload holds ids, never words."""

due = Table(
    "due",
    system,
    Column("user_id", Id, nullable=False),
    Column("lane", Str, nullable=False),
    Column("run_at", At, nullable=False),
    Column("lease_owner", Id),
    Column("lease_until", At),
    PrimaryKeyConstraint("user_id", "lane", name="pk_due"),
)

ERASURE = Erasure(
    texts=(TextColumn("jobs", "payload", "jobs.queue.cancel_about"),),
    exempt=(
        ("jobs", "lane"),
        ("jobs", "name"),
        ("jobs", "coalesce_key"),
        ("jobs", "state"),
        ("jobs", "error_code"),
    ),
)
