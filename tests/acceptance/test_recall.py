"""R1, R2, R4, R5: how much comes back, in which order, why not the rest, and what a path names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from uuid import UUID

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer, clock
from remembrancer.clock import SECOND
from remembrancer.conversations.models import Conversation, Role
from remembrancer.db.units import Unit
from remembrancer.embeddings.factory import NoEmbedder
from remembrancer.index.view import View
from remembrancer.memory.models import Add
from remembrancer.recall.models import Branch, Recall, Request
from remembrancer.recall.reasons import Reason
from remembrancer.text.limits import estimate_tokens
from remembrancer.text.normalise import fingerprint
from tests.acceptance.forgetting import NOON, engine_of, mine, said
from tests.acceptance.recalling import (
    assert_accounted,
    assert_in_order,
    given,
    id_of,
    lines,
    profile_lines,
    reasons,
    remember,
)
from tests.support.stores import Place, somebody

QUERY = "what grows in the orchard?"
WIDE = 100_000


def orchard(number: int, length: int = 0) -> str:
    """A memory that answers QUERY; each of other words, so that none repeats another."""
    filling = Random(number)
    words = [f"{number}"]
    while len(" ".join(words)) < length:
        words.append("".join(filling.choices("abcdefghijklmnop", k=filling.randint(3, 9))))
    return f"What grows in the orchard, row {' '.join(words)}"


# R1


def test_R1_k_and_the_budgets_bound_the_blocks_whatever_the_lengths(
    ada: SyncPersonalMemory,
) -> None:
    dice = Random(1)
    lengths = [dice.choice((0, 40, 200, 900, 4_000)) for _ in range(40)]
    remember(ada, [orchard(at, length) for at, length in enumerate(lengths)])
    ada.apply([Add(orchard(100 + at, 30 * 3**at), type="user") for at in range(5)])
    ada.tell(mine(*(orchard(200 + at, 100 * at) for at in range(12))))
    filled = set()
    for _ in range(60):
        k = dice.choice((0, 1, 2, 5, 8, 30, 500))
        total = dice.choice((0, 60, 150, 400, 1_200, 6_000, WIDE))
        budget = dice.choice((0, 40, 100, 400, 2_000, WIDE))
        asked = Request(QUERY, k=k, total_budget=total, profile_budget=budget)
        recall = ada.recall(asked)
        profile, recalled = map(estimate_tokens, (recall.profile_block, recall.recalled_block))
        assert (profile, recalled) == (recall.tokens.profile, recall.tokens.recalled)
        assert len(lines(recall)) <= k
        assert profile <= min(budget, total)
        assert profile + recalled <= total
        assert_accounted(recall)
        filled.add((bool(profile), bool(recalled), len(lines(recall)) == k > 0))
    assert (True, True, True) in filled
    assert (True, False, False) in filled


@pytest.mark.parametrize("k", [1, 3, 8, 20])
def test_R1_k_good_matches_that_fit_give_k_entries(ada: SyncPersonalMemory, k: int) -> None:
    remember(ada, [orchard(at) for at in range(24)])
    remember(ada, [f"Somebody else's paper number {at}." for at in range(10)])
    recall = ada.recall(Request(QUERY, k=k, total_budget=WIDE))
    assert len(given(recall)) == k
    assert all("orchard" in each for each in given(recall))


def test_R1_what_does_not_fit_makes_room_for_what_does(ada: SyncPersonalMemory) -> None:
    (long,) = remember(ada, [f"What grows in the orchard? {QUERY * 150}"])
    short = remember(ada, [f"In the orchard is tree number {at}." for at in range(9)])
    wide = ada.recall(Request(QUERY, k=8, total_budget=WIDE, floor=False))
    assert lines(wide)[0].id == long
    recall = ada.recall(Request(QUERY, k=8, total_budget=1_200, floor=False))
    assert len(lines(recall)) == 8
    assert {line.id for line in lines(recall)} < set(short)
    assert reasons(recall)[long] == "over_budget"


def test_R1_the_profile_keeps_its_order_and_its_own_budget(ada: SyncPersonalMemory) -> None:
    made = [ada.add(f"Fact {at} about me: {'x' * 40 * at}", type="user") for at in range(6)]
    ids = [id_of(each) for each in made]
    ada.pin(ids[0], 1)
    ada.pin(ids[2], 0)
    whole = ada.recall(Request("hello", total_budget=WIDE, profile_budget=WIDE))
    order = [id_ for id_, _ in profile_lines(whole)]
    assert order[:2] == [ids[2], ids[0]]
    assert set(order) == set(ids)
    part = ada.recall(Request("hello", profile_budget=160))
    shown = [id_ for id_, _ in profile_lines(part)]
    assert 0 < len(shown) < len(ids)
    assert shown == [each for each in order if each in shown], "skipped, never sorted"
    assert {each for each in ids if each not in shown} == set(reasons(part))
    assert set(reasons(part).values()) == {"over_budget"}


# R2


def test_R2_prompt_order_is_score_order_at_every_size(ada: SyncPersonalMemory) -> None:
    dice = Random(2)
    sizes = [*range(1, 31), 40, 60, 100, 150, 200]
    for size in sizes:
        have = len(ada.list(limit=500))
        fresh = [orchard(at, dice.randint(0, 120)) for at in range(have, size)]
        remember(ada, fresh, path=dice.choice(("", "garden", "orchard")))
        question = Request(QUERY, k=dice.choice((3, 8, 25)), total_budget=WIDE)
        recall = ada.recall(question)
        assert recall.trace.documents == size
        assert lines(recall)
        assert_in_order(recall)


@pytest.mark.parametrize("size", [2, 9, 60, 200])
def test_R2_of_equals_the_earlier_comes_first_then_the_fingerprint(place: Place, size: int) -> None:
    """Without vectors, one word in two has one score: 200 of them stand for a tie of any length."""
    store = place.open(NoEmbedder())
    ada = somebody(store)
    contents = [f"orchard {at:03}" for at in range(size)]
    since = {each: NOON - SECOND * (1 + at % 4) for at, each in enumerate(contents)}
    ada.apply([Add(each, valid_from=since[each]) for each in contents])
    recall = ada.recall(Request("orchard", k=30, total_budget=WIDE, floor=False))
    assert len({each.score for each in recall.entries}) == 1
    expected = sorted(contents, key=lambda each: (since[each], fingerprint(each)))
    assert given(recall) == expected[:30]
    assert_in_order(recall)
    store.close()


def test_R2_equal_words_tie_across_chats_and_spaces(ada: SyncPersonalMemory) -> None:
    """Said again later: the first time stands. The same in another space is another memory."""
    for minute in (2, 1, 3):
        told = (said(Role.USER, "The orchard has a well.", minute),)
        ada.tell(Conversation("test", told, external_id=f"chat {minute}"))
    for name in ("north", "south"):
        for thing in ("gate", "fence"):
            ada.in_space(name).add(f"The orchard has a {thing}.")
    for memory, count in ((ada, 1), (ada.in_space("north"), 3), (ada.in_space("south"), 3)):
        recall = memory.recall(Request("the orchard has", floor=False))
        assert_in_order(recall)
        assert len(given(recall)) == len(set(given(recall))) == count
        well = next(each for each in recall.entries if "well" in each.content)
        assert well.at == NOON + 60 * SECOND
        assert list(reasons(recall).values()).count("duplicate") == 2


# R4


@dataclass
class Scene:
    """A person, and a way to ask."""

    store: SyncRemembrancer
    ada: SyncPersonalMemory

    def ask(self, **question: object) -> Recall:
        return self.ada.recall(Request(QUERY, **question))  # type: ignore[arg-type]

    def add(self, number: int = 1, **more: object) -> UUID:
        return id_of(self.ada.add(orchard(number), **more))  # type: ignore[arg-type]


Left = tuple[UUID, Recall]


def of_trust(verb: str) -> Callable[[Scene], Left]:
    def arranged(scene: Scene) -> Left:
        id_ = scene.add()
        getattr(scene.ada, verb)(id_)
        return id_, scene.ask()

    return arranged


def candidate(scene: Scene) -> Left:
    return id_of(scene.ada.as_agent("scribe").add(orchard(1))), scene.ask()


def superseded(scene: Scene) -> Left:
    id_ = scene.add()
    scene.ada.retract(id_, was_wrong=True)
    return id_, scene.ask()


def expired(scene: Scene) -> Left:
    return scene.add(valid_to="2020-01-01"), scene.ask()


def not_yet_valid(scene: Scene) -> Left:
    return scene.add(valid_from="2120-01-01"), scene.ask()


def not_yet_known(scene: Scene) -> Left:
    before = clock.to_datetime(clock.now())
    id_ = scene.add()
    return id_, scene.ada.recall(QUERY, known_at=before)


def other_space(scene: Scene) -> Left:
    return id_of(scene.ada.in_space("elsewhere").add(orchard(1))), scene.ask()


def other_branch(scene: Scene) -> Left:
    told = scene.ada.tell(mine(orchard(1), "It rains."))
    branch = Branch(told.chat_id, frozenset(told.messages[1:]))
    return told.messages[0], scene.ask(branch=branch)


def in_history(scene: Scene) -> Left:
    told = scene.ada.tell(mine(orchard(1)))
    return told.messages[0], scene.ask(exclude_messages=frozenset(told.messages))


def already_given(scene: Scene) -> Left:
    id_ = scene.add()
    first = scene.ask().entries[0]
    assert first.id == id_
    assert first.version_id is not None
    return id_, scene.ask(already_given=frozenset({first.version_id}))


def below_floor(scene: Scene) -> Left:
    return id_of(scene.ada.add("What a day, and in what a town!")), scene.ask()


def duplicate(scene: Scene) -> Left:
    """A message that merely states a memory."""
    scene.ada.add(orchard(1))
    told = scene.ada.tell(mine(orchard(1)))
    return told.messages[0], scene.ask()


def over_k(scene: Scene) -> Left:
    scene.add(2)
    scene.add(3)
    (shown,) = lines(recall := scene.ask(k=1))
    (other,) = {each.id for each in recall.omitted} - {shown.id}
    return other, recall


def over_budget(scene: Scene) -> Left:
    return id_of(scene.ada.add(orchard(1, 4_000))), scene.ask()


def changed(scene: Scene) -> Left:
    """While this recall ran, a message was stored and a memory forgotten. Of the two, a store whose
    units keep one snapshot can't read the message, and one whose don't finds no memory any more."""
    indexes, loop, face = engine_of(scene.store).indexes, scene.ada._loop, scene.ada._memory
    plain, memory_id, stored = indexes.view, scene.add(9), []

    def meanwhile(unit: Unit, space: int | None) -> View:
        indexes.view = plain  # type: ignore[method-assign]
        stored.append(loop.run(face.tell(mine(orchard(1)))))
        loop.run(face.recall(QUERY))
        view = plain(unit, space)
        loop.run(face.forget(memory_id))
        return view

    indexes.view = meanwhile  # type: ignore[method-assign]
    recall = scene.ask()
    found = reasons(recall)
    return next(e for e in (*stored[0].messages, memory_id) if found.get(e) == "changed"), recall


ARRANGED: dict[Reason, Callable[[Scene], Left]] = {
    Reason.CANDIDATE: candidate,
    Reason.DISPUTED: of_trust("dispute"),
    Reason.ARCHIVED: of_trust("archive"),
    Reason.REJECTED: of_trust("reject"),
    Reason.SUPERSEDED: superseded,
    Reason.EXPIRED: expired,
    Reason.NOT_YET_VALID: not_yet_valid,
    Reason.NOT_YET_KNOWN: not_yet_known,
    Reason.OTHER_SPACE: other_space,
    Reason.OTHER_BRANCH: other_branch,
    Reason.IN_HISTORY: in_history,
    Reason.ALREADY_GIVEN: already_given,
    Reason.BELOW_FLOOR: below_floor,
    Reason.DUPLICATE: duplicate,
    Reason.OVER_K: over_k,
    Reason.OVER_BUDGET: over_budget,
    Reason.CHANGED: changed,
}


def test_R4_every_reason_has_its_case() -> None:
    assert set(ARRANGED) == set(Reason)


@pytest.mark.parametrize("reason", ARRANGED)
def test_R4_what_was_left_out_is_named_with_its_reason(
    store: SyncRemembrancer, ada: SyncPersonalMemory, reason: Reason
) -> None:
    id_, recall = ARRANGED[reason](Scene(store, ada))
    assert reasons(recall)[id_] == reason
    assert id_ not in {line.id for line in lines(recall)}
    assert_accounted(recall)
    assert recall.degraded == ()
    ada.add("In the orchard grows what I planted.")
    control = ada.recall("what grows in the orchard that I planted?")
    assert "In the orchard grows what I planted." in given(control)


def test_R4_the_rest_is_counted_by_reason(ada: SyncPersonalMemory) -> None:
    remember(ada, [orchard(at) for at in range(150)])
    remember(ada.as_agent("scribe"), [orchard(200 + at) for at in range(70)])
    recall = ada.recall(QUERY)
    assert len(lines(recall)) == 8
    assert_accounted(recall)
    named = len({each.id for each in recall.omitted})
    counts = dict(recall.omitted_counts)
    assert counts["candidate"] + list(reasons(recall).values()).count("candidate") == 70
    assert named + sum(counts.values()) + len(lines(recall)) == 220
    assert recall.trace.documents == 220


def test_R4_an_arm_that_failed_is_named(place: Place) -> None:
    store = place.open()
    email = somebody(store).account.email
    id_ = id_of(store.person(email).add(orchard(1)))
    store.close()
    broken = place.open()
    ada, worker = broken.person(email), engine_of(broken).worker
    whole = ada.recall("which orchard?")
    worker.close()
    recall = ada.recall(QUERY)
    assert whole.degraded == ()
    assert recall.degraded == ("vector",)
    states = {arm.name: arm.state for arm in recall.trace.arms}
    assert states["vector"] == "failed"
    assert states["lexical"] == "ok"
    assert [line.id for line in lines(recall)] == [id_], "found by its words"
    assert_in_order(recall)
    broken.close()


# R5

NAMED = [
    ("art", "art", "show me my art", "when does it start?"),
    ("work/car", "the car", "what about my car?", "which carpet goes with the scar?"),
    ("work/projects/atlas", "projects: Atlas", "how is Atlas going?", "what does the label say?"),
    ("Küche/Rezepte", "Rezepte", "welche Rezepte habe ich?", "was tut ein Rezeptor?"),
    ("工作/项目", "项目", "我的项目怎么样了？", "有什么事项？"),
    ("艺术", "艺术", "我喜欢哪种艺术？", "算术题"),
    ("宠物/猫", "猫", "我的猫怎么样？", "熊猫住在哪里？"),
]


@pytest.mark.parametrize(("path", "name", "sentence", "other"), NAMED)
def test_R5_a_path_is_matched_by_whole_segments(
    ada: SyncPersonalMemory, path: str, name: str, sentence: str, other: str
) -> None:
    id_ = id_of(ada.add("Zebedee keeps nine blue jugs.", path=path))
    remember(ada, ["Quilts hang over by Bridge Yard.", "Ugly fish jump."], path="aside")
    found = ada.recall(name)
    assert [line.id for line in lines(found)] == [id_]
    assert found.entries[0].why.path == path
    for asked, expected in ((name, [id_]), (sentence, [id_]), (other, [])):
        tops = {arm.name: arm.top for arm in ada.recall(asked).trace.arms}
        assert [each.id for each in tops["path"]] == expected
    assert given(ada.recall(other)) == []
