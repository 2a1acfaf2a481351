"""A person's decisions: trust states, undo, pins, places. Proposals have a file of their own."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from remembrancer import SyncPersonalMemory, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.errors import ConflictError, NotFoundError, TransitionError
from remembrancer.memory.models import Outcome, Trust
from remembrancer.memory.transitions import BY_PERSON

WAYS = {
    Trust.CONFIRMED: "confirm",
    Trust.DISPUTED: "dispute",
    Trust.ARCHIVED: "archive",
    Trust.REJECTED: "reject",
}


def say(ada: SyncPersonalMemory, words: str) -> None:
    said = IncomingMessage(Role.USER, words, clock.now())
    ada.tell(Conversation("test", (said,), str(uuid4())))


def bring(ada: SyncPersonalMemory, words: str, state: Trust) -> UUID:
    """A memory in that state."""
    if state is Trust.CANDIDATE:
        made = ada.as_agent("scout").add(words)
    elif state is Trust.ACTIVE:
        say(ada, words)
        made = ada.as_agent("scout").add(words, quote=words)
    else:
        made = ada.add(words)
        if state is not Trust.CONFIRMED:
            getattr(ada, WAYS[state])(made.id)
    assert made.id is not None
    assert ada.get(made.id).trust is state
    return made.id


def snapshot(ada: SyncPersonalMemory, memory_id: UUID) -> tuple[object, ...] | None:
    """What a person sees of a memory, without its version numbers and dates of record."""
    found = ada.get(memory_id)
    if found is None:
        return None
    return (
        (found.content, found.trust, found.type, found.path, found.space_id, found.pin_rank),
        (found.valid_from, found.valid_to),
        [ada.get(memory_id, valid_at=f"{year}-07-01") is None for year in (2010, 2023, 2080)],
        [(each.kind, each.lifted) for each in ada.tombstones()],
        [(each.op, each.target_id) for each in ada.proposals()],
    )


def test_a_person_moves_memories_along_the_whole_table(ada: SyncPersonalMemory) -> None:
    tried = 0
    for present in Trust:
        for wanted, way in WAYS.items():
            tried += 1
            memory_id = bring(ada, f"Fact {tried * 7919}, {present} to {wanted}.", present)
            version = ada.get(memory_id).version
            call = getattr(ada, way)
            if wanted is present:
                assert call(memory_id).status == "unchanged"
                assert ada.get(memory_id).version == version
            elif wanted in BY_PERSON[present]:
                changed = call(memory_id)
                assert (changed.status, changed.version) == ("updated", version + 1)
                assert ada.get(memory_id).trust is wanted
                assert ada.events()[-1].kind == f"memory.{wanted}"
            else:
                with pytest.raises(TransitionError) as caught:
                    call(memory_id)
                assert caught.value.field == "trust"
                assert (ada.get(memory_id).trust, ada.get(memory_id).version) == (present, version)
    assert tried == 24
    assert ada.verify().damage == ()


@pytest.mark.parametrize("present", list(Trust))
def test_a_machine_moves_nothing_along_the_table(ada: SyncPersonalMemory, present: Trust) -> None:
    memory_id = bring(ada, "Ada keeps a ledger of birds.", present)
    agent = ada.as_agent("scout")
    agent_all = [getattr(agent, way)(memory_id) for way in ("confirm", "dispute", "reject")]
    assert {(each.status, each.code) for each in agent_all} == {("refused", "authority")}
    if present is Trust.ARCHIVED:
        assert agent.archive(memory_id).status == "unchanged"
    elif Trust.ARCHIVED in BY_PERSON[present]:
        assert agent.archive(memory_id).status == "proposed"
    else:
        with pytest.raises(TransitionError):
            agent.archive(memory_id)
    assert ada.get(memory_id).trust is present


def test_only_active_and_confirmed_reach_a_prompt(ada: SyncPersonalMemory) -> None:
    profile = {}
    for count, state in enumerate(Trust):
        memory_id = bring(ada, f"Line {count * 7919} stands there.", state)
        moved = ada.move(memory_id, type="user")
        assert moved.status == "updated"
        profile[memory_id] = state
    given = {profile[each.id] for each in ada.recall("hello").profile}
    assert given == {Trust.ACTIVE, Trust.CONFIRMED}
    assert {each.trust for each in ada.list()} == set(Trust) - {Trust.ARCHIVED, Trust.REJECTED}
    assert {each.trust for each in ada.list(trust=list(Trust))} == set(Trust)


def test_confirming_a_rejected_memory_lifts_its_tombstone(ada: SyncPersonalMemory) -> None:
    memory_id = bring(ada, "Ada keeps a ledger of birds.", Trust.REJECTED)
    assert ada.as_agent("scout").add("Ada keeps a ledger of birds.").status == "refused"
    ada.confirm(memory_id)
    assert [each.lifted for each in ada.tombstones()] == [True]
    assert ada.as_agent("scout").add("Ada keeps a ledger of birds.").status == "duplicate"


Change = Callable[[SyncPersonalMemory, UUID], Outcome]
CHANGES: dict[str, Change] = {
    "corrected, wrong": lambda ada, it: ada.correct(it, "Ada counts moths.", was_wrong=True),
    "corrected, changed": lambda ada, it: ada.correct(it, "Ada rests.", changed_at="2020-01-01"),
    "corrected, to come": lambda ada, it: ada.correct(it, "Ada rests.", changed_at="2070-01-01"),
    "corrected, unstated": lambda ada, it: ada.correct(it, "Ada counts moths.", path="hobby"),
    "retracted, wrong": lambda ada, it: ada.retract(it, was_wrong=True),
    "retracted, ended": lambda ada, it: ada.retract(it, ended_at="2020-01-01"),
    "moved, path": lambda ada, it: ada.move(it, path="hobby/birds"),
    "moved, type": lambda ada, it: ada.move(it, type="user"),
    "moved, space": lambda ada, it: ada.move(it, space="club"),
    "pinned": lambda ada, it: ada.pin(it, 4),
    "disputed": lambda ada, it: ada.dispute(it),
    "archived": lambda ada, it: ada.archive(it),
    "rejected": lambda ada, it: ada.reject(it),
}
WORDS = "Ada keeps a ledger of birds."


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("named", [True, False])
def test_undo_restores_what_was_before(ada: SyncPersonalMemory, change: str, named: bool) -> None:
    made = ada.add(WORDS, path="notes", valid_from="2015-01-01")
    before = snapshot(ada, made.id)
    changed = CHANGES[change](ada, made.id)
    assert (changed.status, changed.version) == ("updated", 2)
    after = snapshot(ada, made.id)
    assert after != before
    undone = ada.undo(changed.event if named else None)
    assert (undone.status, undone.id, undone.version) == ("updated", made.id, 3)
    restored = snapshot(ada, made.id)
    assert restored[:3] == before[:3]
    assert all(lifted for _, lifted in restored[3])
    line = ada.events()[-1]
    assert (line.kind, line.payload.notes) == ("memory.undone", {"undid": changed.event})
    assert CHANGES[change](ada, made.id).status == "updated", "and it can be done again"
    again = snapshot(ada, made.id)
    assert (again and again[0]) == (after and after[0])
    assert ada.verify().damage == ()


@pytest.mark.parametrize("present", [Trust.ACTIVE, Trust.DISPUTED, Trust.ARCHIVED, Trust.REJECTED])
def test_undo_of_a_confirmation(ada: SyncPersonalMemory, present: Trust) -> None:
    memory_id = bring(ada, WORDS, present)
    before = snapshot(ada, memory_id)
    ada.confirm(memory_id)
    ada.undo()
    assert snapshot(ada, memory_id) == before


def test_undo_of_an_approved_candidate_asks_again(ada: SyncPersonalMemory) -> None:
    memory_id = bring(ada, WORDS, Trust.CANDIDATE)
    (proposal,) = ada.proposals()
    for decide in (ada.approve, ada.decline):
        decide(proposal.id)
        assert ada.proposals() == []
        ada.undo()
        assert ada.get(memory_id).trust is Trust.CANDIDATE
        assert [each.id for each in ada.proposals()] == [proposal.id]
    assert [each.lifted for each in ada.tombstones()] == [True]
    assert ada.as_agent("scout").add(WORDS).status == "duplicate"


def test_undo_of_one_s_own_add(ada: SyncPersonalMemory) -> None:
    made = ada.add(WORDS)
    kept = ada.add("Ada is left-handed.")
    assert ada.undo(made.event).status == "updated"
    assert ada.get(made.id) is None
    assert [each.id for each in ada.list(trust=list(Trust))] == [kept.id]
    assert ada.tombstones() == [], "taking back isn't refusing"
    again = ada.add(WORDS)
    assert (again.status, again.id != made.id) == ("created", True)


def test_undo_of_a_machine_s_add_refuses_it(ada: SyncPersonalMemory) -> None:
    memory_id = bring(ada, WORDS, Trust.ACTIVE)
    (added,) = [each for each in ada.events() if each.kind == "memory.added"]
    ada.undo(added.seq)
    assert ada.get(memory_id).trust is Trust.REJECTED
    assert ada.as_agent("scout").add(WORDS).status == "refused"
    ada.undo()
    assert ada.get(memory_id).trust is Trust.ACTIVE


def test_undo_of_an_add_that_lifted_a_tombstone_puts_it_back(ada: SyncPersonalMemory) -> None:
    ada.reject(ada.add(WORDS).id)
    ada.add(WORDS)
    assert [each.lifted for each in ada.tombstones()] == [True]
    ada.undo()
    assert [each.lifted for each in ada.tombstones()] == [False]
    assert ada.as_agent("scout").add(WORDS).status == "refused"


def test_undo_of_a_machine_s_correction(ada: SyncPersonalMemory) -> None:
    memory_id = bring(ada, WORDS, Trust.ACTIVE)
    say(ada, "Ada counts moths now.")
    changed = ada.as_agent("scout").correct(
        memory_id, "Ada counts moths now.", quote="Ada counts moths now."
    )
    assert changed.status == "updated"
    assert ada.get(memory_id).content == "Ada counts moths now."
    ada.undo(changed.event)
    assert (ada.get(memory_id).content, ada.get(memory_id).trust) == (WORDS, Trust.ACTIVE)


def test_undo_without_an_argument_walks_back_step_by_step(ada: SyncPersonalMemory) -> None:
    one = ada.add(WORDS).id
    steps = [snapshot(ada, one)]
    for change in ("corrected, changed", "moved, path", "pinned", "disputed", "moved, type"):
        CHANGES[change](ada, one)
        steps.append(snapshot(ada, one))
    other = ada.add("Ada is left-handed.").id
    bring(ada, "A machine's guess, in between.", Trust.CANDIDATE)
    assert ada.undo().id == other
    assert ada.get(other) is None
    while steps:
        assert snapshot(ada, one)[:3] == steps.pop()[:3]
        assert ada.undo().id == one
    assert ada.get(one) is None
    with pytest.raises(NotFoundError) as caught:
        ada.undo()
    assert caught.value.field == "event"
    assert ada.verify().damage == ()


def test_undo_after_an_undo_and_a_new_change(ada: SyncPersonalMemory) -> None:
    made = ada.add(WORDS)
    ada.move(made.id, path="one")
    ada.undo()
    ada.move(made.id, path="two")
    ada.archive(made.id)
    ada.undo()
    assert (ada.get(made.id).path, ada.get(made.id).trust) == ("two", Trust.CONFIRMED)
    ada.undo()
    assert ada.get(made.id).path == ""
    ada.undo()
    assert ada.get(made.id) is None


def test_undo_is_guarded_by_what_came_after(ada: SyncPersonalMemory) -> None:
    made = ada.add(WORDS)
    moved = ada.move(made.id, path="notes")
    later = ada.dispute(made.id)
    before = ada.events()
    with pytest.raises(ConflictError) as caught:
        ada.undo(moved.event)
    assert (caught.value.field, caught.value.value) == ("event", moved.event)
    assert "later" in caught.value.hint
    assert ada.events() == before
    undone = ada.undo(later.event)
    assert ada.undo(moved.event).status == "updated"
    assert ada.get(made.id).path == ""
    for event in (moved.event, later.event, undone.event):
        with pytest.raises(ConflictError):
            ada.undo(event)
    with pytest.raises(NotFoundError):
        ada.undo(9999)


def test_forgetting_is_for_good(ada: SyncPersonalMemory) -> None:
    kept = ada.add("Ada is left-handed.")
    made = ada.add(WORDS)
    moved = ada.move(made.id, path="notes")
    gone = ada.forget(made.id)
    for event in (gone.event, moved.event, made.event):
        with pytest.raises(ConflictError):
            ada.undo(event)
    assert ada.undo().id == kept.id, "the last that can be undone is another's"


def test_another_s_events_can_t_be_undone(ada: SyncPersonalMemory, ben: SyncPersonalMemory) -> None:
    ada.add(WORDS)
    with pytest.raises(NotFoundError):
        ben.undo()
    assert ada.undo().status == "updated"


def test_pins_order_the_profile(ada: SyncPersonalMemory) -> None:
    made = [ada.add(f"Line {count * 7919}.", type="user").id for count in range(4)]

    def order() -> list[int]:
        return [made.index(each.id) for each in ada.recall("hello").profile]

    assert order() == [3, 2, 1, 0], "the newest change first"
    ada.pin(made[1], 5)
    ada.pin(made[0], 2)
    assert order() == [0, 1, 3, 2]
    assert ada.get(made[1]).pin_rank == 5
    assert ada.pin(made[1], 5).status == "unchanged"
    ada.pin(made[1], 1)
    assert order()[:2] == [1, 0]
    ada.pin(made[1], None)
    assert ada.get(made[1]).pin_rank is None
    assert order()[0] == 0


def test_a_memory_moves_between_paths_types_and_spaces(ada: SyncPersonalMemory) -> None:
    made = ada.add(WORDS, path="notes")
    club = ada.in_space("club")
    ada.move(made.id, space="club")
    assert ada.get(made.id).space_id is not None
    assert [each.id for each in club.list()] == [made.id]
    assert ada.in_space("other").list() == []
    assert ada.move(made.id, space="club").status == "unchanged"
    assert ada.move(made.id).status == "unchanged"
    ada.move(made.id, path="/notes//birds/", type="user")
    found = ada.get(made.id)
    assert (found.path, found.type, found.content) == ("notes/birds", "user", WORDS)
    ada.move(made.id, leave_space=True, path="")
    found = ada.get(made.id)
    assert (found.space_id, found.path) == (None, "")
    assert [each.id for each in ada.in_space("other").list()] == [made.id]


def test_a_move_moves_every_stretch(ada: SyncPersonalMemory) -> None:
    made = ada.add(WORDS)
    ada.correct(made.id, "Ada counts moths.", changed_at="2020-01-01")
    ada.move(made.id, path="hobby")
    ada.dispute(made.id)
    for year in (2010, 2023):
        found = ada.get(made.id, valid_at=f"{year}-01-01")
        assert (found.path, found.trust) == ("hobby", "disputed")
