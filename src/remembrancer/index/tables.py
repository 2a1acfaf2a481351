"""Vectors: one row for each text or message and embedding space."""

from __future__ import annotations

from sqlalchemy import Column, Integer

from remembrancer.db.tables import Erasure, TextColumn, personal_index, personal_table
from remembrancer.db.types import Blob, Id, Seq

vectors = personal_table(
    "vectors",
    Column("embedding_space", Integer, nullable=False),
    Column("document_id", Id, nullable=False),
    Column("made_from", Blob, nullable=False),
    Column("vector", Blob, nullable=False),
    Column("changed_at_seq", Seq, nullable=False),
    personal_index("ix_vectors_changed", "embedding_space", "changed_at_seq"),
    key=("embedding_space", "document_id"),
    wide=True,
)
"""`document_id` is a text's or a message's; `vector` is little-endian half precision; `made_from`
is the digest of the exact words embedded (a message is embedded with the one before it)."""

ERASURE = Erasure(
    texts=(
        TextColumn("vectors", "vector", "index.repository.drop_vectors"),
        TextColumn("vectors", "made_from", "index.repository.drop_vectors"),
    )
)
