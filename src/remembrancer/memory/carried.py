"""The words inside stored JSON, as they read: an escape there glues letters to a word.

It decides nothing; `text.normalise.matches` and the tombstones do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=list, parse_int=str, parse_float=str, parse_constant=str
)
"""Pairs, not mappings: of two keys alike none is lost. Numbers stay as they are written."""


def words_in(stored: str | None) -> tuple[str, ...]:
    """The strings of a JSON text, keys and values, and all of them as one; for what is no JSON,
    the text itself. Nothing for None or for JSON without any."""
    if stored is None:
        return ()
    try:
        found = [each for each in _strings(_DECODER.decode(stored)) if each]
    except (ValueError, RecursionError):
        return (stored,)
    return (*found, "\n".join(found)) if len(found) > 1 else tuple(found)


def _strings(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _strings(each)
