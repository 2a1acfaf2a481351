"""Snapshots stand while what they were taken of grows."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from remembrancer.ids import new_id
from remembrancer.index.growing import Column, Names, PlaceTable, keys_of, only_uuids, uuids_of


def test_a_snapshot_sees_neither_appends_nor_changes():
    column = Column(np.int64)
    column.append(np.arange(5))
    before = column.freeze()
    column.append(np.arange(5, 2000))
    column.put(np.array([0]), 99)
    after = column.freeze()
    assert before.tolist() == [0, 1, 2, 3, 4]
    assert after[:6].tolist() == [99, 1, 2, 3, 4, 5]
    assert len(after) == 2000


def test_a_snapshot_is_read_only():
    column = Column(np.int64)
    column.append(np.arange(5))
    with pytest.raises(ValueError, match="read-only"):
        column.freeze()[0] = 1


def test_an_append_shares_the_buffer_and_a_change_copies_it_once():
    column = Column(np.int64)
    column.reserve(100)
    column.append(np.arange(5))
    column.reserve(10)
    first = column.freeze()
    column.append(np.arange(5))
    second = column.freeze()
    assert np.shares_memory(first, second)
    column.put(np.array([1]), 7)
    changed = column.values
    column.put(np.array([2]), 8)
    assert not np.shares_memory(second, changed)
    assert np.shares_memory(changed, column.values)


def test_names_keep_their_ordinals():
    names: Names[str] = Names()
    assert names.ordinals(["a", "", "b", None, "a"]).tolist() == [0, -1, 1, -1, 0]
    first = names.freeze()
    assert names.ordinals(["c", "b"]).tolist() == [2, 1]
    assert (first, names.freeze()) == (("a", "b"), ("a", "b", "c"))


@pytest.mark.parametrize("batch", [1, 37, 5000])
def test_places_are_found_however_they_came(batch):
    ids = [new_id() for _ in range(5000)]
    table = PlaceTable()
    for start in range(0, len(ids), batch):
        part = ids[start : start + batch]
        table.put(keys_of(part), np.arange(start, start + len(part), dtype=np.int32))
    assert table.find(keys_of(ids)).tolist() == list(range(5000))
    assert table.find(keys_of([new_id(), ids[7]])).tolist() == [-1, 7]
    table.put(keys_of([ids[7], ids[4999]]), np.array([70, -1], dtype=np.int32))
    assert table.find(keys_of([ids[7], ids[4999], ids[8]])).tolist() == [70, -1, 8]


def test_ids_that_end_in_zero_bytes_are_whole():
    ids = [UUID(int=0), UUID(int=1 << 64), UUID(int=1 << 120)]
    table = PlaceTable()
    table.put(keys_of(ids), np.arange(3, dtype=np.int32))
    assert table.find(keys_of(ids)).tolist() == [0, 1, 2]
    assert uuids_of(keys_of(ids)) == ids


def test_raw_ids_and_uuids_are_the_same():
    ids = [new_id(), new_id()]
    assert keys_of(ids).tolist() == keys_of([each.bytes for each in ids]).tolist()
    assert only_uuids([ids[0].bytes, None, ids[1]]) == [ids[0], None, ids[1]]
