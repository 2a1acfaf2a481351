"""What waits for the embedder: requests, their texts, their order. Not safe by itself.

`worker.EmbeddingWorker` holds the lock around everything of `Waiting`; `Slot` and `Request` are
finished by its thread alone, but for requests that were whole when they came.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer.embeddings.base import Kind, Vectors
from remembrancer.errors import EmbedderError

QUICK_SECONDS: Final = 0.1
"""What a batch may take: a query that comes just after waits that long. A quarter of recall's
deadline of 0.4 s."""
SLACK: Final = 1.5
"""Or this many times what one text alone takes, where a call costs much whatever is in it."""
REST: Final = 16
"""Calls after a slow one before a larger batch is tried again."""

Vector = NDArray[np.float32]


class Priority(IntEnum):
    """The smaller goes first."""

    QUERY = 0
    """Somebody waits for a recall."""
    WRITE = 1
    """Somebody waits for an add."""
    BACKGROUND = 2
    """Nobody waits: pending vectors, re-embedding, import."""


class Request:
    """One caller's texts; its future is done when each has its vector."""

    def __init__(self, future: Future[Vectors], count: int) -> None:
        self._future = future
        self._rows: list[Vector | None] = [None] * count
        self._missing = count
        self._lock = threading.Lock()

    @property
    def wanted(self) -> bool:
        """Somebody still waits for it."""
        return not self._future.done()

    def put(self, place: int, vector: Vector) -> None:
        with self._lock:
            if self._rows[place] is None:
                self._missing -= 1
            self._rows[place] = vector

    def finish_if_whole(self) -> None:
        """Sets the result once nothing is missing; a cancelled or failed one stays as it is."""
        with self._lock:
            rows = [row for row in self._rows if row is not None]
            if self._missing or not self.wanted:
                return
            if self._future.set_running_or_notify_cancel():
                self._future.set_result(np.stack(rows))

    def fail(self, error: EmbedderError) -> None:
        with self._lock:
            if self.wanted and self._future.set_running_or_notify_cancel():
                self._future.set_exception(error)


class Slot:
    """One text that waits or is being embedded, and all the requests it is part of."""

    def __init__(self, text: str, kind: Kind, priority: Priority) -> None:
        self.text = text
        self.kind = kind
        self.priority = priority
        self.requests: list[tuple[Request, int]] = []

    @property
    def wanted(self) -> bool:
        return any(request.wanted for request, _ in self.requests)

    def give(self, vector: Vector) -> None:
        for request, place in self.requests:
            request.put(place, vector)
            request.finish_if_whole()

    def fail(self, error: EmbedderError) -> None:
        for request, _ in self.requests:
            request.fail(error)


class _Pace:
    """How many texts one call takes: doubled while calls stay quick, halved when they don't."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._alone = 0.0
        self._rest = 0
        self.size = 1

    def measured(self, count: int, seconds: float) -> None:
        if count == 1:
            self._alone = seconds
        if seconds > max(QUICK_SECONDS, SLACK * self._alone):
            self.size = max(1, self.size // 2)
            self._rest = REST
        elif self._rest:
            self._rest -= 1
        elif count >= self.size:
            self.size = min(self._most, self.size * 2)


class Waiting:
    """The queues, one per priority; texts under way; vectors of the latest queries.

    The vectors are kept by a digest of the query under a key of this process's own, so that no
    text outlives its embedding.
    """

    def __init__(self, *, limit: int, batch: int, cached: int) -> None:
        self.limit = limit
        self._queues = {priority: deque[Slot]() for priority in Priority}
        self._slots: dict[tuple[Kind, str], Slot] = {}
        self._paces = {priority: _Pace(batch) for priority in Priority}
        self._cached = cached
        self._secret = secrets.token_bytes(32)
        self._cache: OrderedDict[bytes, Vector] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, request: Request, texts: Sequence[str], kind: Kind, priority: Priority) -> bool:
        """Queues what is neither cached nor under way; False, changing nothing, when too many."""
        keys = {(kind, text) for text in texts}
        fresh = [key for key in keys if key not in self._slots and not self._is_cached(*key)]
        if fresh and len(self._queues[priority]) + len(fresh) > self.limit:
            return False
        for place, text in enumerate(texts):
            if self._is_cached(kind, text):
                key = self._key(text)
                self._cache.move_to_end(key)
                request.put(place, self._cache[key])
            else:
                self._slot(text, kind, priority).requests.append((request, place))
        return True

    def take(self) -> tuple[Kind, list[Slot]]:
        """The next call's texts: of the most urgent priority, of one kind, oldest first."""
        for priority, queue in self._queues.items():
            taken: list[Slot] = []
            while queue and len(taken) < self._paces[priority].size:
                if taken and queue[0].kind is not taken[0].kind:
                    break
                slot = queue.popleft()
                if slot.wanted:
                    taken.append(slot)
                else:
                    del self._slots[slot.kind, slot.text]
            if taken:
                return taken[0].kind, taken
        return Kind.QUERY, []

    def leave(self, slots: Sequence[Slot], vectors: Vectors | None) -> None:
        """These are done (None: failed). Later requests for them start anew, or hit the cache."""
        for place, slot in enumerate(slots):
            self._slots.pop((slot.kind, slot.text), None)
            if vectors is not None and slot.kind is Kind.QUERY:
                key = self._key(slot.text)
                self._cache[key] = vectors[place].copy()
                self._cache.move_to_end(key)
        while len(self._cache) > self._cached:
            self._cache.popitem(last=False)

    def measured(self, slots: Sequence[Slot], seconds: float) -> None:
        self._paces[slots[0].priority].measured(len(slots), seconds)

    def drop_cached(self) -> None:
        """No query's vector is kept any longer."""
        self._cache.clear()

    def drain(self) -> list[Slot]:
        """Everything that waits, taken out."""
        left = [slot for queue in self._queues.values() for slot in queue]
        for queue in self._queues.values():
            queue.clear()
        for slot in left:
            self._slots.pop((slot.kind, slot.text), None)
        return left

    def _is_cached(self, kind: Kind, text: str) -> bool:
        return kind is Kind.QUERY and self._key(text) in self._cache

    def _key(self, text: str) -> bytes:
        encoded = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(encoded, digest_size=16, key=self._secret).digest()

    def _slot(self, text: str, kind: Kind, priority: Priority) -> Slot:
        slot = self._slots.get((kind, text))
        if slot is None:
            slot = self._slots[kind, text] = Slot(text, kind, priority)
            self._queues[priority].append(slot)
        elif priority < slot.priority:
            self._hurry(slot, priority)
        return slot

    def _hurry(self, slot: Slot, priority: Priority) -> None:
        """Somebody waits for it now. One under way is in no queue, and stays so."""
        if slot in self._queues[slot.priority]:
            self._queues[slot.priority].remove(slot)
            slot.priority = priority
            self._queues[priority].append(slot)
