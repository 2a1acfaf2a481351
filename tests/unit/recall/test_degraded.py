"""A part that fails is named, and the rest goes on."""

from __future__ import annotations

import asyncio

import pytest

from remembrancer.embeddings.serving import Serving
from remembrancer.embeddings.worker import EmbeddingWorker
from remembrancer.errors import EmbedderUnavailableError, StoreUnavailableError
from tests.unit.recall.person import Person


@pytest.fixture
def person(tmp_path):
    made = Person(tmp_path)
    yield made
    made.close()


def contents(recall) -> list[str]:
    return [each.content for each in recall.entries]


class Broken:
    """An embedder that is down."""

    def __init__(self, spec) -> None:
        self.spec = spec

    def embed(self, texts, kind):
        raise EmbedderUnavailableError("down")

    def close(self) -> None: ...


def test_W8_with_the_embedder_down_recall_is_lexical_and_says_so(person):
    person.add("hazelnuts are bad for me", vector=False)
    worker = EmbeddingWorker(Broken(person.spec))
    person.serving = Serving(worker, person.space_id, person.spec)
    found = person.recall("hazelnuts")
    worker.close()
    assert contents(found) == ["hazelnuts are bad for me"]
    assert found.entries[0].arms == ("lexical",)
    assert found.entries[0].why.meaning is None
    assert found.degraded == ("vector",)
    states = {each.name: each.state for each in found.trace.arms}
    assert states["vector"] == "failed"
    assert states["lexical"] == "ok"
    assert found.trace.pending == 1


def test_without_an_embedder_the_vector_arm_is_off_not_broken(person):
    person.add("hazelnuts are bad for me")
    person.serving = None
    found = person.recall("hazelnuts")
    assert contents(found) == ["hazelnuts are bad for me"]
    assert found.degraded == ()
    assert {each.name: each.state for each in found.trace.arms}["vector"] == "off"


def test_C4_with_the_index_failing_the_profile_is_still_there(person, monkeypatch):
    person.add("Call me Annie.", type="user")
    person.add("hazelnuts")

    def fail(unit, space):
        raise RuntimeError("no index")

    monkeypatch.setattr(person.indexes, "view", fail)
    found = person.recall("hazelnuts")
    assert [each.content for each in found.profile] == ["Call me Annie."]
    assert found.entries == ()
    assert found.degraded == ("index",)
    assert dict(found.trace.failures) == {"index": "RuntimeError"}
    assert {each.state for each in found.trace.arms} == {"failed"}
    monkeypatch.undo()
    assert contents(person.recall("hazelnuts")) == ["hazelnuts"]


def test_C4_over_the_deadline_nothing_is_given_and_it_is_said(person):
    person.add("hazelnuts")
    found = person.recall("hazelnuts", timeout=0.0)
    assert found.entries == found.profile == ()
    assert "deadline" in found.degraded
    assert {each.state for each in found.trace.arms} == {"failed"}
    assert contents(person.recall("hazelnuts")) == ["hazelnuts"]


def test_C4_with_a_memory_table_gone_nothing_is_given_and_it_is_said(person):
    person.add("hazelnuts")

    async def no_table(scope, work):
        return person.db.read_now(
            scope, lambda unit: unit.connection.exec_driver_sql("SELECT * FROM gone")
        )

    person.recalling._db = type("Gone", (), {"read": staticmethod(no_table)})
    found = person.recall("hazelnuts")
    assert found.degraded == ("memory",)
    assert found.recalled_block == found.profile_block == ""


def test_a_store_that_does_not_answer_is_an_error(person):
    async def down(scope, work):
        raise StoreUnavailableError("down")

    person.recalling._db = type("Down", (), {"read": staticmethod(down)})
    with pytest.raises(StoreUnavailableError):
        person.recall("hazelnuts")


def test_an_embedding_space_that_is_not_known_in_time_degrades_to_words(person):
    person.add("hazelnuts are bad for me")

    async def slow() -> Serving:
        await asyncio.sleep(30)
        raise AssertionError

    person.recalling._serving = slow
    found = person.recall("hazelnuts", timeout=4)
    assert contents(found) == ["hazelnuts are bad for me"]
    assert found.degraded == ("vector",)
    assert found.trace.embedding_space is None
