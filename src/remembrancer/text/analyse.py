"""Analysed terms: what the lexical arm of recall counts, the same for queries and documents.

A word becomes its folded form, its Snowball stem when that differs, and its unaccented form when
that is plain ASCII. A CJK run becomes its overlapping bigrams, and a run of one character that
character; so a one-character query finds only what stands alone, and longer words find all.
No statistics and no index here.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np
import Stemmer

from remembrancer.errors import DamageFoundError
from remembrancer.text import languages
from remembrancer.text.normalise import fold, is_cjk

MOST: Final = 255
"""The cap of a term's count in one document."""

_MARKS: Final = "".join(
    chr(code)
    for first, last in ((0x300, 0x1E00), (0x302A, 0x309B), (0xA66F, 0xABEE), (0xFE20, 0xFE30))
    for code in range(first, last)
    if unicodedata.category(chr(code))[0] == "M"
)
_LETTER: Final = f"(?:[^\\W_]|[{_MARKS}])"
_TOKEN: Final = re.compile(rf"[0-9]+(?:[.,:][0-9]+)+|{_LETTER}+(?:['’ʼ]{_LETTER}+)*")
_ASCII_TOKEN: Final = re.compile(r"[0-9]+(?:[.,:][0-9]+)+|[a-z0-9]+(?:'[a-z0-9]+)*")
_APOSTROPHE: Final = re.compile("['’ʼ]")
# Before an apostrophe (l'homme, qu'il, dell'arte), and after one (Ada's, don't, we'll).
_ELIDED: Final = frozenset(
    part
    for line in ("l d j m n s t c qu jusqu lorsqu puisqu", "un dell all nell sull dall quest")
    for part in line.split()
)
_CLITICS: Final = frozenset(("s", "t", "m", "d", "ll", "re", "ve"))
_SCRIPTS: Final = (  # what is decided by its letters: first and last code point, stemmer
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1F00, 0x1FFF, "greek"),
)


class _Stemmers(threading.local):
    """One set of stemmers a thread: a stemmer object must not be used by two at once."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}

    def stem(self, language: str, word: str) -> str:
        stemmer = self.by_language.get(language)
        if stemmer is None:
            stemmer = self.by_language[language] = Stemmer.Stemmer(language)
        stem: str = stemmer.stemWord(word)
        return stem


_STEMMERS: Final = _Stemmers()


def terms(text: str) -> list[str]:
    """The analysed terms of a text in its order, a word's forms next to one another.

    Function words of the text's language are left out, unless there is nothing else.
    """
    return [form for forms in word_forms(text) for form in forms]


def word_forms(text: str) -> list[tuple[str, ...]]:
    """`terms`, grouped: for each word or bigram its forms, the folded one first."""
    words = _words(fold(text))
    latin = languages.vote(words)
    groups: list[tuple[str, ...]] = []
    dropped: list[tuple[str, ...]] = []
    for word in words:
        if word.isascii():
            language = latin
        elif is_cjk(word):
            groups.extend(_bigrams(word))
            continue
        else:
            language = _language(word, latin)
        forms = _forms(language, word)
        stop = languages.STOP_WORDS.get(language)
        (dropped if stop and word in stop else groups).append(forms)
    return groups or dropped


def term_counts(text: str) -> dict[int, int]:
    """How often each term (as `term_hash`) stands in a text, at most 255 times."""
    return {
        term_hash(term): count if count <= MOST else MOST
        for term, count in Counter(terms(text)).items()
    }


@lru_cache(maxsize=65_536)
def term_hash(term: str) -> int:
    """An unsigned 32-bit number for a term, the same on every machine: BLAKE2b, little endian."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def pack_terms(counts: Mapping[int, int]) -> bytes:
    """`term_counts` as stored: n little-endian uint32 terms in order, then n uint8 counts.

    Five bytes a term. The document's length is the sum of the counts.
    """
    found = sorted(counts)
    numbers = np.array(found, dtype="<u4").tobytes()
    return numbers + bytes(min(counts[term], MOST) for term in found)


def unpack_terms(blob: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The terms (uint32, ascending) and their counts (uint8), read-only views of the blob.

    Raises `DamageFoundError` for a blob that `pack_terms` can't have made.
    """
    size, rest = divmod(len(blob), 5)
    if rest:
        raise DamageFoundError(
            f"A stored term list has {len(blob)} bytes, which is no multiple of 5.",
            field="terms",
            value=len(blob),
            hint="`remembrancer reindex` makes it again from the text.",
        )
    found = np.frombuffer(blob, dtype="<u4", count=size)
    return found, np.frombuffer(blob, dtype=np.uint8, offset=4 * size)


def _words(folded: str) -> list[str]:
    """The words, numbers and CJK runs of a folded text, clitics and elisions taken off."""
    words: list[str] = []
    plain = folded.isascii()
    for word in (_ASCII_TOKEN if plain else _TOKEN).findall(folded):
        if word.isalnum() and (plain or word.isascii()):
            words.append(word)
            continue
        for part in _unelided(word):
            words.extend([part] if part.isascii() else _runs(part))
    return words


def _unelided(word: str) -> list[str]:
    parts = _APOSTROPHE.split(word)
    if len(parts) > 1 and parts[-1] in _CLITICS:
        parts.pop()
    if len(parts) > 1 and parts[0] in _ELIDED:
        del parts[0]
    return parts


def _runs(word: str) -> list[str]:
    """A token cut where CJK characters begin and end ("jr東日本" → jr, 東日本)."""
    pieces: list[str] = []
    inside = None
    for character in word:
        cjk = is_cjk(character)
        if cjk == inside or (pieces and unicodedata.category(character)[0] == "M"):
            pieces[-1] += character
        else:
            pieces.append(character)
            inside = cjk
    return pieces


def _bigrams(run: str) -> list[tuple[str, ...]]:
    if len(run) == 1:
        return [(run,)]
    return [(run[place : place + 2],) for place in range(len(run) - 1)]


def _language(word: str, latin: str) -> str:
    """The stemmer of a word that isn't ASCII; "" where Snowball has none for its script."""
    code = ord(word[0])
    if code < 0x0370 or 0x1E00 <= code < 0x1F00:
        return latin
    for first, last, language in _SCRIPTS:
        if first <= code <= last:
            return language
    return ""


def _forms(language: str, word: str) -> tuple[str, ...]:
    """A word, its stem and its unaccented form, each once."""
    stem = _STEMMERS.stem(language, word) if language else word
    if word.isascii():
        return (word,) if stem == word else (word, stem)
    forms = [word, stem, _unaccented(word)]
    return tuple(form for form in dict.fromkeys(forms) if form)


def _unaccented(word: str) -> str:
    """The word without its accents if plain ASCII is left; else ""."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    return plain if plain.isascii() else ""
