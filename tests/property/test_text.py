"""Laws of the text functions."""

import re
import unicodedata
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from remembrancer.text.analyse import pack_terms, term_counts, terms, unpack_terms
from remembrancer.text.digest import keyed_digest, window_digests
from remembrancer.text.normalise import (
    clusters,
    fingerprint,
    is_run_length,
    matches,
    normalise,
    token_spans,
    tombstone_tokens,
)
from remembrancer.text.spans import (
    blank,
    contains_quote,
    sentence_spans_with,
    sentence_spans_with_quote,
    sentences,
)

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
LETTERS = "abcXYZäÖéñß ,.!αΩЖд我京。かガ각مر3\u0301\u200b\ufe0f"
MANY = st.text(st.sampled_from(LETTERS), max_size=60)
TEXT = ANY | MANY
WORDS = st.lists(
    st.sampled_from(["a", "b", "b.", "c", "c!", "d?\n", "我", "京。", "e.g.", "A."]), max_size=14
).map(" ".join)
WORD = st.one_of(
    [
        st.text(st.sampled_from(letters), min_size=1, max_size=12)
        for letters in ("abcdefgäöüéñçß0", "аждвсено", "αβωλσνη")
    ]
)
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


@given(TEXT)
def test_normalise_is_idempotent(text):
    assert normalise(normalise(text)) == normalise(text)


@given(TEXT)
def test_W1_composition_does_not_matter(text):
    expected = fingerprint(text)
    for form in ("NFC", "NFD"):
        other = unicodedata.normalize(form, text)
        assert fingerprint(other) == expected
        assert tombstone_tokens(other) == tombstone_tokens(text)


@given(st.lists(WORD, min_size=1).map(" ".join))
def test_W1_case_width_space_and_stops_do_not_matter(text):
    for other in (
        text.upper(),
        text.title(),
        text.translate(FULL_WIDTH),
        text.replace(" ", " \n "),
        f" {text} 。!. ",
        "\u200b".join(text),
    ):
        assert fingerprint(other) == fingerprint(text)
        assert matches(other, text)


@given(TEXT)
def test_token_spans_are_ordered_and_normalise_to_their_tokens(text):
    spans = token_spans(text)
    assert tuple(span.token for span in spans) == tombstone_tokens(text)
    for span in spans:
        assert 0 <= span.start < span.end <= len(text)
        assert span.token in tombstone_tokens(text[span.start : span.end])
    for one, other in pairwise(spans):
        assert one.start <= other.start
        if one.end > other.start:  # "½": one character, two tokens
            assert len(list(clusters(text[other.start : one.end]))) == 1


def _without_strikes(text):
    """Marks that compose with nothing only decorate: a token has none on a Latin letter."""
    return re.sub("[\u0300-\u036f]", "", text)


@given(MANY.filter(lambda text: any(letter.isalnum() for letter in text)))
def test_the_span_of_a_token_normalises_to_it(text):
    for span in token_spans(text):
        form = normalise(text[span.start : span.end])
        if "(" in form:
            continue  # a letter in parentheses counts as the letter
        if len({unicodedata.name(c).split()[0] for c in form if c.isalpha()}) <= 1:
            assert _without_strikes(form) == _without_strikes(span.token)


@given(TEXT)
def test_clusters_tile(text):
    assert "".join(text[start:end] for start, end in clusters(text)) == text


@given(TEXT | WORDS)
def test_sentences_tile(text):
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@given(WORDS, WORDS)
@example("It was a. A b c! B c it was.", "a b c")
def test_X1_blank_leaves_nothing_of_the_value(text, value):
    left = blank(text, sentence_spans_with(text, value))
    assert not matches(left, value)
    if matches(text, value):
        assert sentence_spans_with(text, value)


@given(TEXT, WORDS, TEXT)
def test_X1_a_contained_value_is_blanked(before, value, after):
    text = f"{before} {value}\n{after}"
    left = blank(text, sentence_spans_with(text, value))
    assert not matches(left, value)
    if is_run_length(tombstone_tokens(value)) and any(c.isalnum() for c in value):
        assert left != text


@given(TEXT, st.data())
def test_E2_a_quote_of_the_text_is_found(text, data):
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    bounds = {0, *(end for _, end in clusters(text))}
    if quote.strip() and start in bounds and start + len(quote) in bounds:
        assert contains_quote(text, quote)
        assert sentence_spans_with_quote(text, quote)
    assert contains_quote(text, quote) is bool(sentence_spans_with_quote(text, quote))


@given(st.lists(WORD, max_size=12), st.data())
def test_X2_windows_find_any_run(tokens, data):
    start = data.draw(st.integers(0, len(tokens)))
    run = tokens[start : data.draw(st.integers(start, len(tokens)))]
    if run:
        assert keyed_digest(b"key", run) in window_digests(b"key", tokens, len(run))
        assert keyed_digest(b"key", [*run, "x1"]) not in window_digests(
            b"key", tokens, len(run) + 1
        )


@given(TEXT)
def test_terms_survive_packing_and_composition(text):
    counts = term_counts(text)
    found, times = unpack_terms(pack_terms(counts))
    assert dict(zip(found.tolist(), times.tolist(), strict=True)) == counts
    assert terms(unicodedata.normalize("NFD", text)) == terms(text)
