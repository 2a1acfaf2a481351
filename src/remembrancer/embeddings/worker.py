"""The one thread that embeds, and the bounded queue before it.

Models are slow and want their threads to themselves, so everything in a process goes through here:
queries before writes before background work, identical texts once, the last queries' vectors kept.
Usable from any thread and any event loop at once. It retries nothing: the next call does.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

import numpy as np

from remembrancer.embeddings.base import Embedder, Kind, Vectors
from remembrancer.embeddings.queue import Priority, Request, Slot, Waiting
from remembrancer.errors import EmbedderError, EmbedderUnavailableError, ModelMissingError

__all__ = ["EmbedderState", "EmbeddingWorker", "Priority"]

QUEUE_LIMIT: Final = 1024
BATCH: Final = 16
CACHED_QUERIES: Final = 256
"""At 384 dimensions 0.4 MB."""
CLOSE_SECONDS: Final = 15.0
"""How long `close` waits for a call that is under way."""


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """For `doctor` and the health check."""

    ok: bool
    """Open, and its last call succeeded (or none was made yet)."""
    last_error: str | None
    """The last call's failure; None once one succeeds. Holds no text that was embedded."""
    queued: int
    loaded: bool
    """A call has succeeded: the model is in memory, or the service has answered."""


class EmbeddingWorker:
    """Runs `embedder` on one owned thread, which starts with the first request.

    `queue_limit` texts may wait per priority, so background work can't crowd out a query. `batch`
    is the most texts of one call; how many are really taken follows the measured time.
    """

    def __init__(
        self, embedder: Embedder, *, queue_limit: int = QUEUE_LIMIT, batch: int = BATCH
    ) -> None:
        self.embedder = embedder
        self._ready = threading.Condition()
        self._waiting = Waiting(limit=queue_limit, batch=batch, cached=CACHED_QUERIES)
        self._thread: threading.Thread | None = None
        self._closed = False
        self._last_error: str | None = None
        self._loaded = False

    @property
    def state(self) -> EmbedderState:
        with self._ready:
            return EmbedderState(
                ok=self._last_error is None and not self._closed,
                last_error=self._last_error,
                queued=len(self._waiting),
                loaded=self._loaded,
            )

    def submit(
        self, texts: Sequence[str], kind: Kind, priority: Priority = Priority.WRITE
    ) -> Future[Vectors]:
        """A future of unit vectors (n, dimension); it raises what the embedder raised.

        Refused (in the future, with `EmbedderUnavailableError`) when closed or over the limit.
        """
        future: Future[Vectors] = Future()
        request = Request(future, len(texts))
        refusal: EmbedderError | None = None
        with self._ready:
            if self._closed:
                refusal = EmbedderUnavailableError("The embedder is closed.")
            elif not self._waiting.add(request, texts, kind, priority):
                refusal = EmbedderUnavailableError(
                    f"The embedder's queue is full: {self._waiting.limit} texts wait.",
                    limit=self._waiting.limit,
                    hint="Try again later, with fewer texts at once.",
                )
            else:
                self._wake()
        if refusal is not None:
            future.set_exception(refusal)
        elif not texts:
            future.set_result(np.zeros((0, 0), dtype=np.float32))
        else:
            request.finish_if_whole()
        return future

    async def embed(
        self,
        texts: Sequence[str],
        kind: Kind,
        *,
        priority: Priority = Priority.WRITE,
        timeout: float,
    ) -> Vectors:
        """`submit`, awaited for `timeout` seconds at most.

        Every failure is an `EmbedderUnavailableError` (its cause is the embedder's own error).
        Cancelling is safe: what nobody waits for any more is not embedded.
        """
        future = self.submit(texts, kind, priority)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        except TimeoutError:
            raise _too_slow(timeout) from None
        except EmbedderError as error:
            raise _unavailable(error) from error

    def embed_blocking(
        self,
        texts: Sequence[str],
        kind: Kind,
        *,
        priority: Priority = Priority.WRITE,
        timeout: float,
    ) -> Vectors:
        """`embed` for a thread without an event loop. Never call it on one that has."""
        future = self.submit(texts, kind, priority)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise _too_slow(timeout) from None
        except EmbedderError as error:
            raise _unavailable(error) from error

    def drop_queries(self) -> None:
        """Let go of the vectors of earlier queries: one may be of what was just forgotten."""
        with self._ready:
            self._waiting.drop_cached()

    def close(self) -> None:
        """Refuses what waits, lets the call under way end, joins the thread. Idempotent."""
        with self._ready:
            self._closed = True
            slots = self._waiting.drain()
            self._ready.notify_all()
        reason = EmbedderUnavailableError("The embedder is closed.")
        for slot in slots:
            slot.fail(reason)
        self.embedder.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    def _wake(self) -> None:
        """Starts the thread if need be, and tells it of work. Called with the lock held."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="embedder", daemon=True)
            self._thread.start()
        self._ready.notify()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._closed or self._waiting)
                if self._closed:
                    return
                kind, slots = self._waiting.take()
            if slots:
                self._serve(kind, slots)

    def _serve(self, kind: Kind, slots: list[Slot]) -> None:
        began = time.perf_counter()
        try:
            vectors = self._call([slot.text for slot in slots], kind)
        except (EmbedderUnavailableError, ModelMissingError) as error:
            self._settle(slots, error)
        except EmbedderError as error:
            if len(slots) == 1:
                self._settle(slots, error)
            else:  # One text may have spoilt the call for the others.
                for slot in slots:
                    self._serve(kind, [slot])
        else:
            self._waiting.measured(slots, time.perf_counter() - began)
            self._settle(slots, vectors)

    def _settle(self, slots: list[Slot], outcome: Vectors | EmbedderError) -> None:
        """Hands each waiter its vector or the error; callbacks run without the lock."""
        with self._ready:
            self._waiting.leave(slots, None if isinstance(outcome, EmbedderError) else outcome)
        for place, slot in enumerate(slots):
            if isinstance(outcome, EmbedderError):
                slot.fail(outcome)
            else:
                slot.give(outcome[place])

    def _call(self, texts: list[str], kind: Kind) -> Vectors:
        """The embedder's answer; whatever it raises comes out as an `EmbedderError`."""
        try:
            vectors = self.embedder.embed(texts, kind)
            _check(vectors, texts, self.embedder.spec.dimension)
        except EmbedderError as error:
            self._note(str(error))
            raise
        except Exception as error:
            name = type(error).__name__  # Its message might quote the text.
            wrapped = EmbedderError(f"The embedder failed with {name}.", value=name)
            self._note(str(wrapped))
            raise wrapped from error
        self._note(None)
        return vectors

    def _note(self, error: str | None) -> None:
        with self._ready:
            self._last_error = error
            self._loaded = self._loaded or error is None


def _check(vectors: Vectors, texts: Sequence[str], dimension: int) -> None:
    """An `EmbedderError` for what is no answer: such vectors would be stored as if they were.

    A vector of length zero is one only for a text without a letter or digit.
    """
    if len(vectors) != len(texts):
        raise EmbedderError(
            f"The embedder returned {len(vectors)} vectors for {len(texts)} texts.",
            value=len(vectors),
            limit=len(texts),
        )
    if np.shape(vectors) != (len(texts), dimension):
        raise EmbedderError(
            f"The embedder returned vectors of another dimension than {dimension}.",
            value=str(np.shape(vectors)),
            limit=dimension,
        )
    if not np.isfinite(vectors).all():
        raise EmbedderError("The embedder returned a vector that is not finite.")
    saying = np.fromiter((any(map(str.isalnum, each)) for each in texts), bool, len(texts))
    if not np.any(vectors, axis=1)[saying].all():
        raise EmbedderError("The embedder returned a vector of length zero.")


def _too_slow(timeout: float) -> EmbedderUnavailableError:
    return EmbedderUnavailableError(
        f"The embedder did not answer within {timeout:g} s.", limit=timeout
    )


def _unavailable(error: EmbedderError) -> EmbedderUnavailableError:
    """One type for every failure, so that callers have one thing to degrade on."""
    if isinstance(error, EmbedderUnavailableError):
        return error
    return EmbedderUnavailableError(
        error.message, field=error.field, value=error.value, limit=error.limit, hint=error.hint
    )
