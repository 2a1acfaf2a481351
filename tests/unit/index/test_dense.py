"""Cosines out of 8-bit rows."""

from __future__ import annotations

import numpy as np
import pytest

from remembrancer.errors import DamageFoundError, InvalidInputError
from remembrancer.index.dense import Vectors, lengths_of, quantise


def unit_rows(count, dimension, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def stored(rows):
    return [row.tobytes() for row in rows.astype("<f2")]


def places(*numbers):
    return np.array(numbers, dtype=np.int32)


def filled(rows):
    vectors = Vectors()
    vectors.add_documents(len(rows))
    vectors.put(np.arange(len(rows), dtype=np.int32), stored(rows))
    return vectors


@pytest.mark.parametrize("dimension", [8, 384, 1024])
def test_cosines_are_within_a_hundredth_of_the_exact_ones(dimension):
    rows = unit_rows(3000, dimension)
    query = rows[5] + unit_rows(1, dimension, 1)[0]
    query /= np.linalg.norm(query)
    cosines = filled(rows).freeze().cosines(query)
    assert cosines.dtype == np.float32
    exact = rows @ query
    assert np.abs(cosines - exact).max() <= 0.01
    assert exact[cosines.argmax()] >= exact.max() - 0.01


def test_a_sparse_vector_is_kept_as_well():
    rows = np.eye(300, 4096, dtype=np.float32)
    assert filled(rows).freeze().cosines(rows[3]).tolist() == [float(i == 3) for i in range(300)]


def test_R7_a_cosine_does_not_depend_on_where_a_row_stands():
    rows = unit_rows(1500, 384)
    order = np.random.default_rng(2).permutation(1500)
    query = unit_rows(1, 384, 3)[0]
    straight, shuffled = filled(rows).freeze(), filled(rows[order]).freeze()
    assert (straight.cosines(query)[order] == shuffled.cosines(query)).all()


def test_a_row_of_zeros_has_no_likeness():
    rows = np.zeros((2, 16), dtype=np.float32)
    rows[1, 0] = 1.0
    assert filled(rows).freeze().cosines(rows[1]).tolist() == [0.0, 1.0]
    assert filled(rows).freeze().cosines(rows[0]).tolist() == [0.0, 0.0]


def test_documents_without_a_vector_are_nan():
    vectors = Vectors()
    vectors.add_documents(2)
    assert np.isnan(vectors.freeze().cosines(unit_rows(1, 16)[0])).all()
    rows = unit_rows(1, 16)
    vectors.put(places(1), stored(rows))
    cosines = vectors.freeze().cosines(rows[0])
    assert np.isnan(cosines[0])
    assert cosines[1] == pytest.approx(1.0, abs=1e-6)


def test_a_snapshot_keeps_a_vector_that_is_replaced_or_removed():
    rows = unit_rows(3, 64)
    vectors = filled(rows[:2])
    before = vectors.freeze()
    vectors.put(places(0), stored(rows[2:]))
    vectors.remove(places(1))
    after = vectors.freeze()
    assert before.cosines(rows[0])[0] == pytest.approx(1.0, abs=1e-3)
    assert before.cosines(rows[1])[1] == pytest.approx(1.0, abs=1e-3)
    assert after.cosines(rows[2])[0] == pytest.approx(1.0, abs=1e-3)
    assert np.isnan(after.cosines(rows[1])[1])
    assert vectors.garbage == 2


def test_the_same_vector_again_takes_no_room():
    rows = unit_rows(3, 64)
    vectors = filled(rows)
    before = vectors.freeze()
    vectors.put(places(2, 0), stored(rows[[2, 0]]))
    assert len(vectors.freeze().rows) == len(before.rows) == 3
    assert vectors.garbage == 0


@pytest.mark.parametrize("blob", [b"", b"\0" * 30, b"\0" * 31, b"\0" * 64])
def test_a_vector_of_another_dimension_is_damage(blob):
    vectors = filled(unit_rows(1, 16))
    vectors.add_documents(1)
    with pytest.raises(DamageFoundError) as caught:
        vectors.put(places(1), [blob])
    assert caught.value.field == "vector"


def test_a_query_of_another_dimension_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        filled(unit_rows(1, 16)).freeze().cosines(unit_rows(1, 8)[0])
    assert caught.value.limit == 16


def test_quantised_rows_use_the_whole_range():
    rows = quantise(unit_rows(100, 384))
    assert (np.abs(rows).max(axis=1) == 127).all()
    exact = np.linalg.norm(rows.astype(np.float64), axis=1)
    assert lengths_of(rows) == pytest.approx(exact, rel=1e-12)
    assert lengths_of(rows[:0]).shape == (0,)
