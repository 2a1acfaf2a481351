"""What only a person, or the operator, does: machines that try are refused, and it is logged."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from remembrancer import Remembrancer, SyncPersonalMemory, SyncRemembrancer
from remembrancer.clock import SECOND, now
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import InvalidInputError, NotFoundError, RefusedError
from remembrancer.events.kinds import Kind
from remembrancer.memory.models import Trust
from tests.acceptance.resting import given_to, recalled_all
from tests.support.stores import somebody

SAID = "My boat is called Halcyon."
EDIT = "My boat has no name."


def test_W7_an_agent_s_store_removes_nobody(store: SyncRemembrancer) -> None:
    bob = somebody(store, "bob")
    email = bob.account.email
    bob.add("Bob likes tea.")
    with pytest.raises(RefusedError) as refused:
        store.as_agent("bot").remove_person(email)
    assert refused.value.field == "authority"
    assert [each.content for each in store.person(email, create=False).list()] == ["Bob likes tea."]
    store.remove_person(email)
    with pytest.raises(NotFoundError):
        store.person(email, create=False)


def test_W7_an_agent_s_store_changes_no_schema(tmp_path: Path) -> None:
    async def run() -> None:
        async with Remembrancer(tmp_path, embedder=TrigramEmbedder()) as store:
            with pytest.raises(RefusedError) as refused:
                await store.as_agent("bot").migrate()
            assert refused.value.field == "authority"
            await store.migrate()

    asyncio.run(run())


def chat(name: str, text: str, after: int, **how: str) -> Conversation:
    message = IncomingMessage(Role.USER, text, now() + after * SECOND, **how)
    return Conversation("test", (message,), name)


def refusals(memory: SyncPersonalMemory) -> list[object]:
    return [
        each.payload.notes["rule"]
        for each in memory.events()
        if each.kind is Kind.MEMORY_REFUSED and not each.actor.is_person
    ]


def test_E2_a_machine_edits_away_nothing_that_the_person_said(ada: SyncPersonalMemory) -> None:
    name = str(uuid4())
    first = ada.tell(chat(name, SAID, 0))
    ada.set_machine_writes("accept_quotes")
    bot = ada.as_agent("bot")
    rests = bot.add("Ada's boat is Halcyon.", quote=SAID, message_id=first.messages[0])
    for write in (bot.tell, lambda it: bot.import_conversations([it])):
        with pytest.raises(RefusedError) as refused:
            write(chat(name, EDIT, 60, parent=""))
        assert refused.value.field == "authority"
    assert refusals(ada) == ["authority", "authority"]
    assert ada.messages(first.messages)[first.messages[0]].live
    assert ada.get(rests.id).trust is Trust.ACTIVE
    assert rests.id in given_to(ada, "my boat Halcyon")
    assert ada.chats()[0].messages == 1, "the refused message isn't stored"
    edit = ada.tell(chat(name, EDIT, 60, parent=""))
    assert edit.edited_away == first.messages, "the person edits what they said"
    assert ada.get(rests.id).trust is Trust.CANDIDATE
    assert rests.id not in given_to(ada, "my boat Halcyon")


def test_E2_a_machine_s_old_branch_doesn_t_take_over_later(ada: SyncPersonalMemory) -> None:
    name = str(uuid4())
    first = ada.tell(chat(name, SAID, 0))
    bot = ada.as_agent("bot")
    aside = bot.tell(chat(name, EDIT, -3600, parent=""))
    assert first.messages[0] in given_to(ada, "my boat Halcyon")
    with pytest.raises(RefusedError):
        bot.tell(chat(name, "And no colour.", 60, parent=str(aside.messages[0])))
    assert ada.messages(first.messages)[first.messages[0]].live
    assert first.messages[0] in given_to(ada, "my boat Halcyon")


def test_E2_a_machine_goes_on_with_a_chat_and_edits_its_own_words(
    ada: SyncPersonalMemory,
) -> None:
    name = str(uuid4())
    first = ada.tell(chat(name, SAID, 0))
    bot = ada.as_agent("bot")
    more = bot.tell(chat(name, "It is blue.", 60, parent=str(first.messages[0])))
    other = bot.tell(chat(name, "It is red.", 90, parent=str(first.messages[0])))
    assert other.edited_away == more.messages
    assert refusals(ada) == []


@pytest.mark.parametrize("name", ["", "x" * 201, "x" * 100_000, "a\nb", "a\0b", "\ud800", None, 7])
def test_W7_an_agent_has_a_name(ada: SyncPersonalMemory, name: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        ada.as_agent(name)
    assert refused.value.field == "agent"


def test_W7_an_agent_s_name_is_what_the_log_keeps(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    with pytest.raises(InvalidInputError):
        store.as_agent("")
    with pytest.raises(InvalidInputError):
        store.add("Ada likes tea.", user_id=ada.account.email, agent_id="a\nb")
    store.as_agent(" scout ").person(ada.account.email).add("Ada likes tea.")
    assert ada.events()[-1].actor.name == "scout"


def test_R6_the_user_s_words_as_others_report_them_say_so(ada: SyncPersonalMemory) -> None:
    bot = ada.as_agent("bot")
    for tell, text, mark in (
        (ada.tell, "My boat Halcyon is blue.", "; the user said, 2"),
        (bot.tell, "My boat Halcyon is fast.", "; the user said, as reported, 2"),
        (
            lambda it: ada.import_conversations([it]),
            "My boat Halcyon is old.",
            "; the user said, as imported, 2",
        ),
    ):
        tell(chat(str(uuid4()), text, 0))
        block = recalled_all(ada, "my boat Halcyon").recalled_block
        (line,) = [each for each in block.splitlines() if each.endswith(text)]
        assert mark in line
