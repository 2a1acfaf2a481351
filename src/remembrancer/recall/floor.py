"""How likely a candidate bears on what was asked, and the bar below which nothing is given.

Pure array functions. Ranking is `fusion`'s, and is not changed here; the numbers of an embedding
space come from `priors`, and are made by `evals.calibration`.

    asks      = σ(head · query + bias)                       does this ask about the person?
    expected  = min(centre · query, mean cosine)
    evidence  = a · (cosine − expected) + b · coverage + c · known
    relevance = σ(d · clip(head · query + bias) + asks · evidence + e)

Evidence so counts as far as the question asks about the person at all: "good morning" matches a
message that says "good morning" word for word, and is no reason to recall it. A cosine alone can't
tell: cosines of small multilingual models are compressed, so each is held against what the query
gets from passages in general, or from this person's on the whole if that is less, which mostly
means that they are in another language. A space without numbers of its own, and a query without a
vector, fall back on a stated default that looks at coverage first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from remembrancer.recall.fusion import Bools, Floats

HEAD_CLIP: Final = 6.0
"""Beyond it the head has said all it can: a probability of 0.2 % or 99.8 %."""
Z_CLIP: Final = 4.0


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression's coefficients over the signals, in their own units."""

    ask: float
    cosine: float
    coverage: float
    known: float
    bias: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The shipped numbers of one embedding space. `head` and `centre` have its dimension."""

    head: Floats
    """Weights of the linear head on the query's unit vector."""
    head_bias: float
    centre: Floats
    """The mean passage: a query's product with it is the cosine it gets from anything."""
    weights: Weights
    pending: Weights
    """For documents whose vector is missing: the cosine's weight is 0."""
    floor: float
    """The least relevance that is given; above 0, below 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """What is known of n candidates and of the query they answer.

    `coverage` (n,) is the share of the query's idf mass that a candidate contains, and `known` the
    share that any document of the person's contains, both 0…1 (a term nobody said has the largest
    idf). `query` is the query's unit vector; None if it could not be embedded. `cosine` (n,) and
    `z` (n,), the cosine's z-score within the person's own set, go with it; both are ignored where
    `pending` (n,) says that the vector is missing. `mean_cosine` is over all the person's
    documents that have a vector, candidates or not.
    """

    coverage: Floats
    known: float
    query: Floats | None = None
    cosine: Floats | None = None
    z: Floats | None = None
    pending: Bools | None = None
    mean_cosine: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The verdict on n candidates, in their order."""

    relevance: Floats
    floor: float
    asks: float | None
    """How likely the question is about the person or their world; None if it can't be told."""
    calibrated: bool
    """False: by the stated default."""

    @property
    def passes(self) -> Bools:
        """Which candidates may be given."""
        return self.relevance >= self.floor


DEFAULT_COVERAGE: Final = 8.0
DEFAULT_Z: Final = 0.4
DEFAULT_BIAS: Final = -2.8
DEFAULT_FLOOR: Final = 0.5
"""The default: σ(8 · coverage + 0.4 · z − 2.8) ≥ 0.5, z held to ±4. Without a vector 35 % of the
query's idf mass must be there; each deviation a candidate stands out by is worth 5 %. Chosen on the
project's tune half to give few unrelated lines, at a price: about half of hit@5. An estimate, and
not a calibrated probability."""


def judge(signals: Signals, calibration: Calibration | None) -> Judgement:
    """Each candidate's relevance, rounded to 1e-6, and the floor that goes with it.

    Without a calibration, or without the query's vector, the stated default judges: the floor is
    then its own.
    """
    if calibration is None or signals.query is None or signals.cosine is None:
        return _by_default(signals)
    query = signals.query.astype(np.float64)
    logit = float(query @ calibration.head) + calibration.head_bias
    asks = 1.0 / (1.0 + math.exp(-logit))
    asking = _Asking(min(max(logit, -HEAD_CLIP), HEAD_CLIP), asks)
    general = float(query @ calibration.centre)
    centred = signals.cosine - expected_cosine(general, signals.mean_cosine)
    relevance = asking.relevance(calibration.weights, centred, signals)
    if signals.pending is not None:
        lexical = asking.relevance(calibration.pending, np.zeros_like(centred), signals)
        relevance = np.where(signals.pending, lexical, relevance)
    return Judgement(np.round(relevance, 6), calibration.floor, asks, calibrated=True)


def expected_cosine(general: float, mean_cosine: float | None) -> float:
    """What a query gets from a passage that has nothing to do with it.

    `general` is its product with the space's mean passage, `mean_cosine` the mean over this
    person's documents; None if that isn't known.
    """
    return general if mean_cosine is None else min(general, mean_cosine)


@dataclass(frozen=True, slots=True, eq=False)
class _Asking:
    """The head's word on one question, clipped and as a probability."""

    ask: float
    asks: float

    def relevance(self, weights: Weights, centred: Floats, lexical: Signals) -> Floats:
        evidence = (
            weights.cosine * centred
            + weights.coverage * lexical.coverage
            + weights.known * lexical.known
        )
        return _sigmoid(weights.ask * self.ask + self.asks * evidence + weights.bias)


def _by_default(signals: Signals) -> Judgement:
    z = np.zeros(len(signals.coverage)) if signals.z is None else signals.z
    if signals.pending is not None:
        z = np.where(signals.pending, 0.0, z)
    logit = DEFAULT_COVERAGE * signals.coverage + DEFAULT_Z * np.clip(z, -Z_CLIP, Z_CLIP)
    relevance = _sigmoid(logit + DEFAULT_BIAS)
    return Judgement(np.round(relevance, 6), DEFAULT_FLOOR, None, calibrated=False)


def _sigmoid(logit: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)), dtype=np.float64)
