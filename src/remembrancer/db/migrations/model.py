"""Every table of the project, imported so that the two metadata objects are whole."""

from __future__ import annotations

from typing import Final

from remembrancer.accounts import tables as accounts
from remembrancer.conversations import tables as conversations
from remembrancer.db.tables import personal, system
from remembrancer.embeddings import tables as embeddings
from remembrancer.events import tables as events
from remembrancer.index import tables as index
from remembrancer.jobs import tables as jobs
from remembrancer.memory import tables as memory
from remembrancer.policy import tables as policy
from remembrancer.tombstones import tables as tombstones

__all__ = ["DOMAINS", "personal", "system"]

DOMAINS: Final = (
    accounts,
    conversations,
    embeddings,
    events,
    index,
    jobs,
    memory,
    policy,
    tombstones,
)
"""The modules that declare tables; a test finds one that is missing."""
