"""What fails beside a write, and what doesn't fail with it: the index, scrubbing, the embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import delete, update
from structlog.testing import capture_logs

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.embeddings.base import Kind, SpaceSpec, Vectors
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import EmbedderUnavailableError, StoreLockedError
from remembrancer.index.tables import vectors
from remembrancer.jobs import names, queue
from remembrancer.memory import reindexing
from tests.acceptance.forgetting import engine_of
from tests.support.stores import somebody


class Moody(TrigramEmbedder):
    """Down while `down`; counts how often it is asked for its space."""

    down = False
    asked = 0

    @property
    def spec(self) -> SpaceSpec:
        self.asked += 1
        return super().spec

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if self.down:
            raise EmbedderUnavailableError("It is down.")
        return super().embed(texts, kind)


@pytest.fixture
def embedder() -> Moody:
    return Moody()


@pytest.fixture
def store(tmp_path: Path, embedder: Moody) -> Iterator[SyncRemembrancer]:
    with SyncRemembrancer(tmp_path, embedder=embedder) as handle:
        yield handle


@pytest.fixture
def ada(store: SyncRemembrancer) -> SyncPersonalMemory:
    return somebody(store)


def waiting(store: SyncRemembrancer, ada: SyncPersonalMemory) -> list[str]:
    jobs = engine_of(store).db.read_now(ada._memory._scope, queue.open_jobs)
    return [each.name for each in jobs]


def complete(store: SyncRemembrancer, ada: SyncPersonalMemory) -> int:
    engine = engine_of(store)
    made = reindexing.complete(engine.db, engine.space.now(), ada._memory._scope)
    return asyncio.run(made)


def test_a_damaged_vector_fails_no_add(store: SyncRemembrancer, ada: SyncPersonalMemory) -> None:
    ada.add("Ada likes soup.")
    ada.add("Ada likes bread.")
    engine, scope = engine_of(store), ada._memory._scope

    def damage(unit: Unit) -> None:
        unit.run(update(vectors).where(vectors.c.user_id == OWNER).values(vector=b"xyz"))

    engine.db.write_now(scope, damage)
    engine.indexes.drop(scope.user_id)
    with capture_logs() as lines:
        made = ada.add("Her sister Mina lives in Lyon.")
    assert (made.status, made.pending) == ("created", False)
    assert [(each["event"], each["code"]) for each in lines] == [
        ("nearness.failed", "damage_found")
    ]
    assert [each.content for each in ada.list()][-1] == "Her sister Mina lives in Lyon."


def test_a_forget_stands_when_scrubbing_fails_and_the_job_is_kept(
    store: SyncRemembrancer, ada: SyncPersonalMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ada.add("Ada likes soup.")
    backend = engine_of(store).db.backend

    def locked(_: object) -> bool:
        raise StoreLockedError("The database is locked.")

    with monkeypatch.context() as patched, capture_logs() as lines:
        patched.setattr(backend, "scrub", locked)
        assert ada.forget(made.id).status == "forgotten"
    assert [each["event"] for each in lines] == ["scrub.failed"]
    assert ada.list() == []
    assert waiting(store, ada) == [names.SCRUB]
    assert store._loop.run(engine_of(store).memory.sweep(ada._memory._scope))
    assert waiting(store, ada) == []


def test_reading_asks_no_embedder_and_says_what_is_pending(
    ada: SyncPersonalMemory, embedder: Moody, tmp_path: Path
) -> None:
    made = ada.add("Ada likes soup.")
    embedder.down = True
    late = ada.add("Ada likes bread.")
    other = Moody()
    with SyncRemembrancer(tmp_path, embedder=other) as again:
        same = again.person(ada.account.email)
        assert {each.id: each.pending for each in same.list()} == {made.id: False, late.id: True}
        found = same.get(late.id)
        assert found is not None
        assert found.pending
        assert other.asked == 0
        assert same.reindex().vectors == 1
        assert other.asked > 0
        assert not any(each.pending for each in same.list())


def test_what_comes_while_vectors_are_completed_is_completed_too(
    store: SyncRemembrancer,
    ada: SyncPersonalMemory,
    embedder: Moody,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder.down = True
    ada.add("Ada likes soup.")
    finish = reindexing._finish
    before: list[list[str]] = []

    def late(unit: Unit, space: int) -> bool:
        if not before:  # As if a write had landed after the last look and before this unit.
            before.append([])
            unit.run(delete(vectors).where(vectors.c.user_id == OWNER))
        done = finish(unit, space)
        before.append([each.name for each in queue.open_jobs(unit)])
        return done

    monkeypatch.setattr(reindexing, "_finish", late)
    embedder.down = False
    assert complete(store, ada) == 2
    assert before[1:] == [[names.VECTORS], []]
    assert not any(each.pending for each in ada.list())


def test_what_can_not_be_stored_keeps_the_job(
    store: SyncRemembrancer,
    ada: SyncPersonalMemory,
    embedder: Moody,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder.down = True
    ada.add("Ada likes soup.")
    embedder.down = False
    with monkeypatch.context() as patched:
        patched.setattr(reindexing, "_store", lambda unit, space, made: 0)  # noqa: ARG005
        assert complete(store, ada) == 0
    assert waiting(store, ada) == [names.VECTORS]
    assert complete(store, ada) == 1
    assert waiting(store, ada) == []
