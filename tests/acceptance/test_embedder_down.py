"""W8: with the embedder down adds land, are found by their words, and are completed later."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import closing
from uuid import UUID

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.embeddings.http import HttpEmbedder
from remembrancer.errors import EmbedderError
from remembrancer.jobs import names, queue
from tests.support.embed_server import EmbedServer, Turn
from tests.support.stores import Place, somebody

MODEL = "test-embeddings"
BROKEN = Turn(status=503, headers={"Retry-After": "60"})
"""A service that asks for a minute is unavailable at once."""


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer() as running:
        yield running


@pytest.fixture
def store(place: Place, server: EmbedServer) -> Iterator[SyncRemembrancer]:
    handle = place.open(HttpEmbedder(server.url, MODEL, dimension=32))
    yield handle
    handle.close()


def closed_port() -> str:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def waiting(store: SyncRemembrancer, memory: SyncPersonalMemory) -> list[str]:
    """The names of the jobs that wait for this person."""
    jobs = store._store.engine.db.read_now(memory._memory._scope, queue.open_jobs)
    return [each.name for each in jobs]


def pending(memory: SyncPersonalMemory) -> dict[str, bool]:
    return {each.content: each.pending for each in memory.list()}


def found(memory: SyncPersonalMemory, query: str) -> Sequence[UUID]:
    return [each.id for each in memory.recall(query).entries]


def test_W8_adds_land_are_found_by_their_words_and_are_completed(
    store: SyncRemembrancer, server: EmbedServer
) -> None:
    ada = somebody(store)
    ready = ada.add("The boiler was serviced in March.")
    assert not ready.pending
    server.script.extend([BROKEN] * 4)

    made = ada.add("Her sister Mina lives in Lyon.", meta={"n": 1})
    assert (made.status, made.pending) == ("created", True)
    moved = ada.correct(ready.id, "The boiler was serviced in April.")
    assert (moved.status, moved.pending) == ("updated", True)
    said = IncomingMessage(Role.USER, "Yesterday the kiln cracked badly.", clock.now())
    told = ada.tell(Conversation("test", (said,), "c-1"))
    assert told.pending == 1
    assert pending(ada) == {
        "Her sister Mina lives in Lyon.": True,
        "The boiler was serviced in April.": True,
    }
    assert waiting(store, ada) == [names.VECTORS], "one job for all of it"

    recalled = ada.recall("Where does her sister Mina live?")
    assert [each.id for each in recalled.entries] == [made.id]
    assert "vector" in recalled.degraded
    assert not store._store.engine.worker.state.ok
    server.script.append(BROKEN)
    assert told.messages[0] in found(ada, "When did the kiln crack?")

    server.script.clear()
    done = ada.reindex(pending=True)
    assert done.vectors == 3
    assert set(pending(ada).values()) == {False}
    assert waiting(store, ada) == []
    assert store._store.engine.worker.state.ok
    recalled = ada.recall("Where does her sister Mina live?")
    assert [each.id for each in recalled.entries] == [made.id]
    assert recalled.degraded == ()
    assert ada.reindex(pending=True).vectors == 0
    assert ada.verify().damage == ()


def test_W8_completing_while_it_is_still_down_says_so_and_keeps_the_job(
    store: SyncRemembrancer, server: EmbedServer
) -> None:
    ada = somebody(store)
    server.script.extend([BROKEN] * 2)
    ada.add("Her sister Mina lives in Lyon.")
    with pytest.raises(EmbedderError):
        ada.reindex(pending=True)
    assert waiting(store, ada) == [names.VECTORS]
    assert pending(ada) == {"Her sister Mina lives in Lyon.": True}
    assert ada.reindex(pending=True).vectors == 1
    assert waiting(store, ada) == []


def test_W8_nothing_listens_at_the_embedder_s_port(place: Place, server: EmbedServer) -> None:
    with place.open(HttpEmbedder(closed_port(), MODEL, dimension=32)) as store:
        ada = somebody(store)
        made = ada.add("Her sister Mina lives in Lyon.")
        assert (made.status, made.pending) == ("created", True)
        assert ada.add("her sister MINA lives in Lyon").status == "duplicate"
        ada.add("The rent is due on Mondays.")
        assert found(ada, "Where does her sister Mina live?") == [made.id]
        outcomes = ada.list()
        assert {each.pending for each in outcomes} == {True}
        with pytest.raises(EmbedderError) as caught:
            ada.reindex(pending=True)
        assert "Mina" not in str(caught.value)
    with place.open(HttpEmbedder(server.url, MODEL, dimension=32)) as store:
        again = store.person(ada.account.email)
        assert waiting(store, again) == [names.VECTORS]
        assert again.reindex(pending=True).vectors == 2
        assert set(pending(again).values()) == {False}
        assert waiting(store, again) == []


def test_W8_what_is_forgotten_meanwhile_gets_no_vector(
    store: SyncRemembrancer, server: EmbedServer
) -> None:
    ada = somebody(store)
    server.script.extend([BROKEN] * 2)
    made = ada.add("Her sister Mina lives in Lyon.")
    kept = ada.add("The rent is due on Mondays.")
    ada.forget(made.id)
    sent = len(server.requests)
    assert ada.reindex(pending=True).vectors == 1
    assert all("Mina" not in str(each["input"]) for each in server.requests[sent:])
    assert [each.id for each in ada.list()] == [kept.id]


def test_W8_rebuilding_makes_everything_derived_again(
    store: SyncRemembrancer, server: EmbedServer
) -> None:
    ada = somebody(store)
    made = ada.add("Her sister Mina lives in Lyon.")
    before = ada.recall("Where does her sister Mina live?").recalled_block
    done = ada.reindex(pending=False)
    assert (done.terms, done.vectors) == (1, 1)
    after = ada.recall("Where does her sister Mina live?")
    assert [each.id for each in after.entries] == [made.id]
    assert after.recalled_block == before
