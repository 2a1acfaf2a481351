"""Durable records that a value was forgotten, rejected or refuted: they bind machines only."""

from remembrancer.tombstones.models import Attempt, Kind, Tombstone
from remembrancer.tombstones.repository import (
    attempts_of,
    clear_texts,
    ensure_key,
    equal,
    get,
    lift,
    list_all,
    live_match,
    make,
    own_key,
    record_attempt,
    scanner,
    unlift,
)
from remembrancer.tombstones.scanning import Scanner

__all__ = [
    "Attempt",
    "Kind",
    "Scanner",
    "Tombstone",
    "attempts_of",
    "clear_texts",
    "ensure_key",
    "equal",
    "get",
    "lift",
    "list_all",
    "live_match",
    "make",
    "own_key",
    "record_attempt",
    "scanner",
    "unlift",
]
