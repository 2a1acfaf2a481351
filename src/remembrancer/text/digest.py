"""Digests of tokens and texts: keyed for tombstones, salted for the event log.

No key or salt is made or kept here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from remembrancer.errors import InvalidInputError

DIGEST_BYTES: Final = 16
KEY_BYTES: Final = 64
"""The longest key BLAKE2b takes (RFC 7693)."""


def keyed_digest(key: bytes, tokens: Sequence[str]) -> bytes:
    """16 bytes, BLAKE2b of the tokens under a person's key; equal only for equal token rows.

    Raises `InvalidInputError` for an empty key or one over 64 bytes.
    """
    return _digest(_checked(key), b"".join(map(_framed, tokens)))


def window_digests(key: bytes, tokens: Sequence[str], size: int) -> list[bytes]:
    """`keyed_digest` of every contiguous window of `size` tokens, in order; [] if there is none.

    Raises `InvalidInputError` as `keyed_digest` does, and for a size below 1.
    """
    if size < 1:
        raise InvalidInputError("A window holds at least one token.", field="size", value=size)
    _checked(key)
    framed = [_framed(token) for token in tokens]
    return [
        _digest(key, b"".join(framed[start : start + size]))
        for start in range(len(framed) - size + 1)
    ]


def commitment(salt: bytes, text: str) -> bytes:
    """32 bytes, SHA-256(salt ‖ UTF-8 of the text): what the event log keeps of a text."""
    return hashlib.sha256(salt + text.encode("utf-8", "surrogatepass")).digest()


def _checked(key: bytes) -> bytes:
    if not 1 <= len(key) <= KEY_BYTES:
        raise InvalidInputError(
            f"A digest key has 1 to {KEY_BYTES} bytes.", field="key", limit=KEY_BYTES
        )
    return key


def _digest(key: bytes, framed: bytes) -> bytes:
    return hashlib.blake2b(framed, digest_size=DIGEST_BYTES, key=key).digest()


def _framed(token: str) -> bytes:
    """The token behind its length: no two rows of tokens join to the same bytes."""
    encoded = token.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(4, "big") + encoded
