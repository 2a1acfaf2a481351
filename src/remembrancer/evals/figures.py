"""What a floor does to the project's own cases: measured, and printed for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from remembrancer.evals.people import TOP, Asked
from remembrancer.recall.floor import Judgement
from remembrancer.recall.fusion import Floats

BASELESS: Final = ("greeting", "smalltalk", "code", "general", "other_people")
"""Kinds that must recall nothing (R3)."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a calibration does to one half, or a part of it; shares 0…1."""

    questions: int
    false_injection: float
    """Of the baseless questions: given anything at all."""
    near_miss_given: float
    hit5: float
    """Of the relevant ones: an expected document among the first five, before the floor."""
    hit5_lost: float
    given: float
    """Entries a relevant question gets, of eight."""
    calibration_error: float
    """Expected calibration error over the ten best candidates, ten bins of equal count."""


def figures_of(judged: Sequence[tuple[Asked, Judgement]]) -> dict[str, Figures]:
    """By name: both halves, and the report half by language, kind, and way across languages."""
    found = {
        half: measured([pair for pair in judged if pair[0].half == half])
        for half in ("tune", "report")
    }
    report = [pair for pair in judged if pair[0].half == "report"]
    for language in sorted({one.case.language for one, _ in report}):
        pairs = [pair for pair in report if pair[0].case.language == language]
        found[f"report {language}"] = measured(pairs)
    for kind in (*BASELESS, "near_miss"):
        pairs = [pair for pair in report if pair[0].case.kind == kind]
        found[f"report {kind}"] = measured(pairs)
    crossed = [pair for pair in report if pair[0].crosses]
    for way in sorted({pair[0].crosses for pair in crossed}):
        found[f"report {way}"] = measured([pair for pair in crossed if pair[0].crosses == way])
    return found


def measured(judged: Sequence[tuple[Asked, Judgement]]) -> Figures:
    baseless = [verdict for one, verdict in judged if one.case.kind in BASELESS]
    near = [verdict for one, verdict in judged if one.case.kind == "near_miss"]
    relevant = [(one, verdict) for one, verdict in judged if one.case.kind == "relevant"]
    before = [bool(one.truth[:5].any()) for one, _ in relevant]
    after = [bool(one.truth[verdict.passes][:5].any()) for one, verdict in relevant]
    hit5, kept = _mean(before), _mean(after)
    return Figures(
        questions=len(judged),
        false_injection=_mean([bool(verdict.passes.any()) for verdict in baseless]),
        near_miss_given=_mean([bool(verdict.passes.any()) for verdict in near]),
        hit5=hit5,
        hit5_lost=hit5 - kept,
        given=_mean([int(verdict.passes[:8].sum()) for _, verdict in relevant]),
        calibration_error=_calibration_error(judged),
    )


def _calibration_error(judged: Sequence[tuple[Asked, Judgement]]) -> float:
    if not judged:
        return 0.0
    relevance = np.concatenate([verdict.relevance[:TOP] for _, verdict in judged])
    truth = np.concatenate([one.truth[:TOP] for one, _ in judged]).astype(np.float64)
    return calibration_error(relevance, truth)


def calibration_error(relevance: Floats, truth: Floats, bins: int = 10) -> float:
    """Expected calibration error (Naeini et al., 2015) with bins of equal count; 0 for none.

    `relevance` (n,) are probabilities, `truth` (n,) is 0 or 1.
    """
    if not len(relevance):
        return 0.0
    order = np.argsort(relevance, kind="stable")
    parts = np.array_split(order, bins)
    gaps = [abs(float(relevance[p].mean() - truth[p].mean())) * len(p) for p in parts if len(p)]
    return sum(gaps) / len(order)


def _mean(values: Sequence[bool] | Sequence[int]) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def table(figures: dict[str, Figures]) -> str:
    """The figures for people to read, in per cent."""
    head = f"{'':22}{'n':>5}{'false':>8}{'near':>8}{'hit@5':>8}{'lost':>8}{'given':>7}{'ECE':>8}"
    lines = [head]
    for name, f in figures.items():
        shares = (f.false_injection, f.near_miss_given, f.hit5, f.hit5_lost)
        printed = "".join(f"{100 * share:8.1f}" for share in shares)
        lines.append(f"{name:22}{f.questions:5}{printed}{f.given:7.1f}{f.calibration_error:8.4f}")
    return "\n".join(lines)
