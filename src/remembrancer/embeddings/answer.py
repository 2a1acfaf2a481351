"""Reading an embeddings answer in OpenAI's form, trusting none of it. Pure."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembrancer.embeddings.base import Vectors, normalised
from remembrancer.errors import EmbedderError


def parse_answer(body: object, count: int, dimension: int | None, *, source: str) -> Vectors:
    """Unit vectors (count, dimension) in the order of the inputs.

    An embedding is a list of numbers or base64 of little-endian float32. `EmbedderError` for a
    missing, repeated or malformed one, another dimension, NaN, infinity or only zeros.
    """
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or len(data) != count:
        given = len(data) if isinstance(data, list) else "no"
        raise EmbedderError(
            f"{source} returned {given} embeddings for {count} texts.", value=given, limit=count
        )
    rows: dict[int, NDArray[np.float64]] = {}
    for place, item in enumerate(data):
        index = item.get("index", place) if isinstance(item, dict) else None
        if not isinstance(index, int) or not 0 <= index < count or index in rows:
            raise EmbedderError(f"{source} numbered its embeddings wrongly.", limit=count)
        rows[index] = _numbers(item.get("embedding"), source)
    expected = dimension or rows[0].size
    for row in rows.values():
        if row.size != expected:
            raise EmbedderError(
                f"{source} returned a vector of {row.size} numbers, not {expected}.",
                field="dimension",
                value=row.size,
                limit=expected,
                hint="Its model is not the configured one; another model needs `reindex`.",
            )
    vectors = normalised(np.stack([rows[at] for at in range(count)]), source=source)
    if not bool(vectors.any(axis=1).all()):
        raise EmbedderError(f"{source} returned a vector of zeros.")
    return vectors


def _numbers(value: Any, source: str) -> NDArray[np.float64]:
    try:
        if isinstance(value, str):
            raw = base64.b64decode(value, validate=True)
            found = np.frombuffer(raw, dtype="<f4").astype(np.float64)
        else:
            found = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        raise EmbedderError(f"{source} returned an embedding that is not numbers.") from None
    if found.ndim != 1 or found.size == 0:
        raise EmbedderError(f"{source} returned an embedding that is not a list of numbers.")
    return found
