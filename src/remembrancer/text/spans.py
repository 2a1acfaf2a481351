"""Sentences of a text, those that say a value or hold a quote, and the text without them.

All spans are half-open and in characters of the text as given. What is withheld or redacted is
whole sentences: the boundaries err towards longer ones (an unsure full stop doesn't end one).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from remembrancer.text.normalise import (
    TokenSpan,
    clusters,
    is_run_length,
    runs,
    token_spans,
    tombstone_tokens,
)

Span = tuple[int, int]

_CLOSING: Final = "\"'”’»›)\\]}」』】）》〉"
_END: Final = re.compile(
    rf"[.!?…؟۔।॥։።។]+[{_CLOSING}*_]*(?=\s|\Z)"  # followed by white space
    rf"|[。！？｡．]+[{_CLOSING}]*"  # followed by anything
    r"|[\r\n\u2028\u2029\x0b\x0c\x85]+"
)
# What is written before a name, a number or an example, in en, de, es, fr, it, pt, nl, sv.
_ABBREVIATIONS: Final = frozenset(
    word
    for line in (
        "mr mrs ms dr prof st sr sra srta jr vs etc approx ca cf al nos nr vol fig inc ltd dept",
        "est gen rev hon jan feb apr jun jul aug sep sept oct nov dec tue wed thu fri",
        "bzw usw bspw evtl ggf inkl zzgl str tel hr fr abb mio mrd sog vgl okt dez",
        "ud uds av avda pág págs núm ej mme mlle env dott sig sigg ecc pag",
        "dhr mevr bijv enz bl kl osv dvs resp",
    )
    for word in line.split()
)


def sentences(text: str) -> list[Span]:
    """The sentences of a text: spans that tile it, white space with the sentence before it.

    A sentence ends at a Western, Arabic or Indic mark before white space, at a CJK mark, or at a
    line end; not at the stop of an abbreviation, an initial or a one- or two-digit ordinal.
    """
    spans: list[Span] = []
    start = 0
    for found in _END.finditer(text):
        if _is_unsure(text, start, found):
            continue
        end = _after_space(text, found.end())
        if end <= start or not text[start:end].strip():
            continue  # within the white space already taken, or a blank line before the first
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def sentence_spans_with(text: str, value: str) -> list[Span]:
    """The sentences that say `value`, merged; nothing is left of it in the text without them.

    That is those which hold part of its tokens as a contiguous run, from run length on; for
    shorter values those equal to it, or all of the text if that is. Sentences are taken until
    none says the value, so what comes to stand together by taking one out counts too.
    """
    wanted = list(tombstone_tokens(value))
    if not wanted:
        return []
    whole = sentences(text)
    left = list(token_spans(text))
    taken: set[Span] = set()
    while True:
        fresh: set[Span] = set()
        for first, last in _occurrences(whole, left, wanted):
            fresh.update(_touched(whole, first, last))
        fresh -= taken
        if not fresh:
            return _merged(taken)
        taken |= fresh
        left = [
            token for token in left if fresh.isdisjoint(_touched(whole, token.start, token.end))
        ]


def sentence_spans_with_quote(text: str, quote: str) -> list[Span]:
    """The sentences which a verbatim occurrence of `quote` overlaps, merged."""
    whole = sentences(text)
    return _merged(
        span for first, last in _verbatim(text, quote) for span in _touched(whole, first, last)
    )


def blank(text: str, spans: Sequence[Span], mark: str = "") -> str:
    """The text without these spans, `mark` in place of each.

    A mark keeps the white space that ended its span, so that it stands apart from what follows.
    """
    kept: list[str] = []
    place = 0
    for start, end in _merged(spans):
        kept.append(text[place:start])
        if mark:
            inside = text[start:end]
            kept.append(mark + inside[len(inside.rstrip()) :])
        place = end
    kept.append(text[place:])
    return "".join(kept)


def contains_quote(text: str, quote: str) -> bool:
    """Whether `quote` stands in `text` verbatim, up to NFC and the kind of white space.

    An empty or blank quote stands nowhere.
    """
    return next(_verbatim(text, quote), None) is not None


def stands_apart(text: str, quote: str) -> bool:
    """Whether `quote` stands in `text` verbatim as whole tokens: neither end is inside a word."""
    if not tombstone_tokens(quote):
        return False
    tokens = token_spans(text)
    return any(
        not any(token.start < edge < token.end for token in tokens for edge in (first, last))
        for first, last in _verbatim(text, quote)
    )


def _is_unsure(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether a mark is a lone full stop that probably ends no sentence."""
    if found[0] != ".":
        return False
    first = found.start()
    while first > start and (text[first - 1].isalnum() or text[first - 1] == "."):
        first -= 1
    word = text[first : found.start()]
    if "." in word.strip(".") or word.casefold() in _ABBREVIATIONS:
        return True  # e.g. · z.B · Dr
    if len(word) == 1 and word.isupper() and word != "I":
        return True  # an initial
    return word.isdecimal() and len(word) <= 2  # 3. Mai · 1. First


def _after_space(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _touched(whole: list[Span], first: int, last: int) -> list[Span]:
    """The sentences that overlap the span from `first` to `last`."""
    start = bisect_right(whole, first, key=lambda span: span[1])
    end = bisect_left(whole, last, key=lambda span: span[0])
    return whole[start:end]


def _occurrences(whole: list[Span], tokens: list[TokenSpan], wanted: list[str]) -> Iterator[Span]:
    """Where the tokens say the value: character spans from the first token to the last."""
    words = [token.token for token in tokens]
    if words == wanted:
        yield tokens[0].start, tokens[-1].end
    if is_run_length(wanted):
        for place in runs(words, wanted):
            yield tokens[place].start, tokens[place + len(wanted) - 1].end
        return
    place = 0
    for start, end in whole:
        first = place
        while place < len(tokens) and tokens[place].start < end:
            place += 1
        if words[first:place] == wanted:
            yield start, end


def _verbatim(text: str, quote: str) -> Iterator[Span]:
    words = unicodedata.normalize("NFC", quote).split()
    if not words:
        return
    wanted = re.compile("(?=(" + r"\s+".join(map(re.escape, words)) + "))")
    composed, places = _composed(text)
    for found in wanted.finditer(composed):
        first, last = found.span(1)
        yield (first, last) if places is None else (places[first][0], places[last - 1][1])


def _composed(text: str) -> tuple[str, list[Span] | None]:
    """The text in NFC, and for each of its characters the span it came from (None: the same)."""
    if unicodedata.is_normalized("NFC", text):
        return text, None
    pieces: list[str] = []
    places: list[Span] = []
    for start, end in clusters(text):
        piece = unicodedata.normalize("NFC", text[start:end])
        pieces.append(piece)
        places.extend([(start, end)] * len(piece))
    return "".join(pieces), places


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
