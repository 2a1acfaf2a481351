"""The embedding thread: order, limits, sharing, failures, several loops."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from remembrancer.embeddings.base import Kind, Vectors
from remembrancer.embeddings.queue import _Pace
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.embeddings.worker import EmbeddingWorker, Priority
from remembrancer.errors import EmbedderError, EmbedderUnavailableError, ModelMissingError

PLAIN = TrigramEmbedder(32)


class Gated(TrigramEmbedder):
    """Trigrams that wait at a gate, record their calls and fail on request."""

    def __init__(self) -> None:
        super().__init__(32)
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.calls: list[tuple[Kind, list[str]]] = []
        self.errors: list[Exception] = []
        self.poison: str | None = None
        self.closed = 0
        self.threads: set[int] = set()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.threads.add(threading.get_ident())
        self.calls.append((kind, list(texts)))
        self.entered.set()
        assert self.gate.wait(10)
        if self.errors:
            raise self.errors.pop(0)
        if self.poison in texts:
            raise ValueError(f"cannot embed {self.poison}")
        return super().embed(texts, kind)

    def close(self) -> None:
        self.closed += 1

    def texts(self) -> list[str]:
        return [text for _, texts in self.calls for text in texts]


@pytest.fixture
def embedder() -> Gated:
    return Gated()


@pytest.fixture
def worker(embedder: Gated) -> Iterator[EmbeddingWorker]:
    made = EmbeddingWorker(embedder, queue_limit=8)
    yield made
    embedder.gate.set()
    made.close()


def hold(worker: EmbeddingWorker, embedder: Gated) -> None:
    """Keeps the thread busy with one text, so that what follows waits."""
    embedder.gate.clear()
    embedder.entered.clear()
    worker.submit(["held"], Kind.PASSAGE, Priority.BACKGROUND)
    assert embedder.entered.wait(5)


def same(found: Vectors, texts: list[str]) -> bool:
    return bool(np.allclose(found, PLAIN.embed(texts, Kind.PASSAGE), atol=1e-6))


def test_vectors_come_in_order_with_repeats_embedded_once(worker, embedder):
    texts = ["one two", "three four", "one two", "five"]
    assert same(worker.embed_blocking(texts, Kind.PASSAGE, timeout=5), texts)
    assert sorted(embedder.texts()) == ["five", "one two", "three four"]
    assert len(worker.embed_blocking([], Kind.PASSAGE, timeout=5)) == 0


def test_urgent_goes_first(worker, embedder):
    hold(worker, embedder)
    futures = [
        worker.submit(["later"], Kind.PASSAGE, Priority.BACKGROUND),
        worker.submit(["write"], Kind.PASSAGE, Priority.WRITE),
        worker.submit(["question"], Kind.QUERY, Priority.QUERY),
    ]
    embedder.gate.set()
    for future in futures:
        future.result(5)
    assert embedder.texts() == ["held", "question", "write", "later"]


def test_a_waiting_text_is_hurried_by_a_more_urgent_request(worker, embedder):
    hold(worker, embedder)
    slow = worker.submit(["a", "b"], Kind.PASSAGE, Priority.BACKGROUND)
    fast = worker.submit(["b"], Kind.PASSAGE, Priority.WRITE)
    embedder.gate.set()
    assert same(fast.result(5), ["b"])
    assert same(slow.result(5), ["a", "b"])
    assert embedder.texts() == ["held", "b", "a"]


def test_identical_texts_under_way_are_shared(worker, embedder):
    hold(worker, embedder)
    futures = [worker.submit(["held"], Kind.PASSAGE, Priority.WRITE) for _ in range(3)]
    embedder.gate.set()
    assert all(same(future.result(5), ["held"]) for future in futures)
    assert embedder.texts() == ["held"]


def test_query_vectors_are_kept_and_passages_are_not(worker, embedder):
    for _ in range(2):
        worker.embed_blocking(["where do I live"], Kind.QUERY, timeout=5)
        worker.embed_blocking(["I live here"], Kind.PASSAGE, timeout=5)
    assert embedder.texts().count("where do I live") == 1
    assert embedder.texts().count("I live here") == 2
    first = worker.embed_blocking(["where do I live"], Kind.QUERY, timeout=5)
    first[:] = 0
    again = worker.embed_blocking(["where do I live"], Kind.QUERY, timeout=5)
    assert same(again, ["where do I live"])


def test_the_cache_forgets_the_least_recent(worker, embedder):
    for number in range(257):
        worker.embed_blocking([f"q{number}"], Kind.QUERY, timeout=5)
        worker.embed_blocking(["q0"], Kind.QUERY, timeout=5)
    worker.embed_blocking(["q1"], Kind.QUERY, timeout=5)
    assert embedder.texts().count("q0") == 1
    assert embedder.texts().count("q1") == 2


def test_a_full_queue_refuses_background_but_still_takes_a_query(worker, embedder):
    hold(worker, embedder)
    kept = worker.submit([f"t{n}" for n in range(8)], Kind.PASSAGE, Priority.BACKGROUND)
    refused = worker.submit(["one more"], Kind.PASSAGE, Priority.BACKGROUND)
    with pytest.raises(EmbedderUnavailableError, match="queue is full"):
        refused.result(5)
    assert worker.state.queued == 8
    query = worker.submit(["question"], Kind.QUERY, Priority.QUERY)
    embedder.gate.set()
    assert same(query.result(5), ["question"])
    assert len(kept.result(5)) == 8
    assert "one more" not in embedder.texts()


@pytest.mark.parametrize(
    "error",
    [
        EmbedderUnavailableError("It is down."),
        ModelMissingError("There is no model.", hint="Install it."),
        EmbedderError("It answered nonsense."),
        ValueError("about private words"),
    ],
)
def test_W8_a_failure_is_one_type_and_the_next_call_works(worker, embedder, error):
    embedder.errors.append(error)
    with pytest.raises(EmbedderUnavailableError) as caught:
        worker.embed_blocking(["private words"], Kind.QUERY, timeout=5)
    assert "private" not in str(caught.value)
    state = worker.state
    assert (state.ok, state.loaded) == (False, False)
    assert state.last_error == str(caught.value)
    assert same(worker.embed_blocking(["private words"], Kind.QUERY, timeout=5), ["private words"])
    assert (worker.state.ok, worker.state.last_error, worker.state.loaded) == (True, None, True)


def test_submit_keeps_the_embedders_own_error(worker, embedder):
    embedder.errors.append(ModelMissingError("There is no model."))
    with pytest.raises(ModelMissingError):
        worker.submit(["x"], Kind.QUERY).result(5)


def test_one_bad_text_does_not_spoil_its_batch(worker, embedder):
    for number in range(6):
        worker.embed_blocking([f"warm {number}", f"up {number}"], Kind.PASSAGE, timeout=5)
    hold(worker, embedder)
    embedder.poison = "bad"
    futures = [worker.submit([text], Kind.PASSAGE) for text in ("good", "bad", "fine")]
    embedder.gate.set()
    assert same(futures[0].result(5), ["good"])
    assert same(futures[2].result(5), ["fine"])
    with pytest.raises(EmbedderError, match="ValueError"):
        futures[1].result(5)
    assert (Kind.PASSAGE, ["good", "bad", "fine"]) in embedder.calls


def test_too_few_vectors_are_an_error(worker, embedder):
    embedder.embed = lambda texts, kind: PLAIN.embed(texts, kind)[1:]
    with pytest.raises(EmbedderUnavailableError, match="0 vectors for 1 texts"):
        worker.embed_blocking(["x"], Kind.PASSAGE, timeout=5)


def test_a_timeout_says_so_and_the_text_is_dropped(worker, embedder):
    hold(worker, embedder)
    with pytest.raises(EmbedderUnavailableError, match=r"within 0\.05 s"):
        worker.embed_blocking(["too late"], Kind.QUERY, timeout=0.05)
    embedder.gate.set()
    worker.embed_blocking(["in time"], Kind.QUERY, timeout=5)
    assert "too late" not in embedder.texts()
    assert worker.state.queued == 0


async def _timed_out_and_cancelled(worker: EmbeddingWorker) -> None:
    with pytest.raises(EmbedderUnavailableError, match=r"within 0\.05 s"):
        await worker.embed(["late"], Kind.QUERY, timeout=0.05)
    task = asyncio.create_task(worker.embed(["dropped"], Kind.QUERY, timeout=5))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_awaiting_can_time_out_and_be_cancelled(worker, embedder):
    hold(worker, embedder)
    asyncio.run(_timed_out_and_cancelled(worker))
    embedder.gate.set()
    found = asyncio.run(worker.embed(["kept"], Kind.QUERY, timeout=5))
    assert same(found, ["kept"])
    assert {"late", "dropped"}.isdisjoint(embedder.texts())


def test_awaiting_turns_every_failure_into_one_type(worker, embedder):
    embedder.errors.append(ModelMissingError("There is no model.", hint="Install it."))
    with pytest.raises(EmbedderUnavailableError, match=r"no model\. Install it\.") as caught:
        asyncio.run(worker.embed(["x"], Kind.QUERY, timeout=5))
    assert isinstance(caught.value.__cause__, ModelMissingError)


def test_several_loops_and_threads_share_one_thread(embedder):
    worker = EmbeddingWorker(embedder)
    failures: list[object] = []

    async def many(name: str) -> None:
        texts = [[f"{name} {n}", "shared"] for n in range(20)]
        calls = [worker.embed(pair, Kind.PASSAGE, timeout=10) for pair in texts]
        for pair, found in zip(texts, await asyncio.gather(*calls), strict=True):
            if not same(found, pair):
                failures.append(pair)

    threads = [threading.Thread(target=lambda n=n: asyncio.run(many(f"loop {n}"))) for n in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(15)
    worker.close()
    assert failures == []
    assert set(embedder.texts()) >= {"loop a 0", "loop d 19", "shared"}
    assert len(embedder.threads) == 1


def test_the_first_answer_says_that_the_model_is_loaded(worker):
    assert worker.state.loaded is False
    worker.submit(["x"], Kind.QUERY).result(5)
    assert worker.state.loaded is True


def test_close_refuses_what_waits_and_ends_the_thread(worker, embedder):
    hold(worker, embedder)
    waiting = worker.submit(["waits"], Kind.PASSAGE)
    threading.Timer(0.1, embedder.gate.set).start()
    worker.close()
    worker.close()
    after = worker.submit(["after"], Kind.PASSAGE)
    for future in (waiting, after):
        with pytest.raises(EmbedderUnavailableError, match="closed"):
            future.result(5)
    assert not any(t.name == "embedder" and t.is_alive() for t in threading.enumerate())
    assert embedder.closed
    assert worker.state.ok is False
    assert embedder.texts() == ["held"]


def test_nothing_starts_before_the_first_request(embedder):
    worker = EmbeddingWorker(embedder)
    assert not any(thread.name == "embedder" for thread in threading.enumerate())
    worker.close()


def test_batches_grow_while_calls_stay_quick_and_shrink_when_not():
    pace = _Pace(16)
    for _ in range(6):
        pace.measured(pace.size, 0.01)
    assert pace.size == 16
    pace.measured(16, 0.9)
    assert pace.size == 8
    for _ in range(4):
        pace.measured(pace.size, 0.5)
    assert pace.size == 1
    remote = _Pace(16)
    for count in (1, 2, 4, 8, 16):
        assert remote.size == count
        remote.measured(count, 0.2 + 0.005 * count)
    assert remote.size == 16


def test_a_query_waits_for_one_call_only():
    class Slow(TrigramEmbedder):
        def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
            time.sleep(0.06 * len(texts))
            return super().embed(texts, kind)

    worker = EmbeddingWorker(Slow())
    backlog = worker.submit([f"t{n}" for n in range(12)], Kind.PASSAGE, Priority.BACKGROUND)
    time.sleep(0.1)
    began = time.monotonic()
    worker.embed_blocking(["now"], Kind.QUERY, priority=Priority.QUERY, timeout=5)
    assert time.monotonic() - began < 0.5
    assert not backlog.done()
    assert len(backlog.result(5)) == 12
    worker.close()
