"""Forgotten words don't come back, or stay, in what stands beside a memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Conversation, Role
from remembrancer.conversations.service import Stored
from remembrancer.errors import RefusedError
from tests.acceptance.forgetting import import_all, mine, said

VALUE = "Ada's sister lives in Lund."
META = {"note": "x\nAda's\nsister lives\tin\nLund."}


def _forgotten(ada: SyncPersonalMemory) -> None:
    made = ada.add(VALUE)
    assert made.id is not None
    ada.forget(made.id)


@pytest.mark.parametrize("meta", [META, {META["note"]: 1}, {"a": [{"b": META["note"]}]}])
def test_X2_an_escape_in_meta_hides_nothing(
    ada: SyncPersonalMemory, meta: dict[str, object]
) -> None:
    agent = ada.as_agent("scribe")
    before = agent.add("Ada owns a pot.", meta=meta)
    assert before.id is not None
    assert ada.get(before.id).meta
    _forgotten(ada)
    assert not ada.get(before.id).meta
    assert agent.add("Ada owns a pan.", meta=meta).code == "tombstoned"
    assert agent.add("Ada owns a pan.", meta={"note": "x\nfine"}).status == "candidate"


def test_X1_an_active_memory_that_says_more_waits_for_the_person(ada: SyncPersonalMemory) -> None:
    longer = "Ada said: Ada's sister lives in Lund near the river."
    ada.tell(mine("My sister lives in Lund near the river.", external_id="a"))
    agent = ada.as_agent("scribe")
    made = agent.add(longer, quote="sister lives in Lund near the river")
    kept = ada.add("Remember: Ada's sister lives in Lund by the lake.")
    assert made.id is not None
    assert kept.id is not None
    assert "Ada said" in ada.recall("Where does the sister live?").recalled_block
    _forgotten(ada)
    assert ada.get(made.id).trust == "candidate"
    assert ada.get(kept.id).trust == "confirmed"
    assert "Ada said" not in ada.recall("Where does the sister live?").recalled_block
    assert {each.target_id for each in ada.proposals() if each.op == "forget"} == {made.id, kept.id}


def _chat(name: str = "Cy", **more: str) -> Conversation:
    told = (replace(said(Role.OTHER, "The soup is hot.", 0), speaker=name),)
    return Conversation(**{"source": "test", "external_id": "s", **more}, messages=told)


def _speakers(ada: SyncPersonalMemory, told: Iterable[Stored]) -> list[str]:
    ids = [each.messages[0] for each in told]
    found = ada.messages(ids)
    return [found[each].speaker for each in ids]


def _attempts(ada: SyncPersonalMemory) -> int:
    return sum(each.attempts for each in ada.tombstones())


@pytest.mark.parametrize("field", ["name", "title", "source", "external_id", "space"])
def test_X2_a_machine_names_nothing_after_it(ada: SyncPersonalMemory, field: str) -> None:
    _forgotten(ada)
    agent = ada.as_agent("scribe")
    with pytest.raises(RefusedError):
        agent.tell(_chat(**{field: VALUE}))
    assert ada.chats() == []
    assert _attempts(ada) == 1
    agent.tell(_chat(**{field: "Something else"}))
    assert len(ada.chats()) == 1


def test_X2_a_machine_makes_no_space_of_it(ada: SyncPersonalMemory) -> None:
    pot = ada.add("Ada owns a pot.")
    assert pot.id is not None
    _forgotten(ada)
    agent = ada.as_agent("scribe")
    with pytest.raises(RefusedError):
        agent.in_space(VALUE)
    with pytest.raises(RefusedError):
        agent.move(pot.id, space=VALUE)
    assert ada.spaces() == []
    assert _attempts(ada) == 2
    assert agent.move(pot.id, space="kitchen").status == "proposed"


def test_X2_neither_model_nor_agent_is_called_so(ada: SyncPersonalMemory) -> None:
    _forgotten(ada)
    agent = ada.as_agent("scribe")
    more = {"quote": "a pot", "model": VALUE}
    assert agent.add("Ada owns a pot.", **more).code == "tombstoned"
    assert ada.as_agent(VALUE).add("Ada owns a pot.").code == "tombstoned"
    assert all(VALUE not in each.actor.name for each in ada.events())
    assert agent.add("Ada owns a pot.", quote="a pot", model="m").status == "candidate"


def test_X2_what_comes_with_a_person_s_words_comes_without_it(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    _forgotten(ada)
    import_all(store, ada, _chat(VALUE, title=VALUE, external_id="i"))
    told = ada.tell(_chat(VALUE, title=VALUE, external_id="t"))
    other = ada.tell(_chat("Cy", title="Soup", external_id="u"))
    titles = {each.external_id: each.title for each in ada.chats()}
    assert titles == {"i": "", "t": "", "u": "Soup"}
    assert _speakers(ada, [told, other]) == ["someone", "Cy"]
    assert import_all(store, ada, _chat(VALUE, title=VALUE, external_id="i")) is None


def test_X1_speakers_and_spaces_lose_a_forgotten_name(ada: SyncPersonalMemory) -> None:
    told = [ada.tell(_chat(VALUE, external_id="t")), ada.tell(_chat("Cy", external_id="u"))]
    ada.in_space(VALUE)
    ada.in_space("kitchen")
    assert _speakers(ada, told) == [VALUE, "Cy"]
    _forgotten(ada)
    assert _speakers(ada, told) == ["someone", "Cy"]
    names = {each.name for each in ada.spaces()}
    assert len(names) == 2
    assert "kitchen" in names
    assert VALUE not in names
    assert ada.tell(_chat(VALUE, external_id="t")).known == 1
    assert VALUE not in ada.recall("Is the soup hot?").recalled_block
