"""One store, opened: its database, embedder, indexes and services, wired together.

The library and the command line stand on it; so will servers and workers. It decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import cast

from remembrancer import clock
from remembrancer.accounts.models import Removal
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
    make_embedder,
)
from remembrancer.embeddings.serving import SpaceInUse
from remembrancer.embeddings.worker import EmbeddingWorker, Priority
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.memory import orphaning, reindexing
from remembrancer.memory import source as memory_source
from remembrancer.memory.reindexing import Done
from remembrancer.memory.service import MemoryService
from remembrancer.recall.service import RecallService
from remembrancer.scope import Actor, Scope

MEGABYTE = 1024 * 1024
PROBE = "Is anybody there?"
"""What the embedder is asked before something rests on its answer."""


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
            self.db, self.space.serving, edited_away=orphaning.settle_edited_away
        )
        self.recall = RecallService(self.db, self.indexes, self.space.serving)

    @classmethod
    def from_config(cls, config: Config, *, embedder: Embedder | None = None) -> Engine:
        """The engine that the settings describe; a given embedder takes the place of theirs."""
        return cls(
            config.data,
            database_url=config.text("database_url"),
            migration_url=config.text("migration_url"),
            embedder=embedder or make_embedder(embedder_settings(config)),
            index_megabytes=config.number("index_megabytes") or 512,
        )

    async def reindex(
        self, scope: Scope, *, pending: bool = True, progress: Callable[[int], None] | None = None
    ) -> Done:
        """Complete what lacks a vector, or make everything derived of one person's again.

        The embedder is asked first: one that doesn't answer costs nothing that is there.
        """
        serving = await asyncio.to_thread(self.space.now)
        await self.worker.embed([PROBE], TextKind.PASSAGE, priority=Priority.BACKGROUND, timeout=60)
        parts = (self.db, serving, scope)
        if pending:
            return Done(terms=0, vectors=await reindexing.complete(*parts, progress=progress))
        return await reindexing.rebuild(*parts, progress=progress)

    def remove_person(self, email: str, by: Actor) -> Removal:
        """Remove a person and everything of theirs, in memory too. Blocks."""
        removal = self.accounts.remove(email, by)
        self.indexes.drop(removal.user_id)
        self.worker.drop_queries()
        return removal

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
