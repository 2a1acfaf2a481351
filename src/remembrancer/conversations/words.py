"""What a message's vector is made from: the message, with the one before it. Pure.

On LoCoMo's turns, recall@10 of an embedder and BM25 together rose from 63.2 to 69.5 when each turn
was embedded as "Speaker: turn before\\nSpeaker: turn", within a session.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from remembrancer.text.analyse import pack_terms, term_counts
from remembrancer.text.normalise import fold

PREVIOUS_CHARACTERS: Final = 400
"""Of the message before it, so much of its end; a long answer must not crowd out the message."""
MADE_FROM_BYTES: Final = 16
_LETTER: Final = re.compile(r"[^\W_]")


def embedded_words(
    previous: str, text: str, *, previous_speaker: str = "", speaker: str = ""
) -> str:
    """The words to embed, both texts without what is withheld; "" when `text` has no word in it.

    `previous` is "" at the start of a session. Names are given where a message has one.
    """
    if not _LETTER.search(fold(text)):
        return ""
    own = _labelled(speaker, text)
    before = _tail(previous.strip())
    return f"{_labelled(previous_speaker, before)}\n{own}" if before else own


def made_from(words: str) -> bytes:
    """16 bytes, BLAKE2b of the exact words: tells whether a stored vector still fits."""
    encoded = words.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=MADE_FROM_BYTES).digest()


def packed_terms(visible: str) -> bytes:
    """The terms a message is found by; empty when nothing visible says anything."""
    return pack_terms(term_counts(visible))


def _labelled(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def _tail(text: str) -> str:
    """The end of a text, from a word's beginning where one is near."""
    if len(text) <= PREVIOUS_CHARACTERS:
        return text
    cut = text[-PREVIOUS_CHARACTERS:]
    space = cut.find(" ", 0, PREVIOUS_CHARACTERS // 8)
    return cut[space + 1 :]
