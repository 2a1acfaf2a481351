"""When two texts are the same: for duplicates (`fingerprint`) and for tombstones (`matches`).

A fingerprint forgives case, white space, width, composition, invisible characters and a final full
stop. A tombstone key forgives punctuation too, and look-alike letters inside a token of mixed
script. Neither forgives a paraphrase, another spelling, or a digit for a letter.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from remembrancer.text.confusables import latinised, unconfused

WORD_RUN: Final = 3
"""Words from which a value is looked for inside other texts (decisions: "Fingerprint")."""
CJK_RUN: Final = 6
"""The same for Chinese, Japanese and Korean characters."""

# General category Cf (Unicode 15) and what else is "default ignorable" (DerivedCoreProperties):
# soft hyphen, zero widths, bidi marks, variation selectors, Hangul fillers, tags.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_CJK: Final = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
_ASCII_WORD: Final = re.compile("[A-Za-z0-9]+")
_FINAL: Final = " .。!"  # what NFKC leaves of `. 。 ! ！` with spaces

_STRIKES: Final = re.compile("[\u0300-\u036f]+")
"""Marks that Latin letters may carry; what NFC leaves of them by itself only decorates."""
_PARENTHESISED: Final = {0x1F110 + n: chr(ord("A") + n) for n in range(26)} | {
    0x249C + n: chr(ord("a") + n) for n in range(26)
}

_WORD: Final = "word"
_IDEOGRAPH: Final = "ideograph"
_BREAK: Final = "break"


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A token and the half-open character span of the original text it was read from."""

    token: str
    start: int
    end: int
    cjk: bool


def is_cjk(character: str) -> bool:
    """Whether a text begins with a Han, Hiragana, Katakana, Bopomofo or Hangul character."""
    return _CJK.match(character) is not None


def fold(text: str) -> str:
    """NFKC and case-folding without invisible characters, repeated until nothing changes.

    Once is not enough: folding may undo a composition, and removing may make one.
    """
    if text.isascii():
        return text.lower()
    while True:
        folded = unicodedata.normalize("NFKC", text).casefold()
        folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", folded))
        if folded == text:
            return folded
        text = folded


def normalise(text: str) -> str:
    """The form in which texts are compared as duplicates. Idempotent; may be empty."""
    return " ".join(fold(text).split()).rstrip(_FINAL)


def fingerprint(text: str) -> bytes:
    """16 bytes, BLAKE2b of `normalise(text)`: equal exactly for duplicates.

    What normalises to nothing ("!!!", a lone zero width) is compared by its NFC text with white
    space collapsed, under another personalisation, so that "!" and "!!" stay different.
    """
    form = normalise(text)
    if form:
        return hashlib.blake2b(_bytes(form), digest_size=16).digest()
    raw = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.blake2b(_bytes(raw), digest_size=16, person=b"remembrancer-raw").digest()


def bare(text: str) -> str:
    """What a text looks like at a glance: folded, without marks, look-alikes as Latin letters.

    For recognising a few Latin words in any disguise; never shown and never stored.
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).translate(_PARENTHESISED))
    plain = unicodedata.normalize("NFD", latinised(plain))
    return "".join(each for each in plain if unicodedata.category(each)[0] != "M").casefold()


def tombstone_tokens(text: str) -> tuple[str, ...]:
    """The tombstone key of a text before it is digested: its folded words, in order.

    Punctuation and symbols are dropped; each CJK character is a token; an apostrophe separates.
    A text without any letter or digit ("👍") is its visible characters instead.
    """
    if text.isascii():
        found = _ASCII_WORD.findall(text)
        if found:
            return tuple(word.lower() for word in found)
    return tuple(token for token, *_ in _tokens(text) or _symbols(text))


def token_spans(text: str) -> list[TokenSpan]:
    """`tombstone_tokens` with the span of the original each was read from, in order.

    Spans don't overlap, but for the tokens of one character that stands for several ("½").
    """
    return [TokenSpan(*found) for found in _tokens(text) or _symbols(text)]


def is_run_length(tokens: Sequence[str]) -> bool:
    """Whether a value is long enough to be looked for inside another text.

    From `WORD_RUN` words or `CJK_RUN` CJK characters on; in a mixed one a word counts as
    `CJK_RUN / WORD_RUN` (two) characters.
    """
    ideographs = sum(1 for token in tokens if is_cjk(token))
    words = len(tokens) - ideographs
    return words * CJK_RUN + ideographs * WORD_RUN >= WORD_RUN * CJK_RUN


def matches(text: str, value: str) -> bool:
    """Whether `text` says `value`: the same tokens, or a run-length value as a contiguous run."""
    wanted, tokens = tombstone_tokens(value), tombstone_tokens(text)
    if not wanted:
        return False
    return tokens == wanted or (is_run_length(wanted) and next(runs(tokens, wanted), -1) >= 0)


def runs(tokens: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """The places at which `wanted` stands as a contiguous run in `tokens`."""
    size = len(wanted)
    for place in range(len(tokens) - size + 1):
        if all(tokens[place + step] == wanted[step] for step in range(size)):
            yield place


def clusters(text: str) -> Iterator[tuple[int, int]]:
    """Spans that can be normalised one by one: a character with its marks, a Hangul syllable.

    They tile the text. Invisible characters ride with the one before them.
    """
    start, before = 0, ""
    for place, character in enumerate(text):
        kind = _joining(character)
        if kind == "mark":
            continue
        if place and not (kind and before + kind in {"LV", "VT", "ST"}):
            yield start, place
            start = place
        before = kind
    if text:
        yield start, len(text)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=16_384)
def _joining(character: str) -> str:
    """`mark` for what rides with the character before it, or the part it plays in a syllable."""
    if unicodedata.category(character)[0] == "M" or _INVISIBLE.match(character):
        return "mark"
    plain = unicodedata.normalize("NFKC", character)
    if plain in {"\u3099", "\u309a"}:  # half-width voicing marks
        return "mark"
    code = ord(plain) if len(plain) == 1 else 0
    if 0x1100 <= code <= 0x1112:
        return "L"
    if 0x1161 <= code <= 0x1175:
        return "V"
    if 0x11A8 <= code <= 0x11C2:
        return "T"
    return "S" if 0xAC00 <= code <= 0xD7A3 and (code - 0xAC00) % 28 == 0 else ""


@lru_cache(maxsize=16_384)
def _parts(cluster: str) -> tuple[tuple[str, str], ...]:
    """What a cluster adds to the tokens: (kind, text) pairs.

    A word's part is in NFKC with its case kept, for the look-alikes; an ideograph is folded.
    """
    parts: list[tuple[str, str]] = []
    plain = unicodedata.normalize("NFKC", cluster.translate(_PARENTHESISED))
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", plain))
    if plain[:1].isalnum():
        plain = plain[0] + _undecorated(plain[1:], after=plain[0])
    for character in plain:
        last = parts[-1][0] if parts else _BREAK
        if _CJK.match(character):
            parts.append((_IDEOGRAPH, character))
        elif unicodedata.category(character)[0] == "M":
            if last != _BREAK:
                parts[-1] = (last, parts[-1][1] + character)
        elif not character.isalnum():
            parts.append((_BREAK, ""))
        elif last == _WORD:
            parts[-1] = (_WORD, parts[-1][1] + character)
        else:
            parts.append((_WORD, character))
    return tuple((kind, fold(part) if kind == _IDEOGRAPH else part) for kind, part in parts)


def _undecorated(marks: str, *, after: str) -> str:
    """The marks of a Latin letter without those that compose with nothing (U+0332, U+0336 …)."""
    latin = unicodedata.name(after, "").startswith("LATIN")
    return _STRIKES.sub("", marks) if latin else marks


def _tokens(text: str) -> list[tuple[str, int, int, bool]]:
    found: list[tuple[str, int, int, bool]] = []
    word, start, end = "", 0, 0
    for cluster_start, cluster_end in clusters(text):
        for kind, part in _parts(text[cluster_start:cluster_end]):
            if kind == _WORD:
                if not word:
                    start = cluster_start
                word += part
                end = cluster_end
                continue
            if word:
                found.append((_folded_word(word), start, end, False))
                word = ""
            if kind == _IDEOGRAPH:
                found.append((part, cluster_start, cluster_end, True))
    if word:
        found.append((_folded_word(word), start, end, False))
    return found


def _folded_word(word: str) -> str:
    return word.lower() if word.isascii() else fold(unconfused(word))


def _symbols(text: str) -> list[tuple[str, int, int, bool]]:
    """The tokens of a text without words: its visible characters."""
    found = ((fold(text[start:end]).strip(), start, end, False) for start, end in clusters(text))
    return [token for token in found if token[0]]
