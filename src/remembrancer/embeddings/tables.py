"""Embedding spaces. A system table: models and prefixes, no personal text."""

from __future__ import annotations

from sqlalchemy import Column, Integer, Table

from remembrancer.db.tables import system
from remembrancer.db.types import At, Str

embedding_spaces = Table(
    "embedding_spaces",
    system,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Str, nullable=False, unique=True),
    Column("model", Str, nullable=False),
    Column("revision", Str, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("query_prefix", Str, nullable=False),
    Column("passage_prefix", Str, nullable=False),
    Column("state", Str, nullable=False),
    Column("created_at", At, nullable=False),
)
"""`state` is serving, filling or retired. A vector row names its space by `id`."""
