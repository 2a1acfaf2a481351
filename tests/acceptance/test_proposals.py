"""What machines propose and a person decides. Policies and quotes have a file of their own."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from remembrancer import SyncPersonalMemory, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.conversations.service import Stored
from remembrancer.errors import ConflictError, NotFoundError, StaleVersionError, TransitionError
from remembrancer.memory.models import Op, Outcome, Proposal, Trust

WORDS = "Ada keeps a ledger of birds."
BETTER = "Ada keeps a ledger of moths."
NEAR = (
    "Ada's sister Mina lives in Lyon near the old opera house.",
    "Ada's sister Mina lives in Lyon, near the old opera house!",
)


def say(memory: SyncPersonalMemory, words: str, role: Role = Role.USER) -> Stored:
    said = IncomingMessage(role, words, clock.now(), speaker="Otto" if role is Role.OTHER else "")
    return memory.tell(Conversation("test", (said,), str(uuid4())))


def only(ada: SyncPersonalMemory) -> Proposal:
    (proposal,) = ada.proposals()
    return proposal


def seen(ada: SyncPersonalMemory, memory_id: UUID) -> object:
    found = ada.get(memory_id)
    return found and (found.content, found.trust, found.path, found.type, found.space_id)


Ask = Callable[[SyncPersonalMemory, UUID], Outcome]
ASKS: dict[Op, Ask] = {
    Op.CORRECT: lambda agent, it: agent.correct(it, BETTER, changed_at="2020-01-01"),
    Op.RETRACT: lambda agent, it: agent.retract(it, ended_at="2020-01-01"),
    Op.MOVE: lambda agent, it: agent.move(it, path="hobby/birds", type="user", space="club"),
    Op.ARCHIVE: lambda agent, it: agent.archive(it),
    Op.FORGET: lambda agent, it: agent.forget(it),
}


def approved(ada: SyncPersonalMemory, op: Op, memory_id: UUID) -> None:
    """What each proposal does when it is carried out."""
    if op is Op.FORGET:
        with pytest.raises(NotFoundError):
            ada.get(memory_id)
        return
    found = ada.get(memory_id)
    assert found is not None
    match op:
        case Op.CORRECT:
            assert (found.content, found.trust) == (BETTER, "confirmed")
            assert ada.get(memory_id, valid_at="2019-01-01").content == WORDS
        case Op.RETRACT:
            assert ada.get(memory_id, valid_at="2024-01-01") is None
            assert ada.get(memory_id, valid_at="2019-01-01").content == WORDS
        case Op.MOVE:
            assert (found.path, found.type) == ("hobby/birds", "user")
            assert [each.id for each in ada.in_space("club").list()] == [memory_id]
            assert ada.in_space("other").list() == []
        case Op.ARCHIVE:
            assert found.trust == "archived"


@pytest.mark.parametrize("op", ASKS)
def test_what_a_person_confirmed_a_machine_only_proposes_to_change(
    ada: SyncPersonalMemory, op: Op
) -> None:
    made, agent = ada.add(WORDS), ada.as_agent("scout")
    say(ada, BETTER)
    before = seen(ada, made.id)
    asked = ASKS[op](agent, made.id)
    assert (asked.status, asked.id, asked.version) == ("proposed", made.id, 1)
    proposal = only(ada)
    assert (proposal.id, proposal.op, proposal.target_id) == (asked.proposal, op, made.id)
    assert (proposal.base_revision, proposal.created_by) == (1, "model:scout")
    assert seen(ada, made.id) == before
    assert ASKS[op](agent, made.id).proposal == proposal.id, "asked twice, waits once"

    decided = ada.approve(proposal.id)
    assert decided.proposal == proposal.id
    approved(ada, op, made.id)
    assert ada.proposals() == []
    assert [each.id for each in ada.proposals("approved")] == [proposal.id]
    for again in (ada.approve, ada.decline):
        with pytest.raises(ConflictError):
            again(proposal.id)
    assert ada.verify().damage == ()


@pytest.mark.parametrize("op", ASKS)
def test_declining_changes_nothing_and_entombs_only_a_value(
    ada: SyncPersonalMemory, op: Op
) -> None:
    made, agent = ada.add(WORDS), ada.as_agent("scout")
    before = seen(ada, made.id)
    ASKS[op](agent, made.id)
    proposal = only(ada)
    declined = ada.decline(proposal.id)
    assert (declined.status, declined.proposal, declined.version) == ("updated", proposal.id, 1)
    assert seen(ada, made.id) == before
    assert ada.proposals() == []
    stones = [(each.kind, each.text) for each in ada.tombstones()]
    assert stones == ([("rejected", BETTER)] if op is Op.CORRECT else [])
    if op is Op.CORRECT:
        assert agent.correct(made.id, BETTER).status == "refused"
        assert ada.correct(made.id, BETTER).status == "updated", "a person may"
    else:
        assert ASKS[op](agent, made.id).status == "proposed", "it may be asked again"


@pytest.mark.parametrize("op", ASKS)
def test_a_proposal_about_what_has_changed_since_is_stale(ada: SyncPersonalMemory, op: Op) -> None:
    made = ada.add(WORDS)
    ASKS[op](ada.as_agent("scout"), made.id)
    proposal = only(ada)
    ada.pin(made.id, 1)
    before = seen(ada, made.id)
    with pytest.raises(StaleVersionError) as caught:
        ada.approve(proposal.id)
    assert (caught.value.value, caught.value.limit) == (1, 2)
    assert seen(ada, made.id) == before
    assert only(ada).id == proposal.id, "it still waits"
    assert ada.decline(proposal.id).status == "updated"


@pytest.mark.parametrize("op", [each for each in ASKS if each is not Op.FORGET])
def test_an_approval_can_be_undone_and_given_again(ada: SyncPersonalMemory, op: Op) -> None:
    made = ada.add(WORDS)
    before = seen(ada, made.id)
    ASKS[op](ada.as_agent("scout"), made.id)
    proposal = only(ada)
    ada.approve(proposal.id)
    ada.undo()
    assert seen(ada, made.id) == before
    assert only(ada).id == proposal.id
    ada.approve(proposal.id)
    approved(ada, op, made.id)


def test_a_candidate_is_approved_or_declined(ada: SyncPersonalMemory) -> None:
    agent = ada.as_agent("scout")
    made = agent.add(WORDS, quote="I write them all down.")
    assert made.status == "candidate"
    proposal = only(ada)
    assert (proposal.op, proposal.target_id, proposal.quote) == (
        "add",
        made.id,
        "I write them all down.",
    )
    assert ada.recall("hello").profile == ()
    assert ada.approve(proposal.id).status == "updated"
    assert ada.get(made.id).trust == "confirmed"

    other = agent.add("Ada may like chess.")
    ada.decline(other.proposal)
    assert ada.get(other.id).trust == "rejected"
    assert [(each.kind, each.text) for each in ada.tombstones()] == [
        ("rejected", "Ada may like chess.")
    ]
    assert agent.add("ada may like CHESS").status == "refused"


def test_the_person_says_what_a_correction_means(ada: SyncPersonalMemory) -> None:
    made, agent = ada.add(WORDS), ada.as_agent("scout")
    agent.correct(made.id, BETTER)
    assert only(ada).arguments == {"meaning": "unstated"}
    ada.approve(only(ada).id, was_wrong=True)
    assert ada.get(made.id, valid_at="1999-01-01").content == BETTER
    assert [(each.kind, each.text) for each in ada.tombstones()] == [("refuted", WORDS)]
    agent.correct(made.id, "Ada counts frogs.", was_wrong=True)
    ada.approve(only(ada).id, changed_at="2021-01-01")
    assert ada.get(made.id, valid_at="2020-01-01").content == BETTER
    assert ada.get(made.id).content == "Ada counts frogs."


def test_a_proposal_keeps_which_stretch_was_meant(ada: SyncPersonalMemory) -> None:
    made, agent = ada.add(WORDS), ada.as_agent("scout")
    ada.correct(made.id, "Ada rests.", changed_at="2020-01-01")
    agent.correct(made.id, BETTER, was_wrong=True, valid_at="2010-01-01")
    ada.approve(only(ada).id)
    assert ada.get(made.id).content == "Ada rests."
    assert ada.get(made.id, valid_at="2010-01-01").content == BETTER
    agent.retract(made.id, was_wrong=True, valid_at="2010-01-01")
    ada.approve(only(ada).id)
    assert ada.get(made.id, valid_at="2010-01-01") is None
    assert ada.get(made.id).content == "Ada rests."


def test_a_near_duplicate_is_offered_as_a_merge(ada: SyncPersonalMemory) -> None:
    old = ada.add(NEAR[0])
    ada.add("The boiler was serviced in March.")
    assert ada.proposals() == [], "an unrelated line isn't"
    new = ada.add(NEAR[1])
    assert new.status == "created", "never merged by itself"
    proposal = only(ada)
    assert (proposal.op, proposal.target_id, proposal.other_id) == ("merge", old.id, new.id)
    ada.approve(proposal.id)
    assert (ada.get(old.id).trust, ada.get(new.id).trust) == ("confirmed", "archived")
    ada.undo()
    assert ada.get(new.id).trust == "confirmed"
    assert only(ada).id == proposal.id
    ada.decline(proposal.id)
    assert {each.trust for each in ada.list()} == {Trust.CONFIRMED}
    assert ada.tombstones() == []


def test_a_merge_with_a_candidate_puts_it_away(ada: SyncPersonalMemory) -> None:
    old = ada.add(NEAR[0])
    new = ada.as_agent("scout").add(NEAR[1])
    assert new.status == "candidate"
    (merge,) = [each for each in ada.proposals() if each.op is Op.MERGE]
    ada.approve(merge.id)
    assert ada.proposals() == []
    assert (ada.get(old.id).trust, ada.get(new.id).trust) == ("confirmed", "archived")
    assert ada.tombstones() == []


def test_a_merge_is_stale_when_its_memory_has_changed(ada: SyncPersonalMemory) -> None:
    old = ada.add(NEAR[0])
    ada.add(NEAR[1])
    ada.move(old.id, path="family")
    with pytest.raises(StaleVersionError):
        ada.approve(only(ada).id)


def test_a_machine_doesn_t_propose_what_no_person_could_do(ada: SyncPersonalMemory) -> None:
    agent = ada.as_agent("scout")
    made = agent.add(WORDS)
    with pytest.raises(TransitionError):
        agent.archive(made.id)
    assert [each.op for each in ada.proposals()] == ["add"]


def test_another_s_proposal_is_unknown(ada: SyncPersonalMemory, ben: SyncPersonalMemory) -> None:
    made = ada.as_agent("scout").add(WORDS)
    for decide in (ben.approve, ben.decline):
        for unknown in (made.proposal, uuid4()):
            with pytest.raises(NotFoundError):
                decide(unknown)
    assert ben.proposals() == []
    assert ada.approve(made.proposal).status == "updated"
