"""Loading, waiting, leaving: the personal indexes as a cache."""

from __future__ import annotations

import threading
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import update

from remembrancer.db.tables import OWNER
from remembrancer.errors import DamageFoundError
from remembrancer.events.tables import head
from remembrancer.ids import new_id
from remembrancer.index import builder as builder_module
from remembrancer.index import repository
from remembrancer.index.changes import Changes, TextRow
from remembrancer.index.indexes import PersonalIndexes, Source
from remembrancer.index.repository import VectorRow
from remembrancer.memory.tables import texts, versions
from remembrancer.text.analyse import pack_terms
from tests.support import sources
from tests.support.people import newcomer
from tests.support.sources import MEMORY, SOURCES
from tests.unit.index.asking import lexical, remember, terms


def test_waiting_callers_share_one_load(person):
    remember(person, "green tea")
    started, go_on, loads = threading.Event(), threading.Event(), []

    def slow(unit, after):
        loads.append(after)
        started.set()
        assert go_on.wait(10)
        return MEMORY.changes(unit, after)

    indexes = PersonalIndexes([Source(slow)], budget_bytes=1 << 30)
    views = []
    waiting = [
        threading.Thread(target=lambda: views.append(person.view(of=indexes))) for _ in "1234"
    ]
    for thread in waiting:
        thread.start()
    assert started.wait(10)
    go_on.set()
    for thread in waiting:
        thread.join(10)
    assert len(loads) == 1
    assert len(views) == 4
    assert len({id(view) for view in views}) == 1


def test_a_load_that_fails_is_made_anew(person):
    remember(person, "green tea")
    failing = [True]

    def changes(unit, after):
        if failing[0]:
            return Changes(texts=[TextRow(new_id(), b"bad")])
        return MEMORY.changes(unit, after)

    indexes = PersonalIndexes([Source(changes)], budget_bytes=1 << 30)
    with pytest.raises(DamageFoundError):
        person.view(of=indexes)
    failing[0] = False
    assert len(lexical(person.view(of=indexes), "tea")) == 1
    failing[0] = True
    remember(person, "black tea")
    with pytest.raises(DamageFoundError):
        person.view(of=indexes)
    failing[0] = False
    assert len(lexical(person.view(of=indexes), "tea")) == 2


def test_a_write_unit_has_no_view(person):
    with pytest.raises(RuntimeError):
        person.write(lambda unit: person.indexes.view(unit, 1))
    assert person.view().size == 0


def test_what_nobody_asks_for_leaves_after_a_minute(person, database):
    clock = [0.0]
    indexes = PersonalIndexes(SOURCES, budget_bytes=1 << 30, monotonic=lambda: clock[0])
    person.view(of=indexes)
    other = newcomer(database)
    clock[0] = 59.0
    database.read_now(other, lambda unit: indexes.view(unit, 1))
    assert indexes.stats().entries == 2
    clock[0] = 61.0
    database.read_now(other, lambda unit: indexes.view(unit, 1))
    assert (indexes.stats().entries, indexes.stats().evictions) == (1, 1)


def test_the_least_recently_used_leave_when_the_budget_is_spent(person, database):
    scopes = [newcomer(database) for _ in range(3)]
    for scope in scopes:
        rows = [TextRow(new_id(), terms(f"tea {number}")) for number in range(200)]
        database.write_now(scope, lambda unit, rows=rows: sources.add_texts(unit, rows))
    indexes = PersonalIndexes(SOURCES, budget_bytes=1 << 30)

    def ask(scope):
        return database.read_now(scope, lambda unit: indexes.view(unit, 1))

    size = ask(scopes[0]).nbytes
    assert indexes.stats().nbytes == size
    indexes = PersonalIndexes(SOURCES, budget_bytes=int(2.5 * size))
    first, second = ask(scopes[0]), ask(scopes[1])
    assert ask(scopes[0]) is first
    ask(scopes[2])
    assert indexes.stats().entries == 2
    assert ask(scopes[0]) is first
    assert ask(scopes[1]) is not second
    tight = PersonalIndexes(SOURCES, budget_bytes=1)
    view = person.view(of=tight)
    assert person.view(of=tight) is view


def test_dropped_is_loaded_anew(person):
    remember(person, "green tea")
    first = person.view()
    person.view(None)
    person.indexes.drop(new_id())
    assert person.view() is first
    person.indexes.drop(person.scope.user_id)
    assert person.indexes.stats().entries == 0
    again = person.view()
    assert again is not first
    assert lexical(again, "tea") == lexical(first, "tea") != {}


def test_a_log_that_was_set_back_is_read_anew(person, database):
    tea = remember(person, "green tea")
    first = person.view()
    remember(person, "black tea")

    def at(seconds, work):
        def later(unit):
            unit.now += seconds * 1_000_000
            return work(unit)

        return database.read_now(person.scope, later)

    newer = person.view()
    person.write(sources.remove, versions, newer.versions.ids[1])
    person.write(_set_back, first.seq)
    assert at(0, lambda unit: person.indexes.view(unit, 1)) is newer
    restored = at(60, lambda unit: person.indexes.view(unit, 1))
    assert restored.seq == first.seq
    assert set(lexical(restored, "tea")) == {tea.version_id}


def _set_back(unit, seq):
    unit.run(update(head).where(head.c.user_id == OWNER).values(index_seq=seq))


def test_an_index_full_of_garbage_is_loaded_anew(person, monkeypatch):
    monkeypatch.setattr(builder_module, "_WORTH_RELOADING", 3)
    tea = remember(person, "green tea")
    for number in range(12):
        person.write(sources.change, texts, tea.text_id, terms=terms(f"tea {number}"))
        assert person.view().size < 12
        assert len(lexical(person.view(), "tea")) == 1
    assert person.indexes.stats().loads > 1


def test_forgotten_texts_are_not_garbage(person, monkeypatch):
    monkeypatch.setattr(builder_module, "_WORTH_RELOADING", 3)
    person.write(sources.add_texts, [TextRow(new_id(), b"") for _ in range(20)])
    person.view()
    for number in range(5):
        remember(person, f"tea {number}")
        person.view()
    assert person.indexes.stats().loads == 1


def test_ten_thousand_take_less_than_eight_megabytes(person):
    def fill(unit):
        chance = np.random.default_rng(0)
        ids = [UUID(int=number + 1) for number in range(2000)]
        drawn = chance.zipf(1.2, (2000, 15)) % 60_000
        rows = [pack_terms(dict.fromkeys(row.tolist(), 1)) for row in drawn]
        sources.add_texts(unit, map(TextRow, ids, rows))
        sources.add_versions(unit, [sources.version(each, new_id(), new_id()) for each in ids])
        blob = np.ones(384, dtype="<f2").tobytes()
        rows = [VectorRow(each, b"", blob) for each in ids]
        repository.put_vectors(unit, 1, rows, sources.touch(unit))

    person.write(fill)
    assert person.view().nbytes * 5 < 8_000_000
