"""X2–X4: a forgotten or rejected value comes back by no machine, and by the person at once."""

from __future__ import annotations

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.events.kinds import Kind
from remembrancer.memory.models import Add, Correct, Meaning, Quote
from remembrancer.scope import Actor
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Attempt
from tests.acceptance.forgetting import (
    add_quoted,
    engine_of,
    import_all,
    mine,
    run,
    tell_as_client,
    word,
)

VALUES = {
    "english": "Ada keeps her spare key under the blue pot.",
    "german": "Adas Ersatzschlüssel liegt unter dem blauen Topf.",
    "chinese": "艾达的备用钥匙放在蓝色花盆下面。",
}
DISGUISES = {
    "same": lambda text: text,
    "other case": str.upper,
    "zero width": "\u200b".join,
    "full width": lambda text: "".join(
        chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text
    ),
    "other spaces": lambda text: "\u3000 ".join(text.split(" ")) + "  ",
    "other punctuation": lambda text: f"«{text.rstrip('.。')}»!?",
    "padded": lambda text: f"So here it is: {text} And that is all.",
    "padded in chinese": lambda text: f"请记住，{text}谢谢。",
    "a soft hyphen": lambda text: text[:3] + "\u00ad" + text[3:],
}
LOOK_ALIKES = str.maketrans({"a": "а", "e": "е", "o": "о", "p": "р", "c": "с"})


def _attempts(store: SyncRemembrancer, memory: SyncPersonalMemory) -> list[Attempt]:
    def read(unit: object) -> list[Attempt]:
        found = graves.list_all(unit)  # type: ignore[arg-type]
        return [each for stone in found for each in graves.attempts_of(unit, stone.id)]  # type: ignore[arg-type]

    return engine_of(store).db.read_now(memory._memory._scope, read)


def _refusals(memory: SyncPersonalMemory) -> int:
    return sum(each.kind is Kind.MEMORY_REFUSED for each in memory.events(limit=5000))


def _forgotten(memory: SyncPersonalMemory, value: str) -> None:
    made = memory.add(value)
    assert made.id is not None
    assert memory.forget(made.id).status == "forgotten"


@pytest.mark.parametrize("language", VALUES)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_X2_a_machine_s_add_in_any_disguise_is_refused(
    store: SyncRemembrancer, ada: SyncPersonalMemory, language: str, disguise: str
) -> None:
    _forgotten(ada, VALUES[language])
    agent = ada.as_agent("scribe")
    outcome = agent.add(DISGUISES[disguise](VALUES[language]))
    assert (outcome.status, outcome.code, outcome.id) == ("refused", "tombstoned", None)
    assert _refusals(ada) == 1
    (attempt,) = _attempts(store, ada)
    assert attempt.actor == Actor(agent._memory.actor.kind, "scribe", "library")
    assert attempt.event_seq == outcome.event
    assert agent.add("Ada waters the blue pot on Sundays.").status == "candidate"
    assert ada.tombstones()[0].attempts == 1
    assert ada.tombstones()[0].text is None


def test_X2_look_alike_letters_don_t_help(ada: SyncPersonalMemory) -> None:
    _forgotten(ada, VALUES["english"])
    one_each = " ".join(
        word[:1] + word[1:].translate(LOOK_ALIKES) for word in VALUES["english"].split(" ")
    )
    assert one_each != VALUES["english"]
    assert ada.as_agent("scribe").add(one_each).status == "refused"
    assert ada.as_agent("scribe").add("Ada keeps а tomato under the pot.").status == "candidate"


@pytest.mark.parametrize("disguise", DISGUISES)
def test_X2_as_a_correction_of_something_else_it_is_refused(
    store: SyncRemembrancer, ada: SyncPersonalMemory, disguise: str
) -> None:
    _forgotten(ada, VALUES["english"])
    ada.tell(mine("My bicycle is green.", external_id="c"))
    bicycle = add_quoted(ada, "Ada's bicycle is green.", "My bicycle is green.")
    assert bicycle.status == "created"
    assert bicycle.id is not None
    agent = ada.as_agent("scribe")
    outcome = agent.correct(bicycle.id, DISGUISES[disguise](VALUES["english"]))
    assert (outcome.status, outcome.code) == ("refused", "tombstoned")
    assert len(_attempts(store, ada)) == _refusals(ada) == 1
    found = ada.get(bicycle.id)
    assert found is not None
    assert found.content == "Ada's bicycle is green."
    assert ada.proposals() == []
    other = agent.correct(bicycle.id, "Ada's bicycle is black.")
    assert other.status == "proposed"


def test_X2_it_doesn_t_slip_in_beside_something_else(ada: SyncPersonalMemory) -> None:
    value = VALUES["english"]
    _forgotten(ada, value)
    ada.tell(mine("My bicycle is green.", external_id="c"))
    bicycle = add_quoted(ada, "Ada's bicycle is green.", "My bicycle is green.")
    assert bicycle.id is not None
    agent = ada.as_agent("scribe")
    assert agent.add("Ada owns a pot.", quote=value).code == "tombstoned"
    assert agent.add("Ada owns a pot.", meta={"from": value}).code == "tombstoned"
    assert agent.add("Ada owns a pot.", path=f"notes/{value}").code == "tombstoned"
    assert agent.correct(bicycle.id, "It is red.", quote=value).code == "tombstoned"
    assert agent.move(bicycle.id, path=f"notes/{value}").code == "tombstoned"
    assert _refusals(ada) == 5
    assert agent.add("Ada owns a pot.", quote="a pot", path="notes", meta={"n": 1}).id is not None


def test_X2_a_batch_loses_only_what_is_forgotten(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    value = VALUES["english"]
    _forgotten(ada, value)
    outcomes = ada.as_agent("scribe").apply(
        [Add("Ada has a cat."), Add(value), Add("Ada has a dog."), Add(f"Note: {value}")]
    )
    assert [each.status for each in outcomes] == ["candidate", "refused", "candidate", "refused"]
    assert len(_attempts(store, ada)) == _refusals(ada) == 2


@pytest.mark.parametrize("language", VALUES)
def test_X2_told_or_imported_again_it_stays_withheld_and_no_machine_adds_it(
    store: SyncRemembrancer, ada: SyncPersonalMemory, language: str
) -> None:
    value = VALUES[language]
    _forgotten(ada, value)
    ada.tell(mine(f"Right. {value} The kettle is on.", external_id="told"))
    import_all(store, ada, mine(f"Well. {value} The kettle is off.", source="file"))
    tell_as_client(store, ada, mine(f"Yes. {value} The kettle is old.", source="client"))
    block = ada.recall(["Where is the spare key?", value, "What about the kettle?"]).recalled_block
    assert "kettle" in block
    assert value not in block
    assert value[:12] not in block
    agent = ada.as_agent("scribe")
    outcome = agent.add(value, quote=value)
    assert outcome.code == "tombstoned"
    assert len(_attempts(store, ada)) == 1
    kept = agent.add("Ada has a kettle.", quote="The kettle is on.")
    assert kept.status == "created"


def test_X2_a_short_value_is_refused_only_when_equal(ada: SyncPersonalMemory) -> None:
    _forgotten(ada, "Zanzibar")
    agent = ada.as_agent("scribe")
    assert agent.add("ZANZIBAR!").code == "tombstoned"
    assert agent.add("Ada dreams of Zanzibar.").status == "candidate"


@pytest.mark.parametrize("state", ["rejected", "refuted"])
def test_X2_close_words_of_a_rejected_value_wait_with_a_mark(
    store: SyncRemembrancer, ada: SyncPersonalMemory, state: str
) -> None:
    """Without the local model the words alone decide."""
    made = ada.add("Ada plays the violin in the city orchestra.")
    assert made.id is not None
    if state == "rejected":
        ada.reject(made.id)
    else:
        ada.correct(made.id, "Ada plays the cello in the city orchestra.", was_wrong=True)
    ada.set_machine_writes("accept_all")
    agent = ada.as_agent("scribe")
    outcome = agent.add("In the city orchestra, the violin is what Ada plays.")
    (stone,) = [each for each in ada.tombstones() if each.kind == state]
    assert (outcome.status, outcome.resembles) == ("candidate", stone.id)
    assert "violin" not in ada.recall("What does Ada play in the orchestra?").recalled_block
    assert agent.add("Ada's brother collects stamps.").status == "created"


def test_X2_nothing_resembles_a_forgotten_value(ada: SyncPersonalMemory) -> None:
    """Nothing of its words is kept, so there is nothing to compare with."""
    _forgotten(ada, "Ada plays the violin in the city orchestra.")
    outcome = ada.as_agent("scribe").add("In the city orchestra, the violin is what Ada plays.")
    assert (outcome.status, outcome.resembles) == ("candidate", None)


def test_X3_said_again_by_the_person_it_is_stored_and_both_are_logged(
    ada: SyncPersonalMemory,
) -> None:
    value = VALUES["english"]
    ada.tell(mine(f"Look. {value} Good.", external_id="c"))
    first = ada.add(value)
    assert first.id is not None
    ada.forget(first.id)
    assert ada.as_agent("scribe").add(value).code == "tombstoned"
    assert value not in ada.recall(value).recalled_block
    again = ada.add(value)
    assert again.status == "created"
    assert again.id != first.id
    event = next(each for each in ada.events() if each.seq == again.event)
    (stone,) = ada.tombstones()
    assert event.kind is Kind.MEMORY_ADDED
    assert event.payload.lifted == (stone.id,)
    assert stone.lifted
    assert next(each.id for each in ada.recall(value).entries) == again.id
    assert ada.as_agent("scribe").add(value).status == "duplicate"
    assert ada.history(first.id).forgotten
    assert ada.verify().damage == ()


def test_X3_lifting_gives_the_sentences_back_and_undoing_that_takes_them_again(
    ada: SyncPersonalMemory,
) -> None:
    value = VALUES["english"]
    ada.tell(mine(f"Look at that. {value} Good.", external_id="c"))
    made = ada.add(value)
    assert made.id is not None
    ada.forget(made.id)

    def as_message() -> bool:
        entries = ada.recall([value, "Where is the spare key?"]).entries
        return any(each.kind == "message" and "spare key" in each.content for each in entries)

    assert not as_message()
    again = ada.add(value)
    assert again.id is not None
    ada.archive(again.id)
    assert as_message()
    ada.undo()
    ada.undo()
    assert not as_message()
    assert ada.as_agent("scribe").add(value).code == "tombstoned"
    assert ada.list() == []


@pytest.mark.parametrize("how", ["add", "correction"])
def test_X4_rejected_in_review_it_is_tombstoned(
    store: SyncRemembrancer, ada: SyncPersonalMemory, how: str
) -> None:
    value = VALUES["english"]
    agent = ada.as_agent("scribe")
    if how == "add":
        proposal = agent.add(value).proposal
    else:
        other = ada.add("Ada has a bicycle.")
        assert other.id is not None
        proposal = agent.correct(other.id, value).proposal
    assert proposal is not None
    ada.decline(proposal)
    (stone,) = ada.tombstones()
    assert (stone.kind, stone.text, stone.lifted) == ("rejected", value, False)
    assert agent.add(value).code == "tombstoned"
    assert agent.add(f"I heard this: {value}").code == "tombstoned"
    assert agent.add("Ada has a trumpet.").status == "candidate"
    assert len(_attempts(store, ada)) == 2


def test_X4_superseding_restating_and_corroborating_doesn_t_bring_it_back(
    ada: SyncPersonalMemory,
) -> None:
    value, right = "Ada lives in the town of Arendal.", "Ada lives in the town of Bergen."
    ada.tell(mine("I live in the town of Arendal.", external_id="one"))
    first = add_quoted(ada, value, "I live in the town of Arendal.")
    assert first.status == "created"
    assert first.id is not None
    ada.reject(first.id)
    agent = ada.as_agent("scribe")
    made = ada.add(right)
    assert made.id is not None
    ada.tell(mine("Yes: I live in the town of Arendal.", source="two", external_id="two"))
    for quote in ("I live in the town of Arendal.", "Yes: I live in the town of Arendal."):
        assert agent.add(value, quote=quote).code == "tombstoned"
        assert agent.correct(made.id, value, quote=quote).code == "tombstoned"
    ada.correct(made.id, "Ada lives in the town of Voss.", changed_at="2026-01-01")
    outcome = agent.apply([Correct(made.id, value, Meaning.WAS_WRONG, quote=Quote(value))])
    assert outcome[0].code == "tombstoned"
    block = ada.recall("Which town does Ada live in?").recalled_block
    assert "Voss" in block
    assert "Arendal" not in block


def test_X4_a_person_s_yes_lifts_the_tombstone_of_what_they_rejected(
    ada: SyncPersonalMemory,
) -> None:
    value = VALUES["english"]
    made = ada.as_agent("scribe").add(value)
    assert made.id is not None
    assert made.proposal is not None
    ada.decline(made.proposal)
    ada.confirm(made.id)
    (stone,) = ada.tombstones()
    assert stone.lifted
    assert [each.id for each in ada.recall(value).entries] == [made.id]


def test_X4_tombstones_outlive_reindexing_and_clearing_everything(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    from tests.acceptance.forgetting import rebuild

    forgotten, rejected = VALUES["english"], "Ada collects old tram tickets."
    _forgotten(ada, forgotten)
    made = ada.as_agent("scribe").add(rejected)
    assert made.id is not None
    ada.reject(made.id)
    rebuild(store, ada)
    ada.clear_all()
    agent = ada.as_agent("scribe")
    assert agent.add(forgotten).code == "tombstoned"
    assert agent.add(rejected).code == "tombstoned"
    assert all(each.text is None for each in ada.tombstones())
    assert agent.add("Ada collects stamps.").status == "candidate"
    run(store, engine_of(store).memory.sweep(ada._memory._scope))


def test_X1_the_sentence_it_rested_on_stays_withheld_when_told_elsewhere(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    secret, other = word(), word()
    rested = f"We signed the lease in {secret} on Tuesday."
    told = mine(rested, f"The stove in {other} is broken.")
    ada.tell(told)
    made = add_quoted(ada, f"Ada moved to {secret} street.", rested)
    ada.forget(made.id)
    for chat in ada.chats():
        ada.delete_chat(chat.id)
    ada.tell(mine(rested, f"The stove in {other} is broken.", source="another"))
    blocks = [ada.recall(each).recalled_block for each in (secret, other)]
    assert secret not in "".join(blocks)
    assert other in blocks[1], "its sibling is there"
