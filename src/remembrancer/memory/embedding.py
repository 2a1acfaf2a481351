"""What a write needs of the embedder, before its unit opens: vectors, and what lies near them.

An embedder that fails or is slow stops nothing: its texts are stored and marked pending. Nor does
an index that can't be read: near-duplicates by meaning are missed then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from remembrancer.db.database import Database
from remembrancer.embeddings.serving import AskServing, try_passages
from remembrancer.embeddings.worker import Priority
from remembrancer.errors import RemembrancerError
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.memory import nearness
from remembrancer.memory.writing import Vectors
from remembrancer.scope import Scope

NEAR_LIMIT: Final = 8
"""Batches with more new texts than this aren't searched for near-duplicates."""

_log: Final = structlog.get_logger(__name__)


class NewWords:
    """Embeds the new texts of a write, and looks for what is stored near them."""

    def __init__(
        self, db: Database, serving: AskServing, indexes: PersonalIndexes | None = None
    ) -> None:
        self._db = db
        self._serving = serving
        self._indexes = indexes

    async def of(self, scope: Scope, texts: Sequence[str], wait: float) -> Vectors:
        """Vectors of distinct texts, as far as the embedder answers within `wait` seconds."""
        made = await try_passages(self._serving, texts, Priority.WRITE, wait)
        if made is None:
            return Vectors()
        vectors = Vectors(made.serving.space_id, dict(zip(texts, made.vectors, strict=True)))
        indexes = self._indexes
        if indexes is None or len(texts) > NEAR_LIMIT:
            return vectors
        calibrated = nearness.is_calibrated(made.serving.spec)
        try:
            return await self._db.read(
                scope, lambda unit: nearness.around(unit, indexes, vectors, calibrated=calibrated)
            )
        except RemembrancerError as error:
            _log.warning("nearness.failed", code=error.code)
            return vectors
