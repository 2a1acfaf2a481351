"""Accounts, and the one line that stays of a removed one. System tables: no personal text."""

from __future__ import annotations

from sqlalchemy import Column, Table

from remembrancer.db.tables import system
from remembrancer.db.types import At, Blob, Id, Seq, Str

accounts = Table(
    "accounts",
    system,
    Column("user_id", Id, primary_key=True),
    Column("email", Str, nullable=False, unique=True),
    Column("role", Str, nullable=False),
    Column("password_hash", Str),
    Column("zone", Str, nullable=False),
    Column("language", Str, nullable=False),
    Column("created_at", At, nullable=False),
)

removed_accounts = Table(
    "removed_accounts",
    system,
    Column("user_id", Id, primary_key=True),
    Column("removed_at", At, nullable=False),
    Column("removed_by", Str, nullable=False),
    Column("event_seq", Seq, nullable=False),
    Column("last_hash", Blob, nullable=False),
)

settings = Table(
    "settings",
    system,
    Column("key", Str, primary_key=True),
    Column("value", Str, nullable=False),
    Column("updated_at", At, nullable=False),
)
