"""Paths: free-form, filesystem-shaped labels (`work/projects/atlas`), cleaned and compared.

A path is a label and never opened. It is matched by whole segments and words: `art` doesn't match
"start", and a single CJK character doesn't match a longer word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from typing import Final

from remembrancer.errors import InvalidInputError
from remembrancer.text.analyse import terms, word_forms
from remembrancer.text.normalise import fold, is_cjk

PATH_BYTES: Final = 1_024
PATH_SEGMENTS: Final = 100

_REFUSED: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SLASHES: Final = re.compile("/{2,}")
# Between these a single CJK character stands for itself: "我的猫怎么样" names 猫.
_CJK_FUNCTION: Final = re.compile(
    "怎么样|什么|怎么|哪里|哪儿|请问|关于|我们|你们|他们|[我你您他她它的了在是和与跟吗呢吧啊哪有没不这那]"
    "|から|まで|について|[はがをにでとのもへやかね]"
)


def clean_path(path: str) -> str:
    """The path as stored: trimmed, NFC, without slashes at its ends or empty segments.

    "" means none. Raises `InvalidInputError` (field `path`) for `.` or `..` segments, control
    characters, over 1,024 bytes of UTF-8 or 100 segments.
    """
    found = _REFUSED.search(path)
    if found:
        raise _refusal(
            f"A path may not contain control characters (U+{ord(found[0]):04X}).",
            path,
            "no control characters",
        )
    cleaned = _SLASHES.sub("/", unicodedata.normalize("NFC", path.strip())).strip("/").strip()
    segments = cleaned.split("/")
    if any(segment.strip() in {".", ".."} for segment in segments):
        raise _refusal(
            "A path may not have `.` or `..` as a segment.", path, "no `.` or `..` segments"
        )
    if len(segments) > PATH_SEGMENTS:
        raise _refusal(
            f"A path has at most {PATH_SEGMENTS} segments, and this one {len(segments)}.",
            path,
            PATH_SEGMENTS,
        )
    size = len(cleaned.encode())
    if size > PATH_BYTES:
        raise _refusal(
            f"A path has at most {PATH_BYTES:,} bytes of UTF-8, and this one {size:,}.",
            path,
            PATH_BYTES,
        )
    return cleaned


def path_terms(path: str) -> frozenset[str]:
    """The terms by which a path can be named, and how they make up its segments.

    Words of each segment with their stems, CJK runs whole and as bigrams; and for each segment one
    entry that begins with "/" (as no term does) and lists its words with their forms, which
    `named_share` reads.
    """
    found: set[str] = set()
    for segment in path.split("/"):
        groups = word_forms(segment)
        if groups:
            found.update(form for forms in groups for form in forms)
            found.update(word for word in re.split(r"[\W_]+", fold(segment)) if is_cjk(word))
            found.add("/" + " ".join("|".join(forms) for forms in groups))
    return frozenset(found)


def named_share(path_terms: frozenset[str], named: Set[str]) -> float:
    """The share (0…1) of a path's segments that a query names whole: all their words are in it.

    `path_terms` and `named` (by `naming_terms`) are what the functions of this module returned;
    equal segments count once.
    """
    if path_terms.isdisjoint(named):
        return 0.0
    segments = [term[1:] for term in path_terms if term.startswith("/")]
    met = sum(
        all(not named.isdisjoint(forms.split("|")) for forms in segment.split(" "))
        for segment in segments
    )
    return met / len(segments)


def naming_terms(text: str) -> frozenset[str]:
    """What a query may name a path with: its terms, and its single CJK characters that function
    words set apart."""
    found = set(terms(text))
    for piece in re.split(r"[\W_]+", _CJK_FUNCTION.sub(" ", fold(text))):
        if len(piece) == 1 and is_cjk(piece):
            found.add(piece)
    return frozenset(found)


def _refusal(message: str, path: str, limit: object) -> InvalidInputError:
    return InvalidInputError(
        message,
        field="path",
        value=ascii(path[:80]),
        limit=limit,
        hint="Write it like work/projects/atlas.",
    )
