"""The retrieval figures, held against values counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from remembrancer.evals.figures import calibration_error
from remembrancer.evals.metrics import (
    SESSION_CUTS,
    TURN_CUTS,
    Ranking,
    figures,
    sessions_of,
)

RANKED = [f"D1:{number}" for number in range(1, 13)]


def ranking(*relevant: str) -> Ranking:
    return Ranking(RANKED, frozenset(relevant), "1")


def test_recall_is_the_share_of_the_evidence_among_the_first_k() -> None:
    one = ranking("D1:1", "D1:6", "D1:11", "D9:1")
    assert [one.recall(k) for k in (1, 5, 6, 10, 11, 50)] == [0.25, 0.25, 0.5, 0.5, 0.75, 0.75]


def test_ndcg_discounts_by_place() -> None:
    assert ranking("D1:1").ndcg() == 1.0
    assert ranking("D1:2").ndcg() == pytest.approx(1 / math.log2(3))
    assert ranking("D1:11").ndcg() == 0.0
    assert ranking("D1:1", "D1:3").ndcg() == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert ranking(*RANKED).ndcg() == pytest.approx(1.0), "no more than ten can be had"


def test_figures_are_means_over_the_questions() -> None:
    found = figures([ranking("D1:1", "D1:6"), ranking("D1:11"), ranking("D1:2")], TURN_CUTS)
    assert found.n == 3
    assert dict(found.recall) == pytest.approx({5: 0.5, 10: 2 / 3, 25: 1.0, 50: 1.0})
    assert found.hit10 == pytest.approx(2 / 3)
    first = (1 + 1 / math.log2(7)) / (1 + 1 / math.log2(3))
    assert found.ndcg10 == pytest.approx((first + 0 + 1 / math.log2(3)) / 3)
    assert found.as_json() == {
        "recall": {"5": 0.5, "10": 0.6667, "25": 1.0, "50": 1.0},
        "hit10": 0.6667,
        "ndcg10": round(found.ndcg10, 4),
        "n": 3,
    }


def test_no_questions_are_said_to_be_none() -> None:
    found = figures([], SESSION_CUTS)
    assert found.n == 0
    assert dict(found.recall) == dict.fromkeys(SESSION_CUTS, 0.0)


def test_a_session_stands_where_its_best_turn_does() -> None:
    assert sessions_of(["D2:1", "D1:9", "D2:3", "D10:1", "D1:1"]) == ["D2", "D1", "D10"]


def test_calibration_error_is_the_mean_gap_of_bins_of_equal_count() -> None:
    relevance = np.array([0.9, 0.1, 0.2, 0.8])
    truth = np.array([1.0, 0.0, 1.0, 1.0])
    # Two bins, (0.1, 0.2) and (0.8, 0.9): |0.15 − 0.5| and |0.85 − 1|, two candidates each.
    assert calibration_error(relevance, truth, bins=2) == pytest.approx((0.35 + 0.15) / 2)
    assert calibration_error(np.array([0.5, 0.5]), np.array([0.0, 1.0]), bins=1) == 0.0
    assert calibration_error(relevance, truth) == pytest.approx((0.1 + 0.1 + 0.8 + 0.2) / 4)
    assert calibration_error(np.array([]), np.array([])) == 0.0
