"""One ranking out of several retrievers' scores: normalised, weighed, smoothed over a conversation.

Pure array functions. No retrieval, no floor, no masking and no cut happens here: every document of
the person's has a score, and a caller decides which of them may be seen.

    fused = (dense · z(cosine) + lexical · z(BM25)) / (dense + lexical) + path · overlap

A message's fused score is then averaged with what was said around it. Scores are rounded to 1e-6,
so that equal documents tie whatever the order they are stored in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

DECIMALS: Final = 6
NEIGHBOUR_WEIGHT: Final = 0.2
SESSION_WEIGHT: Final = 0.3
SPEAKER_WEIGHT: Final = 0.5
SESSION_TOP: Final = 3
"""The four of the design's table (§4 "Recall"), measured on LoCoMo's turns."""

_GRID: Final = float(2**14)
_LARGEST: Final = 64.0
"""Statistics are summed as integers, in steps of 6e-5 of the prior's deviation and within ±64 of
them: exact, so the same in any order. Sums of squares fit 64 bits up to eight million documents."""
_LEAST_SPREAD: Final = 0.5


@dataclass(frozen=True, slots=True)
class Prior:
    """What a score's mean and standard deviation usually are over one person's documents."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Priors:
    """The shipped numbers of an embedding space that fusion needs, and the arms' weights."""

    dense: Prior
    """Of the cosine."""
    lexical: Prior
    """Of BM25."""
    dense_weight: float = 0.6
    lexical_weight: float = 0.4
    path_weight: float = 1.0
    n0: float = 20.0
    """How many documents' worth of evidence a prior counts for."""
    dense_n0: float = 20.0
    """The same for the cosine's: 0 where nothing is known of the space."""


def z_scores(values: Floats, prior: Prior, n0: float = 20.0, among: Bools | None = None) -> Floats:
    """`values` (n,) less their mean, over their deviation, both shrunk toward the prior.

    With n values counted, each statistic is n/(n+n0) of its own and n0/(n+n0) of the prior's, so
    that ten memories behave like ten thousand. The deviation is never below half the prior's: one
    match among thousands may lead, but not by a hundred deviations. `among` says which values are
    counted (all, unless given). A permutation of `values` permutes the result and nothing else.
    """
    counted = values if among is None else values[among]
    weight = len(counted) + n0
    own = len(counted) / weight if weight else 0.0
    standard = (values - prior.mean) / prior.deviation
    mean, deviation = _moments(standard if among is None else standard[among])
    spread = own * deviation + (1.0 - own)
    return (standard - own * mean) / max(spread, _LEAST_SPREAD)


def dense_z(cosines: Floats, pending: Bools | None, priors: Priors) -> Floats:
    """`z_scores` of n documents' cosines; 0 where the vector is `pending`, which isn't counted."""
    ready = np.ones(len(cosines), dtype=np.bool_) if pending is None else ~pending
    known = np.where(ready, cosines, 0.0).astype(np.float64)
    return np.where(ready, z_scores(known, priors.dense, priors.dense_n0, among=ready), 0.0)


def dense_mean(cosines: Floats, pending: Bools | None, priors: Priors) -> float | None:
    """The mean cosine of the documents that have a vector; None if there are none."""
    ready = cosines if pending is None else cosines[~pending]
    if len(ready) == 0:
        return None
    mean, _ = _moments((ready - priors.dense.mean) / priors.dense.deviation)
    return mean * priors.dense.deviation + priors.dense.mean


def fuse(
    dense: Floats | None,
    bm25: Floats,
    path: Floats | None,
    pending: Bools | None,
    priors: Priors,
) -> Floats:
    """Scores (n,), rounded to 1e-6, of n documents; 0 is an average document of this person's.

    `dense` holds cosines, or is None where the query has no vector: the lexical arm then counts
    alone. `bm25` is the plain score (≥ 0). `path` is an overlap in 0…1. `pending` marks documents
    without a vector: their cosine is not looked at and their dense z is 0.
    """
    lexical = z_scores(bm25, priors.lexical, priors.n0)
    if dense is None:
        fused = lexical
    else:
        total = priors.dense_weight + priors.lexical_weight
        z = dense_z(dense, pending, priors)
        fused = (priors.dense_weight * z + priors.lexical_weight * lexical) / total
    if path is not None:
        fused = fused + priors.path_weight * path
    return np.round(fused, DECIMALS)


def smooth_messages(
    scores: Floats, session_ids: Ints, positions: Ints, speaker_match: Bools
) -> Floats:
    """The fused scores of messages (n,), each averaged with what was said around it.

    (score + 0.2 × the better neighbour's + 0.3 × the mean of its session's three best + 0.5 if the
    question names its speaker) / 1.5; a neighbour that doesn't exist counts 0. The division keeps
    a message's score on the scale of a memory's, which has no surroundings. `session_ids` are any
    integers; `positions` order a session, and only consecutive ones are neighbours.
    """
    if len(scores) == 0:
        return scores
    order = np.lexsort((positions, session_ids))
    ranked, sessions, places = scores[order], session_ids[order], positions[order]
    adjacent = (sessions[1:] == sessions[:-1]) & (places[1:] - places[:-1] == 1)
    before = np.full(len(scores), -np.inf)
    after = np.full(len(scores), -np.inf)
    before[1:][adjacent] = ranked[:-1][adjacent]
    after[:-1][adjacent] = ranked[1:][adjacent]
    neighbour = np.maximum(before, after)
    neighbour[np.isneginf(neighbour)] = 0.0
    smoothed = np.empty_like(ranked)
    smoothed[order] = ranked + NEIGHBOUR_WEIGHT * neighbour
    smoothed += SESSION_WEIGHT * _session_level(scores, session_ids)
    smoothed += SPEAKER_WEIGHT * speaker_match
    return np.round(smoothed / (1.0 + NEIGHBOUR_WEIGHT + SESSION_WEIGHT), DECIMALS)


def _session_level(scores: Floats, session_ids: Ints) -> Floats:
    """For each message the mean of the three best scores of its session (fewer if it has fewer)."""
    order = np.lexsort((-scores, session_ids))
    _, starts, counts = np.unique(session_ids[order], return_index=True, return_counts=True)
    place = np.arange(len(scores)) - np.repeat(starts, counts)
    best = np.where(place < SESSION_TOP, scores[order], 0.0)
    means = np.add.reduceat(best, starts) / np.minimum(counts, SESSION_TOP)
    level = np.empty_like(scores)
    level[order] = np.repeat(means, counts)
    return level


def _moments(values: Floats) -> tuple[float, float]:
    """Mean and standard deviation (0, 0 for none), exact on a grid and so free of order."""
    count = len(values)
    if count == 0:
        return 0.0, 0.0
    steps = np.rint(np.clip(values, -_LARGEST, _LARGEST) * _GRID).astype(np.int64)
    total = int(steps.sum())
    squares = int((steps * steps).sum())
    variance = max(0, count * squares - total * total) / float(count * count)
    return total / count / _GRID, float(np.sqrt(variance)) / _GRID
