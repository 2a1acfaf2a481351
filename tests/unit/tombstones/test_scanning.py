"""Digests find the same sentences as the words would."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.text.digest import keyed_digest
from remembrancer.text.normalise import is_run_length, matches, tombstone_tokens
from remembrancer.text.spans import blank, sentence_spans_with
from remembrancer.tombstones.scanning import Group, Scanner

KEY = b"k" * 32
STONE = uuid4()


def scanner(*values):
    groups, stones = set(), []
    for value in values:
        tokens = tombstone_tokens(value)
        groups.add(Group(KEY, len(tokens), is_run_length(tokens)))
        stones.append((STONE, keyed_digest(KEY, tokens), is_run_length(tokens)))
    return Scanner(sorted(groups, key=repr), stones)


def left(text, *values):
    spans = scanner(*values).spans(text).get(STONE, [])
    return blank(text, spans)


def test_X1_the_sentence_that_says_it_is_found():
    text = "Hello. You know, I live in  \u0412erlin\u200b now! The rest stays."
    assert left(text, "I live in Berlin") == "Hello. The rest stays."
    assert left(text, "I live in Bonn") == text


def test_X1_short_values_take_a_sentence_equal_to_them():
    text = "Likes jazz. She likes jazz a lot."
    assert left(text, "likes jazz") == "She likes jazz a lot."
    assert left("猫。我喜欢猫。", "猫") == "我喜欢猫。"
    assert left("Likes: jazz", "likes jazz") == ""


def test_X1_several_values_at_once():
    text = "I live in Berlin. I work at Vogt. I own a cat. I sing."
    assert left(text, "I live in Berlin", "I own a cat", "Sing I") == "I work at Vogt. I sing."


def test_X1_what_comes_together_is_taken_too():
    assert left("It was a. A b c! B c it was.", "a b c") == ""


WORDS = st.sampled_from(["a", "b", "c", "D", "猫", "狗", "в", ".", "。", "\n", "a\u200bb"])
TEXTS = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


@given(TEXTS, TEXTS)
def test_X1_the_same_as_with_the_words(text, value):
    if not tombstone_tokens(value):
        return
    found = scanner(value).spans(text).get(STONE, [])
    assert blank(text, found) == blank(text, sentence_spans_with(text, value))
    if is_run_length(tombstone_tokens(value)):
        assert not matches(blank(text, found), value)
