"""The `Embedder` port, and what identifies an embedding space.

One of the three ports. Implementations are synchronous and may block for long: servers reach them
through `worker.EmbeddingWorker`, never from an event loop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from remembrancer.errors import EmbedderError

Vectors: TypeAlias = NDArray[np.float32]
"""float32, shape (n, dimension), each row of Euclidean length 1."""


class Kind(StrEnum):
    """What a text is to the model; retrieval models treat the two sides differently."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class SpaceSpec:
    """An embedding space: vectors of two different ones must never be compared."""

    model: str
    revision: str
    """A digest of the weights, or the model's name where the weights can't be seen (HTTP)."""
    dimension: int
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 0
    """What of one passage reaches the model, in its tokens; 0: the provider's own limit."""
    window: str = ""
    """How a longer text is cut; empty: not by this side."""
    external: bool = False
    """Texts leave this machine and its private network. No part of `key`."""

    @property
    def key(self) -> str:
        """32 hex digits over everything that decides a vector; stable between processes."""
        parts = (
            self.model,
            self.revision,
            self.dimension,
            self.query_prefix,
            self.passage_prefix,
            self.max_tokens,
            self.window,
        )
        text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


class Embedder(Protocol):
    """Turns texts into unit vectors of one space."""

    @property
    def spec(self) -> SpaceSpec:
        """The space. May block at first (weights are hashed, a dimension is asked for).

        Raises `EmbedderUnavailableError` when it can't be known yet.
        """
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension), in the order of `texts`.

        Raises `EmbedderUnavailableError` (down, slow), `ModelMissingError` (not installed) or
        another `EmbedderError` (an answer that can't be used).
        """
        ...

    def close(self) -> None:
        """Lets go of model and connections; idempotent."""
        ...


def clean(text: str) -> str:
    """`text` as models can take it: no NUL, no lone surrogate, white space runs as one space.

    A NUL ends the input of engines written in C, and a lone surrogate has no UTF-8 form.
    """
    whole = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return " ".join(whole.split())


def normalised(vectors: NDArray[np.floating[Any]], *, source: str) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero. `EmbedderError` for a NaN or an infinity."""
    if not bool(np.isfinite(vectors).all()):
        raise EmbedderError(f"{source} returned a vector that holds NaN or infinity.")
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    unit: Vectors = (wide / lengths).astype(np.float32)
    return unit
