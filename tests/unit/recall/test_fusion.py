"""Fusion: what order comes out, and that nothing but the scores decides it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.recall.fusion import (
    Prior,
    Priors,
    dense_mean,
    dense_z,
    fuse,
    smooth_messages,
    z_scores,
)

PRIORS = Priors(dense=Prior(0.78, 0.02), lexical=Prior(0.1, 0.6))
SCORES = st.lists(st.floats(0.0, 30.0, width=32), min_size=1, max_size=40)


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def none(count: int) -> np.ndarray:
    return np.zeros(count, dtype=np.bool_)


def test_z_scores_of_many_documents_are_their_own():
    values = np.random.default_rng(3).normal(5.0, 2.0, 20_000)
    z = z_scores(values, Prior(0.0, 1.0))
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1.0) < 0.01


def test_z_scores_of_one_document_rest_on_the_prior():
    prior = Prior(0.78, 0.02)
    assert z_scores(array(0.82), prior)[0] > 1.0
    assert z_scores(array(0.74), prior)[0] < -1.0
    assert z_scores(array(0.82), prior, n0=0.0)[0] == pytest.approx(0.0, abs=1e-2)


def test_z_scores_shrink_by_n_over_n_plus_n0():
    values = array(*[0.7, 0.9] * 10)  # 20 documents: own and prior count half each
    z = z_scores(values, Prior(0.0, 1.0), n0=20.0)
    mean, deviation = 0.5 * 0.8, 0.5 * 0.1 + 0.5
    assert z == pytest.approx((values - mean) / deviation, abs=1e-3)


def test_z_scores_of_nothing_and_of_nothing_counted():
    assert len(z_scores(array(), Prior(0.0, 1.0))) == 0
    assert z_scores(array(2.0), Prior(0.0, 1.0), 0.0, among=none(1))[0] == 2.0


def test_one_match_among_thousands_leads_within_bounds():
    values = np.zeros(10_000)
    values[17] = 6.0
    z = z_scores(values, Prior(0.1, 0.6))
    assert z.argmax() == 17
    assert z.max() < 25.0


@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_no_score(bm25, random):
    places = list(range(len(bm25)))
    random.shuffle(places)
    cosine = np.array([0.7 + 0.003 * value for value in bm25])
    path, pending = np.array(bm25) / 30.0, np.array(bm25) > 25.0
    straight = fuse(cosine, np.array(bm25), path, pending, PRIORS)
    shuffled = fuse(cosine[places], np.array(bm25)[places], path[places], pending[places], PRIORS)
    assert shuffled.tolist() == straight[places].tolist()


def test_R2_equal_documents_tie_exactly():
    scores = fuse(array(0.8, 0.8, 0.9), array(1.0, 1.0, 0.0), None, None, PRIORS)
    assert scores[0] == scores[1]
    assert scores[0] != scores[2]


def test_both_arms_count_six_to_four():
    cosine, bm25 = array(0.80, 0.84, 0.78), array(0.0, 2.0, 0.5)
    z = dense_z(cosine, None, PRIORS)
    lexical = z_scores(bm25, PRIORS.lexical)
    assert fuse(cosine, bm25, None, None, PRIORS) == pytest.approx(
        0.6 * z + 0.4 * lexical, abs=1e-6
    )


def test_without_a_query_vector_the_lexical_arm_ranks_alone():
    bm25 = array(0.0, 3.0, 1.0)
    scores = fuse(None, bm25, None, None, PRIORS)
    assert scores == pytest.approx(z_scores(bm25, PRIORS.lexical), abs=1e-6)
    assert list(np.argsort(-scores)) == [1, 2, 0]


def test_W8_a_pending_vector_is_average_and_its_document_is_found_lexically():
    cosine, bm25 = array(0.80, np.nan, 0.79, 0.81), array(0.0, 4.0, 0.0, 0.0)
    pending = np.array([False, True, False, False])
    assert dense_z(cosine, pending, PRIORS)[1] == 0.0
    scores = fuse(cosine, bm25, None, pending, PRIORS)
    assert np.isfinite(scores).all()
    assert scores.argmax() == 1
    others = fuse(cosine[~pending], bm25[~pending], None, None, PRIORS)
    assert list(np.argsort(scores[~pending])) == list(np.argsort(others))


def test_the_mean_cosine_leaves_pending_ones_out():
    mean = dense_mean(array(0.8, np.nan, 0.7), np.array([False, True, False]), PRIORS)
    assert mean == pytest.approx(0.75, abs=1e-4)
    assert dense_mean(array(0.8, 0.6), None, PRIORS) == pytest.approx(0.7, abs=1e-4)
    assert dense_mean(array(np.nan), np.array([True]), PRIORS) is None


def test_a_named_path_lifts_its_document():
    cosine, bm25 = array(0.8, 0.8), array(1.0, 1.0)
    plain = fuse(cosine, bm25, None, None, PRIORS)
    assert plain[0] == plain[1]
    assert fuse(cosine, bm25, array(0.0, 1.0), None, PRIORS).argmax() == 1


def test_a_message_gains_by_its_neighbour_its_session_and_its_speaker():
    scores = array(0.0, 3.0, 0.0, 0.0)
    sessions, places = np.array([1, 1, 1, 2]), np.array([0, 1, 2, 0])
    found = smooth_messages(scores, sessions, places, none(4))
    assert found == pytest.approx(
        [(0.6 + 0.3) / 1.5, (3.0 + 0.3) / 1.5, (0.6 + 0.3) / 1.5, 0.0], abs=1e-6
    )
    spoken = smooth_messages(scores, sessions, places, np.array([False, False, False, True]))
    assert spoken[3] == pytest.approx(0.5 / 1.5, abs=1e-6)
    assert spoken[:3].tolist() == found[:3].tolist()


def test_only_consecutive_places_are_neighbours():
    scores, sessions = array(0.0, 3.0), np.array([1, 1])
    near = smooth_messages(scores, sessions, np.array([0, 1]), none(2))
    apart = smooth_messages(scores, sessions, np.array([0, 2]), none(2))
    assert near[0] > apart[0]


def test_a_session_counts_by_its_three_best():
    scores = array(5.0, 4.0, 3.0, 2.0, 0.0)
    sessions, places = np.array([7, 7, 7, 7, 8]), np.array([0, 2, 4, 6, 0])
    found = smooth_messages(scores, sessions, places, none(5))
    assert found[3] == pytest.approx((2.0 + 0.3 * 4.0) / 1.5, abs=1e-6)
    assert found[4] == 0.0


def test_messages_in_any_order_get_the_same_scores():
    random = np.random.default_rng(5)
    scores = random.normal(size=60)
    sessions, places = np.repeat([3, 1, 2], 20), np.tile(np.arange(20), 3)
    named = random.random(60) > 0.5
    found = smooth_messages(scores, sessions, places, named)
    mixed = random.permutation(60)
    again = smooth_messages(scores[mixed], sessions[mixed], places[mixed], named[mixed])
    assert again == pytest.approx(found[mixed], abs=1e-6)


def test_no_messages_no_scores():
    nothing = np.array([], dtype=np.int64)
    assert len(smooth_messages(array(), nothing, nothing, none(0))) == 0
