"""What is asked, made of the last turns: newest weighs most. Pure; nothing is retrieved here.

The newest turn alone is embedded and held against the floor, so that "thanks" after a question
recalls nothing. Words of the turns before it help the ranking only, with half the weight a turn
back: a term counts once, with the weight of the newest turn that holds it. BM25 is a sum over
terms, so adding the turns' scores with their weights is BM25 with decayed term weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.text.analyse import term_counts

TURNS: Final = 3
DECAY: Final = 0.5
QUERY_CHARACTERS: Final = 2_000
"""Of a longer turn its beginning and its end are read, half of the limit each: people put their
question before or after what they paste."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """Terms (hash → count) that are asked for with one weight, 0…1."""

    weight: float
    counts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Query:
    """A question: the newest turn's text, and the terms of the last turns, newest first."""

    text: str
    terms: tuple[Weighted, ...]

    @property
    def is_empty(self) -> bool:
        """Nothing was asked: an attachment without words, an empty turn."""
        return not self.text

    @property
    def newest(self) -> Mapping[int, int]:
        """The newest turn's terms."""
        return self.terms[0].counts if self.terms else {}


def read(turns: Sequence[str]) -> Query:
    """The query of some turns, newest last. Only the last three are looked at."""
    recent = [_capped(turn.strip()) for turn in reversed(turns[-TURNS:])]
    if not recent or not recent[0]:
        return Query("", ())
    seen: set[int] = set()
    weighted: list[Weighted] = []
    for back, turn in enumerate(recent):
        counts = {term: count for term, count in term_counts(turn).items() if term not in seen}
        seen.update(counts)
        if counts or not back:
            weighted.append(Weighted(DECAY**back, counts))
    return Query(recent[0], tuple(weighted))


def _capped(turn: str) -> str:
    if len(turn) <= QUERY_CHARACTERS:
        return turn
    half = QUERY_CHARACTERS // 2
    return f"{turn[:half]} {turn[-half:]}"
