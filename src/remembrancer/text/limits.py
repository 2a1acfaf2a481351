"""The limits of what is stored, checked. Values pass unchanged or not at all, but for names.

Sizes are those of decisions ("Types"): content 1…10,000 characters, message ≤ 1 MiB, `meta` ≤
16 KiB of JSON. Paths have their own module.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from remembrancer.errors import InvalidInputError

CONTENT_CHARACTERS: Final = 10_000
MESSAGE_BYTES: Final = 1_048_576
META_BYTES: Final = 16_384
META_DEPTH: Final = 32

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_NOT_ONE_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check_content(content: str, *, field: str = "content") -> str:
    """A memory's text: 1…10,000 characters, not blank, no control but tab and line ends.

    Returned unchanged. Raises `InvalidInputError` naming the field and the limit.
    """
    _refuse_blank(content, field, CONTENT_CHARACTERS)
    if len(content) > CONTENT_CHARACTERS:
        raise InvalidInputError(
            f"{field} has {len(content):,} characters; the limit is {CONTENT_CHARACTERS:,}.",
            field=field,
            value=len(content),
            limit=CONTENT_CHARACTERS,
            hint="Shorten it, or split it into several.",
        )
    _refuse_characters(content, _CONTROL, field, "control characters other than tab and line ends")
    return content


def check_message(text: str, *, field: str = "text") -> str:
    """A chat message's text: not blank, ≤ 1 MiB of UTF-8, no NUL and no lone surrogate.

    Other controls pass: people paste terminal output and page breaks into a chat. Returned
    unchanged. Raises `InvalidInputError` naming the field and the limit.
    """
    _refuse_blank(text, field, MESSAGE_BYTES)
    _refuse_characters(text, _UNSTORABLE, field, "NUL or lone surrogates")
    _refuse_size(len(text.encode()), MESSAGE_BYTES, field)
    return text


def check_meta(meta: Mapping[str, object]) -> str:
    """`meta` as canonical JSON (sorted keys, no spaces, UTF-8): what is stored and compared.

    Raises `InvalidInputError` for what JSON can't say (NaN, other types, keys that aren't text),
    for NUL and lone surrogates, for more than 32 levels, and over 16 KiB.
    """
    _refuse_unstorable_json(meta, 0)
    try:
        text = json.dumps(
            dict(meta), sort_keys=True, allow_nan=False, ensure_ascii=False, separators=(",", ":")
        )
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"meta can't be written as JSON: {error}.", field="meta", limit="JSON"
        ) from error
    _refuse_size(len(text.encode()), META_BYTES, "meta")
    return text


def check_name(value: str, field: str, limit: int) -> str:
    """A short name on one line, trimmed and in NFC: 1…`limit` characters, no control characters.

    Raises `InvalidInputError` naming the field and the limit.
    """
    _refuse_characters(value, _NOT_ONE_LINE, field, "line breaks or control characters")
    name = unicodedata.normalize("NFC", value.strip())
    if not 1 <= len(name) <= limit:
        raise InvalidInputError(
            f"{field} must have 1 to {limit} characters, and has {len(name)}.",
            field=field,
            value=len(name),
            limit=limit,
        )
    return name


def estimate_tokens(text: str) -> int:
    """⌈UTF-8 bytes / 3⌉: an estimate of a model's tokens, and called one (decisions: "Recall")."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


def _refuse_blank(text: str, field: str, limit: int) -> None:
    if not text.strip():
        raise InvalidInputError(
            f"{field} is empty.",
            field=field,
            value=text[:20],
            limit=f"1…{limit}",
            hint="Say something in it.",
        )


def _refuse_characters(text: str, refused: re.Pattern[str], field: str, what: str) -> None:
    found = refused.search(text)
    if found:
        raise InvalidInputError(
            f"{field} may not contain {what} (U+{ord(found[0]):04X} at {found.start()}).",
            field=field,
            value=f"U+{ord(found[0]):04X}",
            limit=f"no {what}",
            hint="Remove it.",
        )


def _refuse_size(size: int, limit: int, field: str) -> None:
    if size > limit:
        raise InvalidInputError(
            f"{field} has {size:,} bytes; the limit is {limit:,}.",
            field=field,
            value=size,
            limit=limit,
        )


def _refuse_unstorable_json(value: object, depth: int) -> None:
    if depth > META_DEPTH:
        raise InvalidInputError(
            f"meta is nested more than {META_DEPTH} levels deep.", field="meta", limit=META_DEPTH
        )
    if isinstance(value, str):
        _refuse_characters(value, _UNSTORABLE, "meta", "NUL or lone surrogates")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if not isinstance(key, str):
                raise InvalidInputError(
                    f"A key of meta isn't text: {key!r}.", field="meta", limit="JSON"
                )
            _refuse_unstorable_json(key, depth)
            _refuse_unstorable_json(part, depth + 1)
    elif isinstance(value, list | tuple):
        for part in value:
            _refuse_unstorable_json(part, depth + 1)
