"""Vectors as 8-bit integers, and the cosine of every one of them with a query. Pure.

A row is scaled so that its largest component is ±127 and rounded; the cosine of two roundings is
within 0.005 of that of the vectors they came from (384 dimensions; tests hold it to 0.01). Products
are sums of integers, so a score is the same on every machine and in every order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import simsimd
from numpy.typing import NDArray

from remembrancer.embeddings.vectors import HALF, from_half
from remembrancer.errors import DamageFoundError, InvalidInputError
from remembrancer.index.growing import ABSENT, Array, Column, Places

Bytes: TypeAlias = NDArray[np.int8]
Floats: TypeAlias = NDArray[np.float32]

SCALE: Final = 127.0
"""The largest component becomes ±127; −128 is never used, so that negation stays exact."""
_AT_ONCE: Final = 1024
"""Rows made from their stored form at a time: what fits a processor's cache."""


def quantise(vectors: Floats) -> Bytes:
    """int8 of the shape of `vectors` (n, d), each row scaled by 127 over its largest component."""
    largest = np.maximum(vectors.max(axis=1, initial=0.0), -vectors.min(axis=1, initial=0.0))
    largest[largest == 0.0] = 1.0
    scaled = vectors * (np.float32(SCALE) / largest)[:, None]
    np.rint(scaled, out=scaled)
    rows: Bytes = scaled.astype(np.int8)
    return rows


def lengths_of(rows: Bytes) -> NDArray[np.float64]:
    """The Euclidean length of each row, shape (n,); 1 for a row of zeros."""
    if len(rows) == 0:
        return np.empty(0)
    lengths = np.sqrt(np.asarray(simsimd.dot(rows, rows), dtype=np.float64).reshape(-1))
    lengths[lengths == 0.0] = 1.0
    return lengths


@dataclass(frozen=True, slots=True)
class Dense:
    """A snapshot of the vectors of n documents."""

    rows: Bytes
    """(r, d), in order of arrival; replaced ones are still there."""
    lengths: Floats
    """(r,)"""
    row_of: Places
    """(n,): each document's row, -1 for none."""

    def cosines(self, vector: Floats) -> Floats:
        """float32 (n,): the cosine of each document with `vector` (d,); nan without a vector.

        Raises `InvalidInputError` for a vector of another dimension.
        """
        if len(self.rows) == 0:
            return np.full(len(self.row_of), np.nan, dtype=np.float32)
        dimension = self.rows.shape[1]
        if vector.shape != (dimension,):
            raise InvalidInputError(
                f"The query's vector has shape {vector.shape}; the index holds {dimension}.",
                field="vector",
                value=str(vector.shape),
                limit=dimension,
                hint="Embed the query in the embedding space the view was asked for.",
            )
        query = quantise(vector.astype(np.float32, copy=False)[None, :])
        products = np.asarray(simsimd.cdist(self.rows, query, "dot", out_dtype="float64"))
        scores = np.empty(len(self.rows) + 1, dtype=np.float32)
        scores[:-1] = products.reshape(-1) / (self.lengths * lengths_of(query)[0])
        scores[ABSENT] = np.nan
        return scores[self.row_of]


class Vectors:
    """The growing side: rows are only ever added, documents are pointed at them."""

    __slots__ = ("_lengths", "_row_of", "_rows", "garbage")

    def __init__(self) -> None:
        self._rows: Column | None = None
        self._lengths = Column(np.float32)
        self._row_of = Column(np.int32)
        self.garbage = 0
        """Rows no document points at any more."""

    @property
    def nbytes(self) -> int:
        rows = 0 if self._rows is None else self._rows.nbytes
        return rows + self._lengths.nbytes + self._row_of.nbytes

    def add_documents(self, count: int) -> None:
        """`count` more documents, without a vector."""
        self._row_of.append(np.full(count, ABSENT, dtype=np.int32))

    def remove(self, documents: Places) -> None:
        """These have no vector any more."""
        having = documents[self._row_of.values[documents] >= 0]
        if len(having):
            self.garbage += len(having)
            self._row_of.put(having, ABSENT)

    def put(self, documents: Places, blobs: Sequence[bytes]) -> None:
        """Give distinct documents their vectors, half precision as stored.

        Raises `DamageFoundError` for a vector that isn't of the dimension of the others.
        """
        for start in range(0, len(blobs), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            self._put(documents[part], blobs[part])

    def freeze(self) -> Dense:
        """A snapshot that no later call changes."""
        none: Array = np.empty((0, 0), dtype=np.int8)
        rows = none if self._rows is None else self._rows.freeze()
        return Dense(rows, self._lengths.freeze(), self._row_of.freeze())

    def _put(self, documents: Places, blobs: Sequence[bytes]) -> None:
        if self._rows is None:
            self._rows = Column(np.int8, len(blobs[0]) // HALF.itemsize)
            self._rows.reserve(len(self._row_of))
        dimension = self._rows.values.shape[1]
        row_bytes = dimension * HALF.itemsize
        for blob in blobs:
            if len(blob) != row_bytes or not blob:
                raise DamageFoundError(
                    f"A stored vector has {len(blob)} bytes, the others {row_bytes}.",
                    field="vector",
                    value=len(blob),
                    limit=row_bytes,
                    hint="`remembrancer reindex` makes it again.",
                )
        rows = quantise(from_half(b"".join(blobs), dimension))
        had = self._row_of.values[documents]
        fresh = had < 0
        known = np.flatnonzero(~fresh)
        fresh[known] = (self._rows.values[had[known]] != rows[known]).any(axis=1)
        self.garbage += int((had[fresh] >= 0).sum())
        first = len(self._rows)
        self._rows.append(rows[fresh])
        self._lengths.append(lengths_of(rows[fresh]))
        places = np.arange(first, len(self._rows), dtype=np.int32)
        self._row_of.put(documents[fresh], places)
