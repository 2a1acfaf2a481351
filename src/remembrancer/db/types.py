"""Column types that mean the same on both stores.

UUIDs are 16 bytes on SQLite and `uuid` on PostgreSQL; instants are integer microseconds; text
sorts by code point on both (SQLite's BINARY, PostgreSQL's "C").
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Dialect, LargeBinary, Text, TypeDecorator, Uuid
from sqlalchemy.types import TypeEngine


class Id(TypeDecorator[UUID]):
    """A UUID: 16 bytes in SQLite, the native type in PostgreSQL."""

    impl = LargeBinary(16)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Uuid(as_uuid=True))
        return dialect.type_descriptor(LargeBinary(16))

    def process_bind_param(self, value: UUID | None, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return value.bytes

    def process_result_value(self, value: Any, _dialect: Dialect) -> UUID | None:
        if value is None or isinstance(value, UUID):
            return value
        return UUID(bytes=value)


class Str(TypeDecorator[str]):
    """Text that compares and sorts by code point."""

    impl = Text()
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Text(collation="C"))
        return dialect.type_descriptor(Text())


At = BigInteger
"""An instant; see `clock`."""
Seq = BigInteger
"""A person's sequence number."""
Blob = LargeBinary
