"""How vectors are stored: half precision, little-endian.

Pure. A half keeps 11 bits of significand (relative error ≤ 2⁻¹¹). The index scales them on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from remembrancer.embeddings.base import Vectors
from remembrancer.errors import DamageFoundError

HALF: Final = np.dtype("<f2")
"""IEEE 754 binary16, little-endian whatever the machine."""


def to_half(vectors: Vectors) -> bytes:
    """The rows of `vectors`, one after another: 2 · dimension bytes per row."""
    return np.ascontiguousarray(vectors, dtype=HALF).tobytes()


def from_half(blob: bytes, dimension: int) -> Vectors:
    """float32 of shape (rows, dimension); `DamageFoundError` if the bytes are no whole rows."""
    row = dimension * HALF.itemsize
    if row <= 0 or len(blob) % row:
        raise DamageFoundError(
            f"A stored vector has {len(blob)} bytes, not a multiple of {row}.",
            field="vector",
            value=len(blob),
            limit=row,
            hint="`reindex` makes it again.",
        )
    return np.frombuffer(blob, dtype=HALF).reshape(-1, dimension).astype(np.float32)


def rows_to_half(vectors: Vectors) -> Sequence[bytes]:
    """`to_half` of each row by itself, as rows of a table want it."""
    return [row.tobytes() for row in np.ascontiguousarray(vectors, dtype=HALF)]
