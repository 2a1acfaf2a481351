"""Identifiers: UUIDv7, so that ids sort by the time they were made.

Within one process ids strictly increase, also within one millisecond (RFC 9562, method 1: the 12
bits of `rand_a` count up).
"""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

from remembrancer.errors import InvalidInputError

_lock = threading.Lock()
_last_ms = 0
_counter = 0


def new_id() -> UUID:
    """A fresh UUIDv7: 48 bits of Unix milliseconds, 12 of a counter, 62 random."""
    global _last_ms, _counter
    with _lock:
        ms = time.time_ns() // 1_000_000
        if ms > _last_ms:
            _last_ms, _counter = ms, int.from_bytes(os.urandom(2)) & 0x3FF
        else:
            _counter += 1
            if _counter > 0xFFF:
                _last_ms, _counter = _last_ms + 1, 0
        ms, counter = _last_ms, _counter
    tail = int.from_bytes(os.urandom(8)) & 0x3FFF_FFFF_FFFF_FFFF
    return UUID(int=ms << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail)


def parse_id(text: str | UUID, *, field: str = "id") -> UUID:
    """The UUID written in `text`; `InvalidInputError` when it is none."""
    if isinstance(text, UUID):
        return text
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInputError(
            f"{field} {text[:60]!r} is not an id.",
            field=field,
            value=text[:60],
            hint="Ids are UUIDs.",
        ) from None
