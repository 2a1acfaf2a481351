"""R6: what is not believed, not now, or not decided stays out, however well it would match."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.recall.models import Request
from tests.acceptance.forgetting import add_quoted, complete, mine
from tests.acceptance.recalling import given, id_of, lines, reasons
from tests.support.stores import Place

QUERY = "On Sundays, what does Ada eat for breakfast?"
HIDDEN = "On Sundays Ada eats porridge for breakfast."
OTHER = "On Sundays Ada eats rye bread for breakfast."
NEIGHBOUR = "On Sundays Ada eats in the garden."
FUTURE = "2120-01-01"

Hide = Callable[[SyncPersonalMemory, UUID], object]

HIDDEN_BY: dict[str, Hide] = {
    "forgotten": lambda ada, id_: ada.forget(id_),
    "rejected": lambda ada, id_: ada.reject(id_),
    "refuted": lambda ada, id_: ada.correct(id_, OTHER, was_wrong=True),
    "retracted": lambda ada, id_: ada.retract(id_, was_wrong=True),
    "superseded": lambda ada, id_: ada.correct(id_, OTHER, changed_at="2021-03-01"),
    "superseded without saying when": lambda ada, id_: ada.correct(id_, OTHER),
    "expired": lambda ada, id_: ada.retract(id_, ended_at="2021-03-01"),
    "archived": lambda ada, id_: ada.archive(id_),
    "disputed": lambda ada, id_: ada.dispute(id_),
}
CORRECTED = {"refuted", "superseded", "superseded without saying when"}


def everything(memory: SyncPersonalMemory, query: str = QUERY) -> list[str]:
    """What is given when nothing has to clear a floor and all of it fits."""
    return given(memory.recall(Request(query, floor=False, total_budget=100_000)))


def assert_out(memory: SyncPersonalMemory) -> None:
    """It is out at default settings, out without a floor, and the neighbour is in."""
    for words in (given(memory.recall(QUERY)), everything(memory)):
        assert HIDDEN not in words
        assert NEIGHBOUR in words


@pytest.mark.parametrize("state", HIDDEN_BY)
def test_R6_the_best_match_stays_out_and_its_neighbour_comes_in(
    store: SyncRemembrancer, ada: SyncPersonalMemory, place: Place, state: str
) -> None:
    id_ = id_of(ada.add(HIDDEN))
    ada.add(NEIGHBOUR)
    assert given(ada.recall(QUERY)) == [HIDDEN, NEIGHBOUR], "the best match"
    HIDDEN_BY[state](ada, id_)
    assert_out(ada)
    assert (OTHER in given(ada.recall(QUERY))) is (state in CORRECTED)
    ada.reindex(pending=False)
    assert_out(ada)
    again = place.open()
    assert_out(again.person(ada.account.email))
    again.close()


def test_R6_a_candidate_stays_out_until_it_is_confirmed(ada: SyncPersonalMemory) -> None:
    made = ada.as_agent("scribe").add(HIDDEN)
    ada.add(NEIGHBOUR)
    assert made.status == "candidate"
    assert_out(ada)
    assert reasons(ada.recall(QUERY))[id_of(made)] == "candidate"
    ada.confirm(id_of(made))
    assert given(ada.recall(QUERY)) == [HIDDEN, NEIGHBOUR]


def test_R6_what_will_be_true_stays_out_until_then(ada: SyncPersonalMemory) -> None:
    made = ada.add(HIDDEN, valid_from=FUTURE)
    ada.add(NEIGHBOUR)
    assert_out(ada)
    assert reasons(ada.recall(QUERY))[id_of(made)] == "not_yet_valid"
    assert given(ada.recall(QUERY, valid_at=FUTURE)) == [HIDDEN, NEIGHBOUR]


@pytest.mark.parametrize("state", ["archive", "dispute", "reject", "forget"])
def test_R6_the_profile_too(ada: SyncPersonalMemory, state: str) -> None:
    id_ = id_of(ada.add(HIDDEN, type="user"))
    ada.add(NEIGHBOUR, type="user")
    assert HIDDEN in ada.recall(QUERY).profile_block
    getattr(ada, state)(id_)
    block = ada.recall(QUERY).profile_block
    assert HIDDEN not in block
    assert NEIGHBOUR in block


SENTENCE = "On Sundays I eat porridge for breakfast."
REST = "My tram to the harbour office leaves at nine from the old stone bridge every weekday."


def told(ada: SyncPersonalMemory) -> tuple[UUID, UUID]:
    """The person says it in a chat, and an agent remembers it with its quote. Message, memory."""
    stored = ada.tell(mine(f"{SENTENCE} {REST}"))
    made = add_quoted(ada, HIDDEN, SENTENCE)
    assert made.status == "created"
    shown = {line.id for line in lines(ada.recall("porridge on Sundays for breakfast"))}
    assert shown == {stored.messages[0], id_of(made)}
    return stored.messages[0], id_of(made)


WITHHELD_BY = {name: HIDDEN_BY[name] for name in ("refuted", "rejected", "retracted", "forgotten")}


@pytest.mark.parametrize("state", WITHHELD_BY)
def test_R6_the_sentence_it_rested_on_is_withheld_too(
    store: SyncRemembrancer, ada: SyncPersonalMemory, state: str
) -> None:
    message, memory = told(ada)
    WITHHELD_BY[state](ada, memory)
    for _ in range(2):
        for query in ("porridge on Sundays for breakfast", SENTENCE, HIDDEN, QUERY):
            recall = ada.recall(query)
            assert "porridge" not in recall.recalled_block
            assert not [each for each in everything(ada, query) if "porridge" in each]
        found = ada.recall("When does my tram to the harbour office leave?")
        (line,) = [line for line in lines(found) if line.id == message]
        assert line.words == f"[…] {REST}"
        complete(store, ada)
    assert (OTHER in given(ada.recall(QUERY))) is (state == "refuted")


def test_R6_what_was_true_then_stays_findable_with_its_date(ada: SyncPersonalMemory) -> None:
    """The world changed: what was said about it before is history, and says of when it is."""
    message, memory = told(ada)
    ada.correct(memory, OTHER, changed_at=datetime(2026, 10, 1, tzinfo=UTC))
    shown = lines(ada.recall(QUERY))
    (line,) = [line for line in shown if "porridge" in line.words]
    assert line.id == message
    assert line.mark == "the user said, 2026-09-21"
    (changed,) = [line for line in shown if line.id == memory]
    assert changed.words == OTHER
    assert changed.mark == "since 2026-10-01"
