"""Which embedding space serves, and vectors of passages made in it.

Everybody who stores vectors asks here, so that an embedder which is down, slow or switched off is
met in one way: nothing is made, a line is logged, and the caller goes on without.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog

from remembrancer.db.database import Database
from remembrancer.embeddings.base import Kind, SpaceSpec
from remembrancer.embeddings.factory import NoEmbedder
from remembrancer.embeddings.spaces import serving_ids, space_id
from remembrancer.embeddings.vectors import rows_to_half
from remembrancer.embeddings.worker import EmbeddingWorker, Priority
from remembrancer.errors import EmbedderError

_log: Final = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Serving:
    """The embedding space that serves, and the worker whose vectors belong to it."""

    worker: EmbeddingWorker
    space_id: int
    spec: SpaceSpec

    async def passages(
        self, texts: Sequence[str], priority: Priority, timeout: float
    ) -> Sequence[bytes]:
        """A vector of each text, in half precision. `EmbedderError` when there is none in time."""
        made = await self.worker.embed(texts, Kind.PASSAGE, priority=priority, timeout=timeout)
        return rows_to_half(made)


AskServing: TypeAlias = Callable[[], Awaitable[Serving | None]]
"""Says what serves, off the event loop; None where embedding is switched off."""


@dataclass(frozen=True, slots=True)
class Passages:
    """Vectors of some texts, in their order, and what made them."""

    serving: Serving
    vectors: Sequence[bytes]


async def try_passages(
    ask: AskServing, texts: Sequence[str], priority: Priority, timeout: float
) -> Passages | None:
    """`Serving.passages` within `timeout` seconds, or None: no texts, no embedder, no answer."""
    if not texts:
        return None
    try:
        async with asyncio.timeout(timeout):
            serving = await ask()
            if serving is None:
                return None
            return Passages(serving, await serving.passages(texts, priority, timeout))
    except EmbedderError as error:
        code = error.code
    except TimeoutError:
        code = "timeout"
    _log.warning("embedder.failed", code=code, pending=len(texts))
    return None


class SpaceInUse:
    """Which embedding space new vectors belong to; asked of the embedder once it answers."""

    def __init__(self, db: Database, worker: EmbeddingWorker) -> None:
        self._db = db
        self._worker = worker
        self._lock = threading.Lock()
        self._serving: Serving | None = None

    def now(self) -> Serving:
        """The space that serves. May block; raises `EmbedderError` while it can't be said."""
        with self._lock:
            if self._serving is None:
                spec = self._worker.embedder.spec
                self._serving = Serving(self._worker, space_id(self._db, spec), spec)
            return self._serving

    async def serving(self) -> Serving | None:
        """`now`, off the event loop; None where embedding is switched off."""
        if isinstance(self._worker.embedder, NoEmbedder):
            return None
        return self._serving or await asyncio.to_thread(self.now)

    async def known(self) -> Sequence[int]:
        """The spaces that may serve, without asking the embedder: for reading.

        One once it has answered in this process, until then all that the store knows.
        """
        if self._serving is not None:
            return (self._serving.space_id,)
        return await self._db.call(lambda: serving_ids(self._db))

    def __call__(self) -> int | None:
        """The space's id in this store; None while the embedder can't say. May block."""
        try:
            return self.now().space_id
        except EmbedderError:
            return None
