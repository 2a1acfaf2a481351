"""When a machine's write is accepted: the person's rule, and quotes of their own words."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from remembrancer import SyncPersonalMemory, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.conversations.service import Stored
from remembrancer.memory.models import Add, Move, Quote

WORDS = "Ada keeps a ledger of birds."
BETTER = "Ada keeps a ledger of moths."


def say(memory: SyncPersonalMemory, words: str, role: Role = Role.USER) -> Stored:
    said = IncomingMessage(role, words, clock.now(), speaker="Otto" if role is Role.OTHER else "")
    return memory.tell(Conversation("test", (said,), str(uuid4())))


@pytest.mark.parametrize(
    ("rule", "quoted", "unquoted", "change"),
    [
        (None, "created", "candidate", "proposed"),
        ("accept_quotes", "created", "candidate", "proposed"),
        ("ask", "candidate", "candidate", "proposed"),
        ("accept_all", "created", "created", "updated"),
        ("off", "refused", "refused", "refused"),
    ],
)
def test_the_person_s_rule_decides(
    ada: SyncPersonalMemory, rule: str | None, quoted: str, unquoted: str, change: str
) -> None:
    agent = ada.as_agent("scout")
    say(ada, f"{WORDS} Nothing more today.")
    active = agent.add("Nothing more today.", quote="Nothing more today.")
    assert ada.get(active.id).trust == "active"
    confirmed = ada.add("Ada is left-handed.")
    if rule is not None:
        ada.set_machine_writes(rule)
    made = agent.add(WORDS, quote=WORDS)
    assert made.status == quoted
    if quoted == "created":
        assert ada.get(made.id).trust == "active"
    assert agent.add("Ada may like chess.").status == unquoted
    assert agent.move(active.id, path="notes").status == change
    on_confirmed = agent.move(confirmed.id, path="notes").status
    assert on_confirmed == ("refused" if rule == "off" else "proposed"), "whatever the rule"
    assert ada.add("Ada drinks tea.").status == "created", "the rule is about machines"
    ada.set_machine_writes("accept_quotes")
    assert agent.add("Ada may like go.").status == "candidate"


def test_a_quoted_correction_of_an_active_memory_lands(ada: SyncPersonalMemory) -> None:
    agent = ada.as_agent("scout")
    say(ada, WORDS)
    made = agent.add(WORDS, quote=WORDS)
    assert agent.correct(made.id, "Ada rests.").status == "proposed", "without a quote"
    say(ada, f"In truth, {BETTER}")
    landed = agent.correct(made.id, BETTER, quote=BETTER, was_wrong=True)
    assert landed.status == "updated"
    found = ada.get(made.id)
    assert (found.content, found.trust) == (BETTER, "active")
    assert [each.quote for each in ada.history(made.id).evidence] == [WORDS, BETTER]


# Quotes: only the person's own words, verbatim, in this chat.


def test_a_verbatim_quote_of_the_person_s_carries_a_memory(ada: SyncPersonalMemory) -> None:
    told = say(ada, f"Well. {WORDS} There it is.")
    (message,) = told.messages
    for count, where in enumerate(
        ({}, {"chat_id": told.chat_id}, {"message_id": message}, {"chat_id": str(told.chat_id)})
    ):
        made = ada.as_agent("scout").add(f"Ledger {count * 7919}.", quote=WORDS, **where)
        assert ada.get(made.id).trust == "active"
        (evidence,) = ada.history(made.id).evidence
        assert (evidence.quote, evidence.message_id, evidence.deleted) == (WORDS, message, False)


def assistants(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, WORDS, Role.ASSISTANT)
    return {}


def others(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, WORDS, Role.OTHER)
    return {}


def clients(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada.as_agent("client"), WORDS)
    return {}


def another_chat(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, WORDS)
    return {"chat_id": say(ada, "Something else.").chat_id}


def another_message(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, WORDS)
    return {"message_id": say(ada, "Something else.").messages[0]}


def no_message(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, WORDS)
    return {"message_id": uuid4()}


def paraphrased(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, "Ada keeps a good ledger of birds.")
    return {}


def joined(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, "Ada keeps a ledger")
    say(ada, "of birds.")
    return {}


def withheld(ada: SyncPersonalMemory) -> dict[str, object]:
    say(ada, WORDS)
    ada.forget(ada.add(WORDS).id)
    return {}


def unsaid(ada: SyncPersonalMemory) -> dict[str, object]:
    return {}


@pytest.mark.parametrize(
    "situation",
    [
        assistants,
        others,
        clients,
        another_chat,
        another_message,
        no_message,
        paraphrased,
        joined,
        withheld,
        unsaid,
    ],
)
def test_any_other_quote_makes_a_candidate_at_most(
    ada: SyncPersonalMemory, situation: Callable[[SyncPersonalMemory], dict[str, object]]
) -> None:
    where = situation(ada)
    made = ada.as_agent("scout").add("Ada likes birds a lot.", quote=WORDS, **where)
    assert made.status == ("refused" if situation is withheld else "candidate")
    if made.id is not None:
        assert ada.get(made.id).trust == "candidate"


def test_another_person_s_words_carry_nothing(
    ada: SyncPersonalMemory, ben: SyncPersonalMemory
) -> None:
    told = say(ben, WORDS)
    outcomes = ada.as_agent("scout").apply(
        [
            Add("One thing.", quote=Quote(WORDS)),
            Add("Another thing.", quote=Quote(WORDS, told.messages[0], told.chat_id)),
        ]
    )
    assert [each.status for each in outcomes] == ["candidate", "candidate"]
    made = ben.as_agent("scout").add(WORDS, quote=WORDS)
    assert made.status == "created"
    assert ada.apply([Move(made.id, path="mine")])[0].code == "not_found"
