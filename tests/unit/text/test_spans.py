"""Sentences, and what is left of a text without some."""

import unicodedata

import pytest

from remembrancer.text.normalise import matches
from remembrancer.text.spans import (
    blank,
    contains_quote,
    sentence_spans_with,
    sentence_spans_with_quote,
    sentences,
    stands_apart,
)


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I like tea. I hate coffee! Really?", ["I like tea. ", "I hate coffee! ", "Really?"]),
        ("It costs 3.5 euros. Fine.", ["It costs 3.5 euros. ", "Fine."]),
        ("Fruit, e.g. pears. Good.", ["Fruit, e.g. pears. ", "Good."]),
        ("See https://a.b/c?d=e. f. It works.", ["See https://a.b/c?d=e. ", "f. ", "It works."]),
        (
            "Dr. J. R. Smith came. So did I. Well.",
            ["Dr. J. R. Smith came. ", "So did I. ", "Well."],
        ),
        ("Am 3. Mai war z.B. alles gut. Ja.", ["Am 3. Mai war z.B. alles gut. ", "Ja."]),
        ("¿Qué tal? Muy bien.", ["¿Qué tal? ", "Muy bien."]),
        ("كيف حالك؟ أنا بخير.", ["كيف حالك؟ ", "أنا بخير."]),
        ("我喜欢茶。你呢？“好的！”他说", ["我喜欢茶。", "你呢？", "“好的！”", "他说"]),
        ('He said "no." Then left.', ['He said "no." ', "Then left."]),
        ("one\ntwo\r\n\r\nthree", ["one\n", "two\r\n\r\n", "three"]),
        ("\n\n one.\n", ["\n\n one.\n"]),
        ("Wait... what?! ok 👍", ["Wait... ", "what?! ", "ok 👍"]),
        ("   ", ["   "]),
        ("", []),
    ],
)
def test_sentences(text, expected):
    assert cut(text) == expected


def test_X1_the_sentence_that_states_the_value_is_found():
    text = "Hello there. As I said, I live in Вerlin now. The weather is fine."
    spans = sentence_spans_with(text, "I live in Berlin")
    assert [text[start:end] for start, end in spans] == ["As I said, I live in Вerlin now. "]
    assert blank(text, spans) == "Hello there. The weather is fine."
    assert sentence_spans_with(text, "I live in Paris") == []


def test_X1_chinese():
    text = "你好。我现在住在北京市里。天气很好。"
    spans = sentence_spans_with(text, "我现在住在北京")
    assert blank(text, spans) == "你好。天气很好。"
    assert blank(text, spans, "[…]") == "你好。[…]天气很好。"


def test_X1_a_short_value_takes_only_a_sentence_equal_to_it():
    text = "Likes jazz! She likes jazz at night."
    assert blank(text, sentence_spans_with(text, "likes jazz")) == "She likes jazz at night."
    assert sentence_spans_with("My cat. Is old.", "my cat is old") == [(0, 15)]
    assert sentence_spans_with("Yes. No.", "yes no") == [(0, 8)]
    assert sentence_spans_with("Yes.", "") == []


def test_X1_a_value_over_two_sentences_takes_both():
    text = "Well. I moved. To Rome. Nice."
    assert blank(text, sentence_spans_with(text, "I moved. To Rome.")) == "Well. Nice."


def test_X1_what_comes_together_is_taken_too():
    text = "It was a. A b c! B c it was."
    left = blank(text, sentence_spans_with(text, "a b c"))
    assert not matches(left, "a b c")
    assert left == ""


def test_E2_sentences_with_a_quote():
    text = "Hi. I was  born\nin Köln. Bye."
    assert sentence_spans_with_quote(text, "born in Köln") == [(4, 25)]
    decomposed = unicodedata.normalize("NFD", text)
    spans = sentence_spans_with_quote(decomposed, "in Köln. B")
    assert blank(decomposed, spans) == "Hi. I was  born\n"
    assert sentence_spans_with_quote(text, "born in Bonn") == []
    assert sentence_spans_with_quote(text, " ") == []


def test_V2_a_quote_stands_verbatim_or_not():
    text = "I was  born\nin Köln (really)."
    assert contains_quote(text, "born in Ko\u0308ln (really)")
    assert contains_quote(text, " I was born ")
    assert not contains_quote(text, "Born in Köln")
    assert not contains_quote(text, "born in Koln")
    assert not contains_quote(text, "")
    assert not contains_quote(text, "born.in")


def test_blank_merges_spans_and_keeps_space_after_a_mark():
    text = "One. Two. Three."
    assert blank(text, [(5, 10)], "[withheld]") == "One. [withheld] Three."
    assert blank(text, [(5, 10), (0, 5), (2, 6)]) == "Three."
    assert blank(text, []) == text


def test_a_quote_stands_apart_as_whole_words_only():
    assert stands_apart("Good morning to you", "morning to")
    assert not stands_apart("Good morning to you", "orning to")
    assert not stands_apart("Good morning to you", "\u200b")
