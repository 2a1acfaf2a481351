"""Vectors in and out of the store."""

from __future__ import annotations

from remembrancer.ids import new_id
from remembrancer.index import repository
from remembrancer.index.growing import keys_of, uuids_of
from remembrancer.index.repository import VectorRow


def changed(person, space, after):
    def work(unit):
        found = {}
        for ids, blobs in repository.changed_vectors(unit, space, after):
            found |= zip(uuids_of(keys_of(ids)), blobs, strict=True)
        return found

    return person.read(work)


def put(person, space, seq, **vectors):
    rows = [VectorRow(each, b"from", blob) for each, blob in vectors.values()]
    person.write(repository.put_vectors, space, rows, seq)


def test_a_vector_is_written_read_and_replaced(person):
    one, two = new_id(), new_id()
    put(person, 1, 1, a=(one, b"aa"), b=(two, b"bb"))
    put(person, 1, 2, a=(one, b"AA"))
    assert changed(person, 1, 0) == {one: b"AA", two: b"bb"}
    assert changed(person, 1, 1) == {one: b"AA"}
    assert changed(person, 1, 2) == {}
    rows = person.read(repository.vectors_of, 1, [one, new_id()])
    assert rows == [VectorRow(one, b"from", b"AA")]


def test_embedding_spaces_are_apart_until_a_document_is_dropped(person):
    one, two = new_id(), new_id()
    for space in (1, 5):
        put(person, space, 1, a=(one, b"a%d" % space), b=(two, b"b%d" % space))
    assert changed(person, 5, 0) == {one: b"a5", two: b"b5"}
    assert person.read(repository.spaces) == [1, 5]
    person.write(repository.drop_vectors, [one])
    assert changed(person, 1, 0) == {two: b"b1"}
    assert changed(person, 5, 0) == {two: b"b5"}
    assert person.read(repository.count, 5) == 1


def test_missing_names_what_has_no_vector_in_order(person):
    ids = [new_id() for _ in range(1203)]
    rows = [VectorRow(each, b"", b"vv") for each in ids[::2]]
    person.write(repository.put_vectors, 1, rows, 1)
    assert person.read(repository.missing, 1, ids) == ids[1::2]
    assert person.read(repository.missing, 2, ids[:3]) == ids[:3]
    assert person.read(repository.missing, 1, []) == []
    assert len(person.read(repository.vectors_of, 1, ids)) == 602


def test_nothing_to_write_is_nothing(person):
    person.write(repository.put_vectors, 1, [], 1)
    person.write(repository.drop_vectors, [new_id()])
    assert person.read(repository.spaces) == []
