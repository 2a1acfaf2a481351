"""What a write needs of the embedder, before its unit opens: vectors, and what lies near them.

An embedder that fails or is slow stops nothing: its texts are stored and marked pending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import structlog

from remembrancer.db.database import Database
from remembrancer.embeddings.base import Kind
from remembrancer.embeddings.vectors import rows_to_half
from remembrancer.embeddings.worker import EmbeddingWorker, Priority
from remembrancer.errors import EmbedderError
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.memory import nearness
from remembrancer.memory.writing import Vectors
from remembrancer.scope import Scope

NEAR_LIMIT: Final = 8
"""Batches with more new texts than this aren't searched for near-duplicates."""

_log: Final = structlog.get_logger(__name__)


class NewWords:
    """Embeds the new texts of a write. `embedding_space` is asked once the embedder answered."""

    def __init__(
        self,
        db: Database,
        worker: EmbeddingWorker | None,
        embedding_space: Callable[[], int | None],
        indexes: PersonalIndexes | None,
    ) -> None:
        self._db = db
        self._worker = worker
        self._embedding_space = embedding_space
        self._indexes = indexes

    async def of(self, scope: Scope, texts: Sequence[str], wait: float) -> Vectors:
        """Vectors of distinct texts, as far as the embedder answers within `wait` seconds."""
        worker = self._worker
        if worker is None or not texts:
            return Vectors()
        try:
            made = await worker.embed(texts, Kind.PASSAGE, priority=Priority.WRITE, timeout=wait)
        except EmbedderError as error:
            _log.warning("embedder.failed", code=error.code, pending=len(texts))
            return Vectors()
        space = await self._db.call(self._embedding_space)
        if space is None:
            return Vectors()
        vectors = Vectors(space, dict(zip(texts, rows_to_half(made), strict=True)))
        indexes = self._indexes
        if indexes is None or len(texts) > NEAR_LIMIT:
            return vectors
        calibrated = nearness.is_calibrated(worker.embedder.spec)
        return await self._db.read(
            scope, lambda unit: nearness.around(unit, indexes, vectors, calibrated=calibrated)
        )
