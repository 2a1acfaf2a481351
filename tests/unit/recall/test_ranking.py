"""Masks, arms and the account of what was left out, over hand-made views."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from remembrancer.embeddings.base import Kind
from remembrancer.recall import arms, masking, selection
from remembrancer.recall.arms import path_scores
from remembrancer.recall.masking import Asked
from remembrancer.recall.models import Arm, Branch
from remembrancer.recall.priors import UNCALIBRATED
from remembrancer.recall.query import read
from remembrancer.recall.reasons import Reason
from remembrancer.recall.selection import Account, Rules
from remembrancer.text.paths import path_terms
from tests.unit.recall.views import CHAT, EMBEDDER, Sketch

X, Y = UUID(int=81), UUID(int=82)
NOW = 1_000


def run(sketch: Sketch, query: str, *, rules=None, vector=True, decided=None, **asked):
    view = sketch.view()
    wanted = Asked(
        **{"space": None, "valid_at": NOW, "known_at": NOW, "said_before": None, **asked}
    )
    masks = masking.mask(view, wanted)
    embedded = EMBEDDER.embed([query], Kind.QUERY)[0] if vector else None
    scores = arms.score(view, read([query]), embedded, UNCALIBRATED, masks)
    rules = rules or Rules()
    ranked = selection.rank(view, scores, masks, rules)
    rest = Reason.OVER_K
    account = Account(view, scores, masks, rules, decided=decided or {}, rest=rest)
    return view, scores, masks, ranked, account


def given(sketch: Sketch, query: str = "hazelnuts", **asked) -> list[int]:
    """The memories and messages that may be given, best first; no floor."""
    view, _, masks, ranked, _ = run(sketch, query, rules=Rules(floor=False), **asked)
    found = []
    for document in ranked.documents.tolist():
        row = int(masks.version_of[document])
        ids = view.messages.ids if row < 0 else view.versions.memory_ids
        found.append(ids[int(masks.message_of[document]) if row < 0 else row].int)
    return found


def reasons(sketch: Sketch, query: str = "hazelnuts", **asked) -> dict[int, str]:
    account = run(sketch, query, **asked)[-1]
    return {each.id.int: each.reason.value for each in account.omitted()}


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"trust": "candidate"}, "candidate"),
        ({"trust": "disputed"}, "disputed"),
        ({"trust": "archived"}, "archived"),
        ({"trust": "rejected"}, "rejected"),
        ({"valid_to": NOW}, "expired"),
        ({"valid_from": NOW + 1}, "not_yet_valid"),
        ({"recorded_to": NOW}, "superseded"),
        ({"recorded_from": NOW + 1}, "not_yet_known"),
        ({"space_id": X}, "other_space"),
        ({"space_id": X, "trust": "candidate"}, "other_space"),
    ],
)
def test_R4_R6_what_may_not_be_given_stays_out_and_is_named(details, reason):
    sketch = Sketch().memory(1, "hazelnuts hazelnuts", **details).memory(2, "hazelnuts, few")
    assert given(sketch) == [2]
    assert reasons(sketch)[1] == reason


@pytest.mark.parametrize(
    "details", [{"trust": "active"}, {"valid_to": NOW + 1}, {"valid_from": NOW}]
)
def test_R6_its_live_neighbour_comes_in(details):
    assert given(Sketch().memory(1, "hazelnuts", **details)) == [1]


def test_S7_a_space_sees_its_own_and_the_spaceless():
    sketch = (
        Sketch()
        .memory(1, "hazelnuts one", space_id=X)
        .memory(2, "hazelnuts two", space_id=Y)
        .memory(3, "hazelnuts three")
        .message(4, "hazelnuts four", space_id=X)
        .message(5, "hazelnuts five", space_id=Y)
        .message(6, "hazelnuts six")
    )
    assert sorted(given(sketch)) == [3, 6]
    assert sorted(given(sketch, space=X)) == [1, 3, 4, 6]
    assert sorted(given(sketch, space=Y)) == [2, 3, 5, 6]
    assert sorted(given(sketch, space=UUID(int=83))) == [3, 6]


def test_a_profile_memory_is_no_entry_and_not_left_out():
    sketch = Sketch().memory(1, "hazelnuts", type="user").memory(2, "hazelnuts too")
    assert given(sketch) == [2]
    assert 1 not in reasons(sketch)


def test_of_two_memories_with_one_text_the_confirmed_one_is_given():
    sketch = Sketch().memory(1, "hazelnuts", trust="active").memory(2, "", text=1)
    view, _, masks, ranked, account = run(sketch, "hazelnuts", decided={0: None})
    assert len(ranked) == 1
    assert view.versions.memory_ids[int(masks.version_of[0])].int == 2
    assert {each.id.int: each.reason for each in account.omitted()} == {1: Reason.DUPLICATE}


def test_an_old_value_of_a_memory_that_answers_otherwise_is_superseded():
    sketch = (
        Sketch()
        .memory(1, "hazelnuts in May", valid_to=NOW)
        .memory(2, "walnuts since June", memory=1, valid_from=NOW)
    )
    account = run(sketch, "hazelnuts")[-1]
    told = {(each.id.int, each.version_id.int): each.reason.value for each in account.omitted()}
    assert told[1, 1_001] == "superseded"


def test_messages_are_masked_by_history_branch_and_time():
    sketch = (
        Sketch()
        .message(1, "hazelnuts one")
        .message(2, "hazelnuts two", live=False)
        .message(3, "hazelnuts three")
        .message(4, "hazelnuts four", said_at=900)
        .message(5, "hazelnuts five")
    )
    asked = {
        "exclude_messages": frozenset({UUID(int=3)}),
        "said_before": 500,
        "branch": Branch(CHAT, frozenset(UUID(int=n) for n in (1, 3, 4))),
    }
    assert given(sketch, **asked) == [1]
    assert sorted(given(sketch)) == [1, 3, 4, 5]
    told = reasons(sketch, **asked)
    assert told[2] == told[5] == "other_branch"
    assert told[3] == "in_history"
    assert told[4] == "not_yet_known"


def test_what_an_earlier_block_holds_is_not_given_again():
    sketch = Sketch().memory(1, "hazelnuts").memory(2, "hazelnuts here").message(3, "hazelnuts")
    already = frozenset({UUID(int=1_001), UUID(int=3)})
    assert given(sketch, already_given=already) == [2]
    assert reasons(sketch, already_given=already)[1] == "already_given"


def test_R4_what_stood_in_no_top_is_counted_by_reason():
    sketch = Sketch()
    for number in range(1, 61):
        sketch.memory(number, f"hazelnuts {'again ' * number}", valid_to=NOW)
    for number in range(61, 121):
        sketch.memory(number, "the sea")
    _, scores, _, ranked, account = run(sketch, "hazelnuts", vector=False)
    assert len(ranked) == 0
    assert len(account.omitted()) == len(scores.tops[Arm.LEXICAL].documents) == 50
    assert account.counts() == {"below_floor": 60, "expired": 10}
    lexical = next(each for each in account.arms("off") if each.name == "lexical")
    assert lexical.top[0].id == UUID(int=1)
    assert [each.score for each in lexical.top] == sorted(
        (each.score for each in lexical.top), reverse=True
    )


def test_counts_follow_what_was_decided():
    sketch = Sketch()
    for number in range(1, 81):
        sketch.memory(number, "hazelnuts")
    decided = dict.fromkeys(range(8)) | {8: Reason.OVER_BUDGET}
    *_, account = run(sketch, "hazelnuts", decided=decided)
    named = [each.reason.value for each in account.omitted()]
    assert len(named) + sum(account.counts().values()) == 72
    assert named.count("over_k") + account.counts().get("over_k", 0) == 71
    assert sum(each.given for each in account.fused()) + 8 >= 8


def test_without_messages_the_conversation_arm_is_off():
    sketch = Sketch().memory(1, "hazelnuts").message(2, "hazelnuts")
    *_, ranked, account = run(sketch, "hazelnuts", rules=Rules(messages=False))
    assert len(ranked) == 1
    assert {each.name: each.state for each in account.arms("off")} == {
        "path": "ok",
        "lexical": "ok",
        "vector": "ok",
        "conversation": "off",
    }
    assert [each.id.int for each in account.fused()] == [1]


def test_R2_ties_go_to_the_earlier_valid_from_and_a_stretch_of_equals_is_never_cut():
    sketch = Sketch().memory(1, "hazelnuts", valid_from=5).memory(2, "hazelnuts", valid_from=3)
    for number in range(3, 9):
        sketch.memory(number, "hazelnuts", valid_from=7)
    assert given(sketch)[:2] == [2, 1]
    ranked = run(sketch, "hazelnuts")[3]
    assert [len(ranked.stretch(size)) for size in (1, 2, 3, 7)] == [1, 2, 8, 8]


def test_use_all_lifts_the_floor_for_memories_alone():
    sketch = Sketch().memory(1, "the sea").message(2, "the shore").message(3, "hazelnuts")
    _, _, masks, ranked, _ = run(sketch, "hazelnuts", rules=Rules(use_all=True))
    assert len(ranked) == 2
    assert (masks.version_of[ranked.documents] >= 0).sum() == 1


def test_a_pending_memory_is_found_lexically():
    sketch = Sketch().memory(1, "hazelnuts").memory(2, "the sea")
    sketch.without_vector.add(5_001)
    view, scores, masks, ranked, _ = run(sketch, "hazelnuts")
    assert scores.pending == 1
    assert view.versions.memory_ids[int(masks.version_of[ranked.documents[0]])].int == 1
    assert scores.tops[Arm.LEXICAL].documents.tolist() == [0]
    assert 0 not in scores.tops[Arm.VECTOR].documents


def test_forgotten_words_never_score():
    sketch = Sketch().memory(1, "").memory(2, "hazelnuts")
    _, scores, *_ = run(sketch, "hazelnuts")
    assert np.isneginf(scores.fused[0])
    assert given(sketch) == [2]
    assert 1 not in reasons(sketch)


def test_a_speaker_whom_the_question_names_weighs_in():
    sketch = (
        Sketch()
        .message(1, "the boat was fine", speaker="Tilda Holm", session=1)
        .message(2, "the boat was fine", speaker="Oskar", session=2)
    )
    assert given(sketch, "what did Oskar say of the boat")[0] == 2
    assert given(sketch, "what did Tilda say of the boat")[0] == 1


def test_R5_paths_are_matched_by_whole_segments():
    terms = [path_terms(path) for path in ("art", "工作/项目", "猫", "café/bar")]
    assert path_scores(terms, "when does it start?")[0].tolist() == [0, 0, 0, 0]
    assert path_scores(terms, "the art class")[0].tolist() == [1, 0, 0, 0]
    assert path_scores(terms, "工作怎么样")[0].tolist() == [0, 0.5, 0, 0]
    assert path_scores(terms, "我的猫怎么样")[0].tolist() == [0, 0, 1, 0]
    assert path_scores(terms, "猫头鹰在哪里")[0].tolist() == [0, 0, 0, 0]
    assert path_scores(terms, "which cafe?")[0].tolist() == [0, 0, 0, 0.5]
    assert path_scores(terms, "...")[0].tolist() == [0, 0, 0, 0]


def test_R5_a_memory_is_recalled_by_its_path_alone():
    sketch = Sketch().memory(1, "the sea is grey", path="art").memory(2, "the hill is green")
    *_, ranked, _ = run(sketch, "art?")
    assert len(ranked) == 1
    *_, ranked, _ = run(sketch, "start?")
    assert len(ranked) == 0


def test_naming_a_path_in_passing_says_little():
    _, share = path_scores([path_terms("work")], "does it work with python generators and threads")
    assert 0 < share[0] < 0.3


def test_the_path_of_a_version_that_may_not_be_given_does_not_count():
    sketch = (
        Sketch()
        .memory(1, "the sea", path="art", trust="candidate")
        .memory(2, "", text=1, path="garden")
    )
    _, scores, *_ = run(sketch, "art")
    assert scores.path[0] == 0
    _, scores, *_ = run(sketch, "garden")
    assert scores.path[0] == 1


def test_an_empty_view_ranks_nothing():
    *_, ranked, account = run(Sketch(), "hazelnuts")
    assert len(ranked) == 0
    assert account.omitted() == ()
    assert account.counts() == {}
