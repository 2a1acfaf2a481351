"""R10: what is committed is found by the next request, on another worker too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.recall.models import Request
from tests.acceptance.forgetting import mine, opened, word
from tests.support.stores import Place, somebody


@pytest.fixture
def elsewhere(place: Place, ada: SyncPersonalMemory) -> Iterator[SyncPersonalMemory]:
    """The same person through a handle with connections, an embedder and an index of its own."""
    store, memory = opened(place, ada.account.email)
    yield memory
    store.close()


def _found(memory: SyncPersonalMemory, query: str) -> set[str]:
    recalled = memory.recall(Request(query, k=50, total_budget=20_000))
    assert recalled.degraded == ()
    return {each.content for each in (*recalled.profile, *recalled.entries)}


def test_R10_every_kind_of_write_is_seen_by_the_next_recall_on_both(
    ada: SyncPersonalMemory, elsewhere: SyncPersonalMemory
) -> None:
    dog, cat = f"Ada's dog is called {word()}.", f"Ada's dog is called {word()}."
    query = "What is Ada's dog called?"
    both = (ada, elsewhere)
    assert [_found(each, query) for each in both] == [set(), set()]
    made = ada.add(dog)
    assert made.id is not None
    assert [_found(each, query) for each in both] == [{dog}, {dog}]
    elsewhere.correct(made.id, cat, was_wrong=True)
    assert [_found(each, query) for each in both] == [{cat}, {cat}]
    ada.archive(made.id)
    assert [_found(each, query) for each in both] == [set(), set()]
    elsewhere.confirm(made.id)
    assert [_found(each, query) for each in both] == [{cat}, {cat}]
    ada.move(made.id, type="user")
    assert {each.content for each in elsewhere.recall(query).profile} == {cat}
    elsewhere.move(made.id, type="context")
    elsewhere.undo()
    ada.undo()
    assert [_found(each, query) for each in both] == [{cat}, {cat}]
    ada.forget(made.id)
    assert [_found(each, query) for each in both] == [set(), set()]


def test_R10_what_was_said_is_found_on_another_worker_at_once(
    ada: SyncPersonalMemory, elsewhere: SyncPersonalMemory
) -> None:
    token = word()
    query = f"Where did we find {token} under the sofa?"
    assert _found(elsewhere, query) == set()
    stored = ada.tell(mine(f"We found {token} under the sofa.", external_id="c"))
    assert _found(elsewhere, query) == {f"We found {token} under the sofa."}
    elsewhere.delete_chat(stored.chat_id)
    assert _found(ada, query) == set()


def test_R10_twenty_writes_by_turns_lose_nothing(
    ada: SyncPersonalMemory, elsewhere: SyncPersonalMemory
) -> None:
    both = (ada, elsewhere)
    said = [f"Ada owns the ship {word()}, number {number}." for number in range(20)]
    for number, content in enumerate(said):
        both[number % 2].add(content)
        assert content in _found(both[(number + 1) % 2], content)
    query = "Which ship does Ada own, which number?"
    assert _found(ada, query) == _found(elsewhere, query) == set(said)


def test_R10_one_person_s_writes_leave_another_s_index_alone(
    store: SyncRemembrancer, ada: SyncPersonalMemory, elsewhere: SyncPersonalMemory
) -> None:
    ben = somebody(store, "ben")
    ada.add("Ada has a red bicycle.")
    before = _found(elsewhere, "Does Ada have a red bicycle?")
    ben.add("Ada has a red bicycle and Ben knows.")
    assert _found(elsewhere, "Does Ada have a red bicycle?") == before == {"Ada has a red bicycle."}
