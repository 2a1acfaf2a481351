"""A person's own rules about their memory."""

from __future__ import annotations

from sqlalchemy import Column

from remembrancer.db.tables import Erasure, personal_table
from remembrancer.db.types import At, Seq, Str

policies = personal_table(
    "policies",
    Column("name", Str, nullable=False),
    Column("value", Str, nullable=False),
    Column("event_seq", Seq, nullable=False),
    Column("updated_at", At, nullable=False),
    key=("name",),
)

ERASURE = Erasure(exempt=(("policies", "name"), ("policies", "value")))
