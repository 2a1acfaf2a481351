"""How much one person's memory holds and what of it waits: counts, never contents."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.db.units import Unit
from remembrancer.jobs import queue
from remembrancer.library.engine import Engine
from remembrancer.scope import Scope


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of documents, of those without a vector, and of open jobs; sizes in bytes.

    `stored_bytes` is None where a store can't tell one person's part.
    """

    documents: int
    index_bytes: int
    pending: int
    jobs: int
    stored_bytes: int | None


def figures_of(engine: Engine, scope: Scope) -> Figures:
    """Load the person's index and count. Blocks; raises `StoreError`."""
    space = engine.space()
    stored = engine.db.backend.size(scope)

    def work(unit: Unit) -> Figures:
        view = engine.indexes.view(unit, space)
        return Figures(
            documents=view.size,
            index_bytes=view.nbytes,
            pending=int((view.pending & view.live_documents).sum()),
            jobs=len(queue.open_jobs(unit)),
            stored_bytes=stored,
        )

    return engine.db.read_now(scope, work)
