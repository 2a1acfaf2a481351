"""One store, opened: its database, embedder, indexes and services, wired together.

The library and the command line stand on it; so will servers and workers. It decides nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

from remembrancer import clock
from remembrancer.accounts.service import Accounts
from remembrancer.clock import Instant
from remembrancer.config import Config
from remembrancer.conversations import source as conversations_source
from remembrancer.conversations.service import ConversationService
from remembrancer.db.database import Database, open_backend
from remembrancer.embeddings.base import Embedder
from remembrancer.embeddings.base import Kind as TextKind
from remembrancer.embeddings.factory import (
    EmbedderKind,
    EmbedderSettings,
    NoEmbedder,
    make_embedder,
)
from remembrancer.embeddings.spaces import space_id
from remembrancer.embeddings.worker import EmbeddingWorker, Priority
from remembrancer.errors import EmbedderError
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.memory import orphaning, reindexing
from remembrancer.memory import source as memory_source
from remembrancer.memory.reindexing import Done
from remembrancer.memory.service import MemoryService
from remembrancer.recall.service import RecallService, Serving
from remembrancer.scope import Scope

MEGABYTE = 1024 * 1024
PROBE = "Is anybody there?"
"""What the embedder is asked before something rests on its answer."""


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

    def __call__(self) -> int | None:
        """The space's id in this store; None while the embedder can't say which it is."""
        try:
            return self.now().space_id
        except EmbedderError:
            return None


class Engine:
    """Everything of one store. `close()` it."""

    def __init__(
        self,
        data: Path,
        *,
        database_url: str | None = None,
        migration_url: str | None = None,
        embedder: Embedder | None = None,
        index_megabytes: int = 512,
        now: Callable[[], Instant] = clock.now,
    ) -> None:
        self.db = Database(open_backend(data, database_url, migration_url), now=now)
        self.embedder = embedder or make_embedder(EmbedderSettings())
        self.worker = EmbeddingWorker(self.embedder)
        self.space = SpaceInUse(self.db, self.worker)
        self.indexes = PersonalIndexes(
            [memory_source.SOURCE, conversations_source.SOURCE],
            budget_bytes=index_megabytes * MEGABYTE,
        )
        self.accounts = Accounts(self.db)
        self.memory = MemoryService(self.db, self.worker, self.space, self.indexes)
        self.conversations = ConversationService(
            self.db, self.worker, self.space, edited_away=orphaning.settle_edited_away
        )
        self.recall = RecallService(self.db, self.indexes, self.space.serving)

    @classmethod
    def from_config(cls, config: Config) -> Engine:
        """The engine that the settings describe."""
        return cls(
            config.data,
            database_url=config.text("database_url"),
            migration_url=config.text("migration_url"),
            embedder=make_embedder(embedder_settings(config)),
            index_megabytes=config.number("index_megabytes") or 512,
        )

    async def reindex(
        self, scope: Scope, *, pending: bool = True, progress: Callable[[int], None] | None = None
    ) -> Done:
        """Complete what lacks a vector, or make everything derived of one person's again.

        The embedder is asked first: one that doesn't answer costs nothing that is there.
        """
        space = (await asyncio.to_thread(self.space.now)).space_id
        await self.worker.embed([PROBE], TextKind.PASSAGE, priority=Priority.BACKGROUND, timeout=60)
        parts = (self.db, self.worker, space, scope)
        if pending:
            return Done(terms=0, vectors=await reindexing.complete(*parts, progress=progress))
        return await reindexing.rebuild(*parts, progress=progress)

    def close(self) -> None:
        """Stop the embedder's thread, finish what is under way, close every connection."""
        self.worker.close()
        self.db.close()


def embedder_settings(config: Config) -> EmbedderSettings:
    """What the settings say of the embedder."""
    return EmbedderSettings(
        kind=cast(EmbedderKind, config.text("embedder") or "local"),
        url=config.text("embedder_url"),
        model=config.text("embedder_model"),
        api_key=config.text("embedder_key"),
        dimension=config.number("embedder_dimension"),
        query_prefix=config.text("embedder_query_prefix") or "",
        passage_prefix=config.text("embedder_passage_prefix") or "",
        threads=config.number("embedder_threads") or 1,
    )
