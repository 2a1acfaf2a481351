"""Retrieval figures over rankings. Pure.

Recall@k is the mean over questions of the share of a question's evidence among the first k; hit@10
the share of questions with any of it among the first ten; NDCG@10 the discounted gain with binary
relevance (Järvelin and Kekäläinen, 2002).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

TURN_CUTS: Final = (5, 10, 25, 50)
SESSION_CUTS: Final = (2, 5, 10, 25, 50)


@dataclass(frozen=True, slots=True)
class Ranking:
    """One question's ranking of ids, best first, and the ids that answer it."""

    ranked: Sequence[str]
    relevant: frozenset[str]
    category: str

    def recall(self, k: int) -> float:
        """Share of the relevant among the first k."""
        return len(self.relevant.intersection(self.ranked[:k])) / len(self.relevant)

    def ndcg(self, k: int = 10) -> float:
        """Normalised discounted cumulative gain at k."""
        gain = sum(
            1 / math.log2(place + 2)
            for place, each in enumerate(self.ranked[:k])
            if each in self.relevant
        )
        ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(self.relevant))))
        return gain / ideal


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over `n` questions; shares 0…1."""

    recall: tuple[tuple[int, float], ...]
    hit10: float
    ndcg10: float
    n: int

    def as_json(self) -> dict[str, object]:
        """`{"recall": {"5": …}, "hit10", "ndcg10", "n"}`."""
        return {
            "recall": {str(k): round(value, 4) for k, value in self.recall},
            "hit10": round(self.hit10, 4),
            "ndcg10": round(self.ndcg10, 4),
            "n": self.n,
        }


def figures(rankings: Sequence[Ranking], cuts: Sequence[int]) -> Figures:
    """The means; zeros for no questions."""
    if not rankings:
        return Figures(tuple((k, 0.0) for k in cuts), 0.0, 0.0, 0)
    return Figures(
        recall=tuple((k, fmean(each.recall(k) for each in rankings)) for k in cuts),
        hit10=fmean(float(each.recall(10) > 0) for each in rankings),
        ndcg10=fmean(each.ndcg() for each in rankings),
        n=len(rankings),
    )


def sessions_of(ranked: Sequence[str]) -> list[str]:
    """A ranking of sessions from one of turns: each where its best turn stands."""
    return list(dict.fromkeys(turn.partition(":")[0] for turn in ranked))
