"""Recall over a store, from the question to the block."""

from __future__ import annotations

import asyncio
import json
from uuid import UUID

import pytest

from remembrancer import clock
from remembrancer.clock import MAX, MIN
from remembrancer.errors import InvalidInputError
from remembrancer.ids import new_id
from remembrancer.recall.models import Request, Why
from remembrancer.scope import ALL
from tests.support.people import newcomer
from tests.unit.recall.person import NOON, Person


@pytest.fixture
def person(tmp_path):
    made = Person(tmp_path)
    yield made
    made.close()


def contents(recall) -> list[str]:
    return [each.content for each in recall.entries]


def reasons(recall) -> dict[UUID, str]:
    return {each.id: each.reason.value for each in recall.omitted}


def test_the_right_line_comes_with_its_reasons(person):
    nuts = person.add("I am allergic to hazelnuts.", path="health")
    person.add("I live in Harwick.")
    found = person.recall("what am I allergic to?")
    (entry,) = found.entries
    assert (entry.id, entry.version_id, entry.rank) == (nuts.id, nuts.version, 1)
    assert entry.arms == ("lexical", "vector")
    assert entry.why.words == ("allergic",)
    assert entry.why.meaning is not None
    assert "words allergic; meaning 0." in str(entry.why)
    assert (entry.path, entry.trust) == ("health", "confirmed")
    assert f"1. [memory {nuts.id}; noted " in found.recalled_block
    assert found.tokens.recalled == -(-len(found.recalled_block.encode()) // 3)
    assert found.degraded == ()


def test_as_json_is_the_documented_form(person):
    person.add("Call me Annie.", type="user")
    nuts = person.add("I am allergic to hazelnuts.", valid=(NOON, MAX))
    person.add("I live in Harwick.")
    found = person.recall("allergic").as_json()
    assert set(found) == {"profile", "entries", "omitted", "degraded", "tokens"}
    (profile,) = found["profile"]
    assert (profile["content"], profile["trust"]) == ("Call me Annie.", "confirmed")
    (entry,) = found["entries"]
    assert entry["id"] == str(nuts.id)
    assert entry["at"] == "2024-05-08T12:00:00Z"
    assert list(entry) == [
        "kind", "id", "content", "score", "relevance", "rank", "arms", "at",
    ]  # fmt: skip
    assert entry["score"] == round(entry["score"], 6)
    assert [each["reason"] for each in found["omitted"]] == ["below_floor"]
    assert set(found["tokens"]) == {"profile", "recalled"}
    assert json.loads(json.dumps(found)) == found


def test_the_trace_is_json_without_words(person):
    person.add("I am allergic to hazelnuts.", path="health")
    person.add("I am allergic to grass", trust="candidate")
    found = person.recall("allergic to what health")
    written = json.dumps(found.trace.as_json())
    assert "hazelnuts" not in written
    assert "health" not in written
    trace = json.loads(written)
    assert {each["name"] for each in trace["arms"]} == {"path", "lexical", "vector", "conversation"}
    assert trace["embedding_space"] == person.space_id
    assert trace["floor"]["applied"]
    assert [each["reason"] for each in trace["omitted"]] == ["candidate"]
    assert {"embed", "index", "score", "assemble"} == set(trace["timings"])


def test_R6_the_best_match_that_may_not_be_given_stays_out(person):
    states = ["candidate", "disputed", "archived", "rejected"]
    hidden = {person.add(f"hazelnuts {state}", trust=state).id: state for state in states}
    superseded = person.add("hazelnuts superseded")
    person.close_version(superseded)
    expired = person.add("hazelnuts expired", valid=(MIN, NOON))
    forgotten = person.add("hazelnuts forgotten")
    person.forget(forgotten)
    person.add("hazelnuts live", trust="active")
    found = person.recall("hazelnuts")
    assert contents(found) == ["hazelnuts live"]
    told = reasons(found)
    assert {key: told[key] for key in hidden} == hidden
    assert told[superseded.id] == "superseded"
    assert told[expired.id] == "expired"
    assert forgotten.id not in told


def test_T2_valid_at_and_known_at_choose_the_version(person):
    old = person.add("I live in Harwick.", valid=(MIN, NOON))
    person.add("I live in Brindle Bay.", of=old, valid=(NOON, MAX))
    assert contents(person.recall("where do I live")) == ["I live in Brindle Bay."]
    assert contents(person.recall("where do I live", valid_at=NOON - 1)) == ["I live in Harwick."]
    assert contents(person.recall("where do I live", known_at=NOON)) == []


def test_T1_known_at_before_a_correction_gives_what_was_believed(person):
    wrong = person.add("My sister is called Hilda.")
    closed = person.close_version(wrong)
    person.add("My sister is called Tilda.", of=wrong)
    assert contents(person.recall("my sister")) == ["My sister is called Tilda."]
    found = person.recall("my sister", known_at=closed - 1)
    assert contents(found) == ["My sister is called Hilda."]


def test_S7_spaces(person):
    atlas, garden = new_id(), new_id()
    person.add("hazelnuts in atlas", space=atlas)
    person.add("hazelnuts in the garden", space=garden)
    person.add("hazelnuts anywhere")
    person.say(["hazelnuts said in atlas"], space=atlas)
    everywhere = {"hazelnuts anywhere"}
    inside = everywhere | {"hazelnuts in atlas", "hazelnuts said in atlas"}
    assert set(contents(person.recall("hazelnuts"))) == everywhere
    assert set(contents(person.recall("hazelnuts", space=atlas))) == inside
    assert "other_space" in reasons(person.recall("hazelnuts")).values()
    with pytest.raises(InvalidInputError, match="one space"):
        person.recall("hazelnuts", space=ALL)


def test_S1_another_person_gets_nothing(person):
    person.add("hazelnuts", type="user")
    person.add("hazelnuts are bad for me")
    assert contents(person.recall("hazelnuts")) == ["hazelnuts are bad for me"]
    request = Request("hazelnuts")
    other = asyncio.run(person.recalling.recall(newcomer(person.db), request))
    assert other.entries == other.profile == other.omitted == ()


def test_past_conversations_are_recalled_and_labelled(person):
    said = person.say(["We signed the lease for the boat today.", "It rained."])
    person.say(["The lease of the boat ends in May."], role="assistant")
    person.say(["I sold the boat lease."], role="other", speaker="Oskar")
    found = person.recall("the lease of the boat")
    by_content = {each.content: each for each in found.entries}
    mine = by_content["We signed the lease for the boat today."]
    assert (mine.kind, mine.id, mine.version_id, mine.at) == ("message", said[0], None, NOON)
    assert mine.arms == ("conversation",)
    assert "the assistant said, not the user" in found.recalled_block
    assert "; Oskar said, 2024-05-08]" in found.recalled_block
    assert not found.entries[0].path
    assert contents(person.recall("the lease of the boat", messages=False)) == []


def test_messages_of_this_history_and_other_branches_stay_out(person):
    (here,) = person.say(["hazelnuts in this history"])
    (away,) = person.say(["hazelnuts on another branch"], live=False)
    person.say(["hazelnuts elsewhere"])
    found = person.recall("hazelnuts", exclude_messages=frozenset({here}))
    assert contents(found) == ["hazelnuts elsewhere"]
    assert reasons(found)[here] == "in_history"
    assert reasons(found)[away] == "other_branch"


def test_X1_withheld_words_stay_out_and_the_rest_of_the_message_is_recalled(person):
    line = "I take Zolpidem at night. The boat is called Marlin."
    person.say([line], hidden=(0, 26))
    assert contents(person.recall("zolpidem")) == []
    found = person.recall("what is the boat called")
    assert contents(found) == ["[…] The boat is called Marlin."]
    assert "Zolpidem" not in json.dumps(found.as_json()) + found.recalled_block


def test_a_message_withheld_whole_is_gone(person):
    person.say(["The boat is called Marlin."], hidden=(0, 26))
    person.say(["The boat is blue."])
    assert contents(person.recall("the boat")) == ["The boat is blue."]


def test_a_message_gives_way_to_the_memory_that_rests_on_it(person):
    (said,) = person.say(["Tilda is my sister, you know"])
    person.add("My sister is called Tilda.", rests_on=said)
    found = person.recall("my sister Tilda")
    assert contents(found) == ["My sister is called Tilda."]
    assert reasons(found)[said] == "duplicate"


def test_R1_R2_order_is_score_and_k_and_budget_bound(person):
    for number in range(20):
        person.add("hazelnuts " + "and other things " * number)
    found = person.recall("hazelnuts", floor=False)
    scores = [each.score for each in found.entries]
    assert len(scores) == 8
    assert scores == sorted(scores, reverse=True)
    lines = found.recalled_block.splitlines()[2:-1]
    assert [line.split(".")[0] for line in lines] == [str(n) for n in range(1, 9)]
    assert all(str(each.id) in line for each, line in zip(found.entries, lines, strict=True))
    assert "over_k" in reasons(found).values()
    small = person.recall("hazelnuts", floor=False, k=20, total_budget=300)
    assert small.tokens.profile + small.tokens.recalled <= 300
    assert small.entries
    assert "over_budget" in reasons(small).values()
    assert person.recall("hazelnuts", k=0).recalled_block == ""


def test_R2_equal_scores_follow_the_fingerprint(person):
    first, second = "hazelnuts x1", "hazelnuts x2"
    person.add(first, vector=False)
    person.add(second, vector=False)
    once = contents(person.recall("hazelnuts"))
    assert once == contents(person.recall("hazelnuts"))
    assert sorted(once) == [first, second]


def test_use_all_gives_every_memory_in_order_within_the_budget(person):
    for number in range(12):
        person.add(f"fact number {number} about boats")
    person.add("hazelnuts")
    found = person.recall("hazelnuts", use_all=True, total_budget=3_000)
    assert len(found.entries) == 13
    assert found.entries[0].content == "hazelnuts"
    assert len(person.recall("", use_all=True, total_budget=3_000).entries) == 13
    assert len(person.recall("hazelnuts", total_budget=3_000).entries) == 1


def test_the_profile_has_its_tier_and_order(person):
    person.add("Call me Annie.", type="user", trust="active")
    person.add("I am a vegetarian.", type="user")
    person.add("Answer in German.", type="user", trust="active", pin=1)
    person.add("Not decided yet.", type="user", trust="candidate")
    found = person.recall("good morning")
    assert [each.content for each in found.profile] == [
        "Answer in German.",
        "I am a vegetarian.",
        "Call me Annie.",
    ]
    assert found.entries == ()
    assert found.profile_block == person.recall("something else").profile_block
    small = person.recall("x", profile_budget=70)
    assert [each.content for each in small.profile] == ["Answer in German."]
    told = list(reasons(small).values())
    assert told == ["over_budget", "over_budget", "candidate"]


def test_an_empty_question_gets_the_profile_alone(person):
    person.add("Call me Annie.", type="user")
    person.add("hazelnuts")
    found = person.recall("  ")
    assert len(found.profile) == 1
    assert found.entries == found.degraded == ()
    assert {each.state for each in found.trace.arms} == {"off"}


def test_older_turns_help_to_rank_but_cannot_lift_over_the_floor(person):
    person.add("Tilda sails a boat.")
    person.add("Oskar sails a boat.")
    found = person.recall(["tell me about Oskar", "who sails the boat?"])
    assert contents(found) == ["Oskar sails a boat.", "Tilda sails a boat."]
    assert contents(person.recall(["tell me about Oskar", "thanks!"])) == []
    assert found.trace.turns == 2


def test_R10_a_committed_memory_is_recalled_by_the_next_request(person):
    assert contents(person.recall("hazelnuts")) == []
    stored = person.add("hazelnuts")
    assert contents(person.recall("hazelnuts")) == ["hazelnuts"]
    person.change(stored, trust="archived")
    assert contents(person.recall("hazelnuts")) == []


def test_what_changes_between_index_and_reading_is_dropped_and_said(person):
    stale = person.add("hazelnuts stale")
    person.add("hazelnuts live")
    view = person.db.read_now(person.scope, lambda u: person.indexes.view(u, person.space_id))
    person.change(stale, trust="archived")
    person.indexes.view = lambda *_: view
    found = person.recall("hazelnuts")
    assert contents(found) == ["hazelnuts live"]
    assert reasons(found)[stale.id] == "changed"


@pytest.mark.parametrize(
    "details", [{"k": -1}, {"k": 501}, {"total_budget": -1}, {"profile_budget": -5}]
)
def test_limits_outside_their_range_are_refused(person, details):
    (field,) = details
    with pytest.raises(InvalidInputError) as refusal:
        person.recall("hazelnuts", **details)
    assert refusal.value.field == field


def test_an_as_of_question_looks_at_what_had_been_said_by_then(person):
    person.say(["hazelnuts at noon", "hazelnuts a minute later"])
    assert len(person.recall("hazelnuts").entries) == 2
    found = person.recall("hazelnuts", valid_at=NOON + clock.SECOND)
    assert contents(found) == ["hazelnuts at noon"]
    assert "not_yet_known" in reasons(found).values()


def test_a_deep_ranking_is_read_as_far_as_it_takes(person):
    for number in range(40):
        person.add("hazelnuts hazelnuts " + " ".join(f"w{n}" for n in range(100 + number)))
    short = "The sea is grey."
    person.add(short)
    found = person.recall("hazelnuts", floor=False, k=10, total_budget=200)
    assert contents(found) == [short]
    assert found.trace.fused[0].id != found.entries[0].id


def test_a_question_without_words_recalls_nothing(person):
    person.add("hazelnuts")
    found = person.recall("👍")
    assert found.entries == ()
    assert found.degraded == ()
    assert contents(person.recall("hazelnuts 👍")) == ["hazelnuts"]


def test_a_long_message_is_given_whole_or_not_at_all(person):
    person.say(["hazelnuts " + "and so on " * 2_500, "hazelnuts, briefly"])
    assert contents(person.recall("hazelnuts")) == ["hazelnuts, briefly"]
    found = person.recall("hazelnuts", total_budget=20_000)
    assert sorted(map(len, contents(found))) == [18, 25_010]


def test_why_names_path_and_speaker(person):
    person.add("The sea is grey.", path="art/prints")
    person.say(["The boat is blue."], role="other", speaker="Oskar")
    (entry,) = person.recall("art").entries
    assert str(entry.why).endswith("; path art/prints")
    (entry,) = person.recall("Oskar on the blue boat").entries
    assert str(entry.why).endswith("; said by Oskar")
    assert str(Why()) == ""


def test_the_standing_of_a_message_and_a_memory_tell_their_kind(person):
    person.add("hazelnuts")
    person.say(["hazelnuts, said"])
    kinds = {
        (arm.name, each.kind) for arm in person.recall("hazelnuts").trace.arms for each in arm.top
    }
    assert kinds == {("lexical", "memory"), ("vector", "memory"), ("conversation", "message")}
