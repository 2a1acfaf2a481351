"""People, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Account:
    """A person of this installation. `zone` is an IANA name."""

    user_id: UUID
    email: str
    role: str
    zone: str
    language: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Removal:
    """What stays of a removed account: one line."""

    user_id: UUID
    removed_at: datetime
    removed_by: str
    events: int
    last_hash: str
