"""Passing over texts that can't say a value, cheaply. Pure.

`text.normalise` decides; this only spares it what is hopeless. A text may pass and not say the
value, never the other way.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.text.normalise import fold, tombstone_tokens

_LATIN: Final = "a-z\u00df-\u024f\u1e00-\u1eff"
_LOOKALIKE: Final = (
    "\u0370-\u03ff\u0400-\u058f\u13a0-\u13ff\u1f00-\u1fff\u2c80-\u2cff\ua4d0-\ua4ff\uab70-\uabbf"
)
_MIXED: Final = re.compile(
    f"[{_LATIN}][\u0300-\u036f0-9]*[{_LOOKALIKE}]|[{_LOOKALIKE}][\u0300-\u036f0-9]*[{_LATIN}]"
)
"""A word of two scripts, in which look-alike letters may hide another word."""
_DRESSED: Final = re.compile("[\u0300-\u036f\u249c-\u24b5\U0001f110-\U0001f129]")
"""Marks that only decorate, and parenthesised letters: tokens are without them."""


def may_hold(text: str, quote: str) -> bool:
    """Whether `quote` could stand in `text` verbatim; `text.spans.contains_quote` decides."""
    words = quote.split()
    if not words:
        return False
    if quote.isascii() and text.isascii():
        return all(word in text for word in words)
    return True


class Sieve:
    """Lets through every text that could say `value`."""

    __slots__ = ("_ascii", "tokens")

    def __init__(self, value: str) -> None:
        self.tokens = tuple(dict.fromkeys(tombstone_tokens(value)))
        self._ascii = all(token.isascii() for token in self.tokens)

    def passes(self, text: str) -> bool:
        """Whether all of the value's tokens may stand in `text`."""
        if not self.tokens:
            return False
        if text.isascii():
            return self._ascii and self._all_in(text.lower())
        folded = fold(text)
        return self._all_in(folded) or any(
            found is not None
            for found in (_MIXED.search(folded), _DRESSED.search(folded), _DRESSED.search(text))
        )

    def _all_in(self, folded: str) -> bool:
        return all(token in folded for token in self.tokens)
