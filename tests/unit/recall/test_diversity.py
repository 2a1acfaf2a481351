"""Near-duplicates among what is about to be given."""

from __future__ import annotations

from uuid import UUID

import pytest

from remembrancer.recall.diversity import Candidate, distinct, says_the_same
from remembrancer.recall.models import Entry
from remembrancer.recall.reasons import Kind
from remembrancer.text.normalise import fingerprint


def candidate(number: int, content: str, said_by: str = "", rests_on: tuple[int, ...] = ()):
    entry = Entry(
        kind=Kind.MESSAGE if said_by else Kind.MEMORY,
        id=UUID(int=number),
        version_id=None if said_by else UUID(int=number + 100),
        content=content,
        rank=0,
        score=10.0 - number,
        relevance=0.9,
        arms=(),
        at=0,
        said_by=said_by,
    )
    evidence = frozenset(UUID(int=each) for each in rests_on)
    return Candidate(entry, 0, fingerprint(content), evidence)


def kept(*ranked: Candidate, lead: int = 8, profile=()):
    found = distinct(ranked, lead, profile)
    assert len(found.kept) + len(found.suppressed) == len(ranked)
    return [each.entry.id.int for each in found.kept]


LONG = "Every spring the whole crew repaints the northern lighthouse before visitors arrive again"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("I live in Harwick.", "i live in  HARWICK"),
        ("My sister likes teas", "My sister likes tea"),
        (LONG, LONG.replace("again", "")),
        ("我住在哈维克。", "我住在哈维克"),
    ],
)
def test_the_same_said_twice_is_given_once(one, two):
    assert kept(candidate(1, one), candidate(2, two)) == [1]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("I live in Harwick.", "I work in Harwick."),
        ("Ann beat Tom", "Tom beat Ann"),
        (LONG, LONG + " 2024"),
        (LONG, LONG.replace("repaints", "never repaints")),
        ("我喜欢这家店里的每一种红茶和绿茶还有点心", "我不喜欢这家店里的每一种红茶和绿茶还有点心"),
        ("!", "?"),
    ],
)
def test_another_statement_stays(one, two):
    assert kept(candidate(1, one), candidate(2, two)) == [1, 2]


def test_a_message_that_merely_states_a_recalled_memory_gives_way_even_above_it():
    memory = candidate(2, "I am allergic to hazelnuts.")
    said = candidate(1, "By the way, I am allergic to hazelnuts!", "user")
    assert kept(said, memory) == [2]
    assert kept(said, memory, lead=1) == [1, 2], "it is not certain to be given itself"


def test_T3_a_message_that_says_more_stays():
    memory = candidate(1, "I am allergic to hazelnuts.")
    more = "I am allergic to hazelnuts, and Tilda moved to Brindle Bay with Oskar and the two dogs."
    assert kept(memory, candidate(2, more, "user")) == [1, 2]


def test_the_evidence_of_a_memory_gives_way_when_it_adds_little():
    memory = candidate(1, "The user's sister is called Tilda.", rests_on=(2,))
    assert kept(memory, candidate(2, "Tilda, my sister", "user")) == [1]
    assert kept(memory, candidate(3, "Tilda, my sister", "user")) == [1, 3]


def test_an_echo_gives_way_to_the_words_of_the_user():
    echo = candidate(1, "You live in Harwick.", "assistant")
    assert kept(echo, candidate(2, "I live in Harwick.", "user")) == [2]
    assert kept(candidate(3, "I live in Harwick", "Tilda"), echo) == [3]


def test_what_the_profile_says_is_not_said_again():
    profile = [(UUID(int=9), fingerprint("Call me Annie."))]
    found = distinct([candidate(1, "call me Annie"), candidate(2, "I sail.")], 8, profile)
    assert [each.entry.id.int for each in found.kept] == [2]
    assert found.suppressed[0][1] == UUID(int=9)


def test_very_long_texts_are_compared_for_equality_alone():
    long = "word " * 2_000
    assert says_the_same(candidate(1, long), candidate(2, long + "."))
    assert not says_the_same(candidate(1, long, "user"), candidate(2, "word word word"))
