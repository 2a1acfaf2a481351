"""A deterministic embedder for tests and benchmarks. Not for use: it knows letters, not meaning.

Each character trigram of the lower-cased, space-padded text is hashed (CRC-32 of its UTF-8); the
hash modulo the dimension picks the component, bit 20 its sign (the hashing trick: Weinberger et
al., 2009). Texts that share trigrams are near, all others nearly orthogonal, so a test can predict
what is found. Same vectors on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from remembrancer.embeddings.base import Kind, SpaceSpec, Vectors, clean, normalised

_SIGN_BIT: Final = 1 << 20


class TrigramEmbedder:
    """Hashed character trigrams; both kinds alike. Needs no model and no network."""

    def __init__(self, dimension: int = 384) -> None:
        self._spec = SpaceSpec(model="trigram", revision="1", dimension=dimension)

    @property
    def spec(self) -> SpaceSpec:
        return self._spec

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:  # noqa: ARG002  # both alike
        """Unit rows; a text without a trigram (an empty one) is a zero row."""
        found = np.zeros((len(texts), self._spec.dimension), dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            padded = f" {clean(text).lower()} "
            grams = [padded[at : at + 3].encode() for at in range(len(padded) - 2)]
            hashes = np.fromiter(map(zlib.crc32, grams), dtype=np.uint32, count=len(grams))
            signs = np.where(hashes & _SIGN_BIT, np.float32(1), np.float32(-1))
            np.add.at(row, hashes % self._spec.dimension, signs)
        return normalised(found, source="The trigram embedder")

    def close(self) -> None:
        """Nothing is held."""
