"""E1, E3: what reaches a prompt rests on something; what is derived can be made again."""

from __future__ import annotations

from uuid import UUID

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Conversation, Role
from remembrancer.memory import reindexing
from remembrancer.memory.orphaning import Choice
from tests.acceptance.forgetting import (
    add_quoted,
    delete_message,
    engine_of,
    mine,
    rebuild,
    said,
    word,
)
from tests.acceptance.resting import given_to, recalled_all, told, unresolved
from tests.support.stores import Place, somebody


def test_E1_every_entry_of_a_prompt_resolves(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    source, _ = told(ada, "one")
    other, messages = told(ada, "two")
    ada.add("Ada is vegan.", type="user")
    add_quoted(
        ada, f"Ada's boat {source.token} is dear to her.", f"My boat is called {source.token}."
    )
    ada.tell(mine("We went hiking in the rain near Voss.", source="h", external_id="h"))
    delete_message(store, ada, messages[0], Choice.KEEP)
    query = f"{source.token} {other.token} boat Voss Ada vegan owns sails moors hiking rain"
    recalled = recalled_all(ada, query)
    given = {each.id for each in (*recalled.profile, *recalled.entries)}
    assert given >= {source.active, source.confirmed, other.confirmed}
    assert not given & {source.candidate, other.candidate, other.active}
    assert any(each.kind == "message" for each in recalled.entries)
    assert len(recalled.profile) == 1
    assert unresolved(store, ada, recalled) == []


def test_E1_a_quote_nobody_wrote_earns_nothing(ada: SyncPersonalMemory) -> None:
    stored = ada.tell(
        Conversation(
            "test",
            (
                said(Role.USER, "What is a good boat?", 0),
                said(Role.ASSISTANT, "Your boat Skidbladnir is a good one.", 1),
                said(Role.OTHER, "I own a yacht.", 2, speaker="Jon"),
            ),
            external_id="c",
        )
    )
    agent = ada.as_agent("scribe")
    for content, quote, message in (
        ("Ada owns Skidbladnir.", "Your boat Skidbladnir is a good one.", None),
        ("Ada owns a yacht.", "I own a yacht.", None),
        ("Ada owns a raft.", "I own a raft.", None),
        ("Ada owns a canoe.", "What is a good canoe?", stored.messages[0]),
        ("Ada owns a ferry.", "I own a ferry.", UUID(int=7)),
    ):
        outcome = agent.add(content, quote=quote, message_id=message)
        assert outcome.status == "candidate"
        assert outcome.id is not None
    assert recalled_all(ada, "What does Ada own? yacht raft Skidbladnir").profile == ()
    memories = {each.id for each in ada.list()}
    assert not memories & given_to(ada, "What does Ada own? yacht raft canoe ferry Skidbladnir")
    kept = add_quoted(ada, "Ada asked about boats.", "What is a good boat?")
    assert kept.id in given_to(ada, "What did Ada ask about boats?")


def _prompt(memory: SyncPersonalMemory, queries: list[str]) -> list[object]:
    recalled = [memory.recall(each) for each in queries]
    return [
        (
            each.profile_block,
            each.recalled_block,
            [(entry.id, entry.score, entry.relevance) for entry in each.entries],
            each.degraded,
        )
        for each in recalled
    ]


def _rich(memory: SyncPersonalMemory) -> tuple[list[str], list[str]]:
    """A person with a past; queries, and tokens that their answers hold."""
    source, _ = told(memory, "one")
    pet, town = word(), word()
    memory.add(f"Ada's dog is called {pet}.", type="user")
    made = memory.add("Ada lives in Arendal.", path="home")
    assert made.id is not None
    memory.correct(made.id, f"Ada lives in {town}.", changed_at="2026-02-01")
    gone = memory.add("Ada hides money in the oven.")
    assert gone.id is not None
    memory.forget(gone.id)
    memory.tell(mine(f"We went hiking near {town} in the rain.", "It was cold.", external_id="h"))
    queries = [
        f"What is Ada's boat {source.token} called?",
        f"Where does Ada live, in {town}?",
        f"Who went hiking near {town} in the rain?",
        "Where is money hidden, in the oven?",
    ]
    return queries, [source.token, pet, town]


def test_E3_all_that_is_derived_can_be_made_again(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    queries, tokens = _rich(ada)
    before = _prompt(ada, queries)
    assert all(each in repr(before) for each in tokens)
    engine = engine_of(store)
    rebuild(store, ada)
    engine.indexes.drop(ada.account.user_id)
    engine.worker.drop_queries()
    assert _prompt(ada, queries) == before
    assert "oven" not in repr([each[1] for each in before[:3]])  # type: ignore[index]
    assert ada.verify().damage == ()


def test_E3_a_new_handle_without_any_vector_finds_the_same_again(place: Place) -> None:
    store = place.open()
    ada = somebody(store)
    queries, tokens = _rich(ada)
    before = _prompt(ada, queries)
    engine_of(store).db.write_now(ada._memory._scope, reindexing._drop_vectors)
    store.close()
    again = place.open()
    ada = again.person(ada.account.email, create=False)
    rebuild(again, ada)
    assert _prompt(ada, queries) == before
    assert all(each in repr(before) for each in tokens)
    again.close()
