"""Fits an embedding space's numbers (fusion's priors, the floor) on the project's own cases.

Numpy only and deterministic: the same cases and vectors give the same file. Whatever is fitted sees
the people of the `tune` half alone; the `report` half is printed beside it. No public data set is
used. Run as a program it fits the local model and writes FOLDER/MODEL.json:

    python -m remembrancer.evals.calibration FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from remembrancer.embeddings.base import Embedder, Kind, SpaceSpec
from remembrancer.evals.figures import BASELESS, Figures, figures_of, table
from remembrancer.evals.people import (
    Asked,
    Case,
    Corpus,
    Person,
    Vectors,
    ask,
    load_cases,
    load_head,
    load_people,
)
from remembrancer.recall.floor import (
    HEAD_CLIP,
    Calibration,
    Weights,
    expected_cosine,
    judge,
)
from remembrancer.recall.fusion import Floats, Prior, Priors
from remembrancer.recall.priors import UNCALIBRATED

ABOUT: Final = frozenset(("relevant", "near_miss"))
"""Kinds of question that ask about the person, whether a memory answers or not."""
HEAD_RIDGE: Final = 10.0
HEAD_SCALE: Final = 20.0
"""A component of a 384-dimensional unit vector is about 1/20."""
RIDGE: Final = 0.1
BESIDE_WEIGHT: Final = 0.1
"""Of a candidate beside the expected one: some bear on the question too, and none is out of place
as a greeting's would be."""
BASELESS_WEIGHT: Final = 0.1
NEAR_MISS_WEIGHT: Final = 0.05
"""Of one of the ten candidates of such a question; an expected candidate weighs 1."""
TARGET: Final = 0.04
"""The share of the tune half's baseless questions that may be given anything."""
KEYWORD_WEIGHT: Final = 0.3
"""Of a bare name or token in the head's fit: searched for often enough, and about anything."""
THINNED: Final = 4
"""One document in so many is kept, to see a young store."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A space's numbers, and how they do on both halves and on the parts of the report half."""

    spec: SpaceSpec
    priors: Priors
    calibration: Calibration
    figures: dict[str, Figures]
    by_default: dict[str, Figures]
    """The same questions in a space without numbers of its own."""


def fit(embedder: Embedder, cases: Sequence[Case] | None = None) -> Fitted:
    """Embeds the cases (all, unless given: 2,700 short texts), fits on the tune half, measures."""
    vectors = Vectors(embedder)
    people, cases = load_people(), load_cases() if cases is None else cases
    tune = [person for person in people if person.half == "tune"]
    priors = _fit_priors(tune, cases, vectors)
    asked = [
        one for person in people for one in _asked(person.corpus, [person], cases, vectors, priors)
    ]
    calibration = _fit_calibration(tune, cases, asked, vectors, priors)
    judged = [(one, judge(one.signals(vectors), calibration)) for one in asked]
    plain = [
        one
        for person in people
        for one in _asked(person.corpus, [person], cases, vectors, UNCALIBRATED.priors)
    ]
    default = [(one, judge(one.signals(vectors), None)) for one in plain]
    return Fitted(embedder.spec, priors, calibration, figures_of(judged), figures_of(default))


def write(fitted: Fitted, folder: Path) -> Path:
    """Writes the file that `recall.priors` reads; numbers are rounded to five digits."""
    numbers = fitted.calibration
    document = {
        "model": fitted.spec.model,
        "revisions": [fitted.spec.revision],
        "priors": {
            "cosine": asdict(fitted.priors.dense),
            "bm25": asdict(fitted.priors.lexical),
            "weights": {
                "dense_weight": fitted.priors.dense_weight,
                "lexical_weight": fitted.priors.lexical_weight,
                "path_weight": fitted.priors.path_weight,
            },
            "n0": fitted.priors.n0,
        },
        "calibration": {
            "floor": numbers.floor,
            "weights": asdict(numbers.weights),
            "pending": asdict(numbers.pending),
            "head_bias": numbers.head_bias,
            "head": numbers.head.tolist(),
            "centre": numbers.centre.tolist(),
        },
        "figures": {name: asdict(figures) for name, figures in fitted.figures.items()},
    }
    path = folder / f"{fitted.spec.model}.json"
    rounded = json.loads(json.dumps(document), parse_float=lambda text: float(f"{float(text):.5g}"))
    path.write_text(json.dumps(rounded, sort_keys=True) + "\n", encoding="utf-8")
    return path


def _fit_priors(tune: Sequence[Person], cases: Sequence[Case], vectors: Vectors) -> Priors:
    """Mean over the questions of a score's mean and deviation over the person's documents."""
    cosines: list[tuple[float, float]] = []
    lexical: list[tuple[float, float]] = []
    for person in tune:
        passages = vectors.of(person.corpus.passages, Kind.PASSAGE)
        for case in cases:
            if case.person == person.id:
                cosine = passages @ vectors.of([case.text], Kind.QUERY)[0]
                bm25 = person.corpus.lexical(case.text)[0]
                cosines.append((float(cosine.mean()), float(cosine.std())))
                lexical.append((float(bm25.mean()), float(bm25.std())))
    dense_mean, dense_deviation = np.mean(cosines, axis=0)
    bm25_mean, bm25_deviation = np.mean(lexical, axis=0)
    return Priors(
        dense=Prior(float(dense_mean), float(dense_deviation)),
        lexical=Prior(float(bm25_mean), float(bm25_deviation)),
    )


def _asked(
    corpus: Corpus,
    people: Sequence[Person],
    cases: Sequence[Case],
    vectors: Vectors,
    priors: Priors,
) -> list[Asked]:
    """The questions of `people`, put to `corpus`."""
    halves = {person.id: person.half for person in people}
    return [
        ask(case, halves[case.person], corpus, vectors, priors)
        for case in cases
        if case.person in halves
    ]


def _other_sizes(
    tune: Sequence[Person], cases: Sequence[Case], vectors: Vectors, priors: Priors
) -> list[Asked]:
    """The tune half's questions over all its people taken for one, and over a quarter of each.

    So that what is fitted holds for a long history and for a young one.
    """
    found = _asked(Corpus.joined([p.corpus for p in tune]), tune, cases, vectors, priors)
    for person in tune:
        ids = person.corpus.ids
        for case in (case for case in cases if case.person == person.id):
            kept = [at for at, name in enumerate(ids) if at % THINNED == 0 or name in case.expects]
            found.append(ask(case, "tune", person.corpus.part(kept), vectors, priors))
    return found


def ridge_logistic(x: Floats, y: Floats, weight: Floats, ridge: float) -> Floats:
    """Coefficients (features, then the bias) by Newton's method; the bias isn't penalised."""
    wide = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.diag([ridge] * x.shape[1] + [1e-6])
    found = np.zeros(wide.shape[1])
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(-wide @ found))
        gradient = wide.T @ (weight * (p - y)) + penalty @ found
        curvature = (wide * (weight * p * (1.0 - p))[:, None]).T @ wide + penalty
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    return found


def fit_head(x: Floats, about: Floats, weight: Floats) -> tuple[Floats, float]:
    """The linear head on query vectors (n, d): weights (d,) and bias."""
    mean = x.mean(axis=0)
    found = ridge_logistic((x - mean) * HEAD_SCALE, about, weight, HEAD_RIDGE)
    weights = found[:-1] * HEAD_SCALE
    return weights, float(found[-1] - weights @ mean)


def _head_examples(
    tune: Sequence[Person], cases: Sequence[Case], vectors: Vectors, without: str = ""
) -> tuple[Floats, Floats, Floats]:
    """Query vectors, whether each asks about the person, and its weight: tune half and nobody's."""
    names = {person.id for person in tune} - {without}
    lines = load_head()
    mine = [case for case in cases if case.person in names]
    texts = [line.text for line in lines] + [case.text for case in mine]
    about = [line.about for line in lines] + [case.kind in ABOUT for case in mine]
    weight = [KEYWORD_WEIGHT if line.kind == "keyword" else 1.0 for line in lines]
    weight += [1.0] * len(mine)
    return vectors.of(texts, Kind.QUERY), np.array(about, dtype=np.float64), np.array(weight)


def _fit_calibration(
    tune: Sequence[Person],
    cases: Sequence[Case],
    asked: Sequence[Asked],
    vectors: Vectors,
    priors: Priors,
) -> Calibration:
    own = [one for one in asked if one.half == "tune"]
    everything = own + _other_sizes(tune, cases, vectors, priors)
    logits: dict[str, float] = {}
    for person in tune:  # each question by a head that hasn't seen its person
        head, bias = fit_head(*_head_examples(tune, cases, vectors, without=person.id))
        mine = {one.case.text for one in own if one.case.person == person.id}
        for text in mine:
            logits[person.id + text] = float(vectors.of([text], Kind.QUERY)[0] @ head) + bias
    centre = np.mean(
        np.vstack([vectors.of(person.corpus.passages, Kind.PASSAGE) for person in tune]), axis=0
    )
    designs = [
        design(one, logits[one.case.person + one.case.text], vectors, centre) for one in everything
    ]
    weights, floor = _fit_weights(everything, designs, len(own))
    dense_free = [np.column_stack([x[:, :1], 0.0 * x[:, 1:2], x[:, 2:]]) for x in designs]
    pending, level = _fit_weights(everything, dense_free, len(own))
    shift = _logit(floor) - _logit(level)  # so that one floor serves both
    head, bias = fit_head(*_head_examples(tune, cases, vectors))
    pending = replace(pending, bias=pending.bias + shift)
    return Calibration(head, bias, centre, weights, pending, floor)


def design(one: Asked, logit: float, vectors: Vectors, centre: Floats) -> Floats:
    """The columns `floor.judge` weighs, in its order: ask, then asks × each evidence."""
    asks = 1.0 / (1.0 + np.exp(-logit))
    count = len(one.order)
    general = float(vectors.of([one.case.text], Kind.QUERY)[0] @ centre)
    centred = one.cosine - expected_cosine(general, one.mean_cosine)
    return np.column_stack(
        [
            np.full(count, np.clip(logit, -HEAD_CLIP, HEAD_CLIP)),
            asks * centred,
            asks * one.coverage,
            np.full(count, asks * one.known),
        ]
    )


def _fit_weights(
    everything: Sequence[Asked], designs: Sequence[Floats], own: int
) -> tuple[Weights, float]:
    """A weighted logistic to tell candidates apart, then rescaled to be a probability.

    The rescaling (Platt, 1999) is over the candidates of the first `own` questions, unweighted.
    The floor is the level that `TARGET` of their baseless ones pass.
    """
    x = np.vstack(designs)
    truth = np.concatenate([one.truth for one in everything]).astype(np.float64)
    weight = np.concatenate([_weights(one) for one in everything])
    scale = np.where(x.std(axis=0) > 0.0, x.std(axis=0), 1.0)
    found = ridge_logistic(x / scale, truth, weight, RIDGE)
    level = [(d / scale) @ found[:-1] + found[-1] for d in designs]
    mine = np.concatenate(level[:own])
    slope, shift = ridge_logistic(mine[:, None], truth[: len(mine)], np.ones(len(mine)), 1e-3)
    bars = [
        float(values.max())
        for one, values in zip(everything, level, strict=True)
        if one.case.kind in BASELESS
    ]
    bar = float(np.quantile(bars, 1.0 - TARGET))
    ask_, cosine, coverage, known = (float(value) for value in slope * found[:-1] / scale)
    weights = Weights(ask_, cosine, coverage, known, bias=float(slope * found[-1] + shift))
    return weights, float(1.0 / (1.0 + np.exp(-(slope * bar + shift))))


def _weights(one: Asked) -> Floats:
    beside = {"relevant": BESIDE_WEIGHT, "near_miss": NEAR_MISS_WEIGHT}
    return np.where(one.truth, 1.0, beside.get(one.case.kind, BASELESS_WEIGHT))


def _logit(p: float) -> float:
    return float(np.log(p / (1.0 - p)))


def main(folder: Path) -> None:
    """Fits the local model's space, prints the figures, writes the file."""
    from remembrancer.embeddings.local import LocalEmbedder

    fitted = fit(LocalEmbedder())
    print(table(fitted.figures))
    print("\nBy the stated default:\n" + table(fitted.by_default))
    print(f"\nfloor {fitted.calibration.floor:.4f} · {write(fitted, folder)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
