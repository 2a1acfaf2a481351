"""Several turns become one question: newest weighs most."""

from __future__ import annotations

from remembrancer.recall.query import QUERY_CHARACTERS, read
from remembrancer.text.analyse import term_counts


def test_the_newest_turn_is_the_question():
    asked = read(["Tell me about my sister", "And where does she live?"])
    assert asked.text == "And where does she live?"
    assert asked.newest == term_counts("And where does she live?")


def test_older_turns_weigh_half_a_turn_back_and_count_a_term_once():
    asked = read(["hazelnut cake", "sister cake", "sister boat"])
    assert [each.weight for each in asked.terms] == [1.0, 0.5, 0.25]
    assert list(asked.terms[1].counts) == list(term_counts("cake"))
    assert list(asked.terms[2].counts) == list(term_counts("hazelnut"))


def test_only_the_last_three_turns_are_looked_at():
    asked = read(["forgotten", "one", "two", "three"])
    assert len(asked.terms) == 3
    assert all(term not in each.counts for term in term_counts("forgotten") for each in asked.terms)


def test_a_turn_that_adds_no_term_is_left_out():
    assert len(read(["hazelnuts", "hazelnuts"]).terms) == 1
    assert len(read(["hazelnuts", "👍"]).terms) == 2


def test_an_empty_newest_turn_asks_nothing():
    assert read(["a question", "   "]).is_empty
    assert read([]).is_empty
    assert read([]).newest == {}
    assert not read(["a question"]).is_empty


def test_of_a_long_turn_both_ends_are_read():
    asked = read(["first " + "x " * 5_000 + " last"])
    assert len(asked.text) <= QUERY_CHARACTERS + 1
    assert asked.text.startswith("first")
    assert asked.text.endswith("last")
