"""W7: what a machine may not write is refused through every entry point, and the refusal is logged.

The entry points are found in the code: the operations of the gateway, and the writing methods of
`PersonalMemory`. One without a case here fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from remembrancer import PersonalMemory, SyncPersonalMemory, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.errors import RefusedError
from remembrancer.library.reading import ReadableMemory
from remembrancer.memory.models import (
    Add,
    Correct,
    Forget,
    Meaning,
    Move,
    Operation,
    Outcome,
    Pin,
    Retract,
    SetTrust,
    Trust,
    Undo,
)

GONE = "Ada once lived in Ulm with Otto."
NEW = "Ada plays the viola in a quartet."


@dataclass(frozen=True)
class World:
    """What there is to write about: a memory, a proposal, a chat with its message, an event."""

    memory: UUID
    proposal: UUID
    chat: UUID
    message: UUID
    event: int


def told(words: str) -> Conversation:
    return Conversation("test", (IncomingMessage(Role.USER, words, clock.now()),), str(uuid4()))


def world(ada: SyncPersonalMemory) -> World:
    gone = ada.add(GONE)
    ada.forget(gone.id)
    chat = ada.tell(told("Ada drinks tea, every morning."))
    made = ada.add("Ada drinks tea.")
    guess = ada.as_agent("scout").add("Ada may like chess.")
    return World(made.id, guess.proposal, chat.chat_id, chat.messages[0], made.event)


Call = Callable[[SyncPersonalMemory, World, str], object]

METHODS: Mapping[str, Call] = {
    "in_space": lambda it, _, value: it.in_space(value[:20]),
    "add": lambda it, _, value: it.add(value),
    "correct": lambda it, w, value: it.correct(w.memory, value),
    "retract": lambda it, w, _: it.retract(w.memory, was_wrong=True),
    "move": lambda it, w, _: it.move(w.memory, path="kitchen"),
    "confirm": lambda it, w, _: it.confirm(w.memory),
    "dispute": lambda it, w, _: it.dispute(w.memory),
    "archive": lambda it, w, _: it.archive(w.memory),
    "reject": lambda it, w, _: it.reject(w.memory),
    "pin": lambda it, w, _: it.pin(w.memory, 1),
    "forget": lambda it, w, _: it.forget(w.memory),
    "undo": lambda it, w, _: it.undo(w.event),
    "apply": lambda it, _, value: it.apply([Add(value)])[0],
    "clear_all": lambda it, _, __: it.clear_all(),
    "tell": lambda it, _, value: it.tell(told(value)),
    "import_conversations": lambda it, _, value: it.import_conversations([told(value)]),
    "delete_message": lambda it, w, _: it.delete_message(w.message),
    "delete_chat": lambda it, w, _: it.delete_chat(w.chat),
    "delete_import": lambda it, _, __: it.delete_import(uuid4()),
    "approve": lambda it, w, _: it.approve(w.proposal),
    "decline": lambda it, w, _: it.decline(w.proposal),
    "set_machine_writes": lambda it, _, __: it.set_machine_writes("accept_all"),
}
OPERATIONS: Mapping[type[Operation], Callable[[World, str], Operation]] = {
    Add: lambda _, value: Add(value),
    Correct: lambda w, value: Correct(w.memory, value, Meaning.UNSTATED),
    Retract: lambda w, _: Retract(w.memory, Meaning.WAS_WRONG),
    Move: lambda w, _: Move(w.memory, path="kitchen"),
    SetTrust: lambda w, _: SetTrust(w.memory, Trust.ARCHIVED),
    Pin: lambda w, _: Pin(w.memory, 1),
    Forget: lambda w, _: Forget(w.memory),
    Undo: lambda _, __: Undo(),
}
UPKEEP = {"reindex"}
"""Changes nothing that was said: everybody may."""
VALUED = ("add", "correct", "apply")
"""The methods that bring a value in. `tell` brings evidence: that is withheld, not refused."""
ONLY_A_PERSON = (
    "confirm",
    "dispute",
    "reject",
    "pin",
    "undo",
    "clear_all",
    "delete_message",
    "delete_chat",
    "delete_import",
    "approve",
    "decline",
    "set_machine_writes",
)


def writing_methods() -> set[str]:
    return {
        name
        for name, _ in inspect.getmembers(PersonalMemory, inspect.iscoroutinefunction)
        if not name.startswith("_") and not hasattr(ReadableMemory, name)
    }


def rule_of(agent: SyncPersonalMemory, call: Callable[[], object]) -> str | None:
    """The rule that refused the call, None when it went through."""
    try:
        answer = call()
    except RefusedError as error:
        return error.field
    assert agent is not None
    refused = isinstance(answer, Outcome) and answer.status == "refused"
    return answer.code if refused else None


def state(ada: SyncPersonalMemory) -> object:
    stones = [(each.id, each.lifted) for each in ada.tombstones()]
    return (ada.list(trust=list(Trust)), ada.proposals(), stones, ada.chats())


def check_refused(ada: SyncPersonalMemory, call: Callable[[], object], *rules: str) -> None:
    """Refused by one of the rules, with one line in the log and nothing else changed."""
    before, seq = state(ada), ada.events()[-1].seq
    assert rule_of(ada, call) in rules
    assert state(ada) == before
    (line,) = ada.events(after=seq)
    assert (line.kind.value, line.actor.kind.value) == ("memory.refused", "model")
    assert line.actor.name == "scout"
    assert line.payload.notes["rule"] in {"policy", "tombstone", "authority"}


def test_W7_every_entry_point_has_a_case() -> None:
    assert writing_methods() - UPKEEP == set(METHODS)
    assert set(Operation.__args__) == set(OPERATIONS)
    missing = [name for name in METHODS if not callable(getattr(SyncPersonalMemory, name, None))]
    assert missing == []


@pytest.mark.parametrize("name", METHODS)
def test_W7_off_is_off_through_every_method(ada: SyncPersonalMemory, name: str) -> None:
    there = world(ada)
    ada.set_machine_writes("off")
    agent = ada.as_agent("scout")
    check_refused(ada, lambda: METHODS[name](agent, there, NEW), "policy", "authority")
    if name != "delete_import":
        assert rule_of(ada, lambda: METHODS[name](ada, there, NEW)) is None, "a person may"


@pytest.mark.parametrize("kind", OPERATIONS)
def test_W7_off_is_off_for_every_operation(ada: SyncPersonalMemory, kind: type[Operation]) -> None:
    there = world(ada)
    ada.set_machine_writes("off")
    operation = OPERATIONS[kind](there, NEW)
    agent = ada.as_agent("scout")
    check_refused(ada, lambda: agent.apply([operation])[0], "policy", "authority")
    check_refused(ada, lambda: agent.apply([operation], atomic=True)[0], "policy", "authority")
    assert ada.apply([operation])[0].status not in {"refused", "error"}


@pytest.mark.parametrize("name", ONLY_A_PERSON)
def test_W7_what_only_a_person_does_is_refused(ada: SyncPersonalMemory, name: str) -> None:
    there = world(ada)
    ada.set_machine_writes("accept_all")
    agent = ada.as_agent("scout")
    check_refused(ada, lambda: METHODS[name](agent, there, NEW), "authority")


@pytest.mark.parametrize("rule", ["ask", "accept_quotes", "accept_all"])
@pytest.mark.parametrize("name", VALUED)
def test_W7_a_tombstoned_value_is_refused(ada: SyncPersonalMemory, name: str, rule: str) -> None:
    there = world(ada)
    ada.set_machine_writes(rule)
    agent = ada.as_agent("scout")
    for count, value in enumerate((GONE, GONE.upper(), f"We know that {GONE}"), 1):
        check_refused(ada, lambda value=value: METHODS[name](agent, there, value), "tombstoned")
        assert [each.attempts for each in ada.tombstones()] == [count]
    assert rule_of(ada, lambda: METHODS[name](agent, there, NEW)) is None


def test_W7_what_is_told_again_is_evidence_without_the_tombstoned_value(
    ada: SyncPersonalMemory,
) -> None:
    world(ada)
    ada.tell(told(f"{GONE} The rent beside the cathedral cost 900 francs."))
    agent = ada.as_agent("scout")
    check_refused(ada, lambda: agent.add(GONE, quote=GONE), "tombstoned")
    found = ada.recall("What did the rent beside the cathedral cost?").entries
    assert [each.kind for each in found] == ["message"]
    assert "The rent beside the cathedral cost 900 francs." in found[0].content
    assert "Ulm" not in found[0].content
