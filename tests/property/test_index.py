"""Laws of the personal index: what it answers depends on what it holds, not on how it came."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.clock import MAX, MIN
from remembrancer.index.builder import ViewBuilder
from remembrancer.index.changes import Changes, MessageRow, TextRow, VersionRow
from remembrancer.text.analyse import pack_terms

IDS = [UUID(int=number) for number in range(1, 9)]
CHATS = [UUID(int=100), UUID(int=101)]
TERMS = st.dictionaries(st.integers(1, 6), st.integers(1, 4), max_size=4).map(pack_terms)
STEP = st.tuples(
    st.sampled_from(IDS),
    TERMS,
    st.one_of(st.none(), st.integers(0, 20)),
    st.integers(2, 9),
)
STEPS = st.lists(st.lists(STEP, max_size=5, unique_by=lambda step: step[0]), max_size=6)


def rows_of(id_, terms, end):
    """The lower half of the ids are texts with a version each, the others messages."""
    if id_ in IDS[:4]:
        one = VersionRow(id_, id_, id_, "user", "", None, "active", MIN, MAX, 1, end)
        return Changes(texts=[TextRow(id_, terms)], versions=[one])
    chat = CHATS[id_ == IDS[4]]
    return Changes(messages=[MessageRow(id_, chat, 0, end, None, "user", "A", end, end > 5, terms)])


def vector_of(seed):
    return np.random.default_rng(seed).normal(size=16).astype("<f2").tobytes()


def take(builder, id_, terms, seed, end):
    applied = builder.apply(rows_of(id_, terms, end))
    found = {} if seed is None else {id_: vector_of(seed)}
    builder.put_vectors(list(found), list(found.values()))
    builder.renew_vectors(applied.touched, found)
    return applied.rows


def answers(view):
    """Everything there is to see, by id."""
    query = np.random.default_rng(99).normal(size=16).astype(np.float32)
    cosines = view.dense(query)
    found = view.lexical({1: 1, 2: 2, 6: 1})
    seen = {}
    for table in (view.versions, view.messages):
        ends = table.recorded_to if table is view.versions else table.said_at
        for place, document in enumerate(table.document):
            live = bool(view.live_documents[document])
            scores = (found.scores[document], found.coverage[document], cosines[document])
            seen[table.ids[place]] = (live, int(ends[place]), *map(repr, map(float, scores)))
    return seen


@settings(max_examples=40)
@given(STEPS)
def test_E3_growing_is_the_same_as_loading_the_outcome(steps):
    grown, outcome, known = ViewBuilder(), {}, 0
    views = []
    for step in steps:
        for id_, terms, seed, end in step:
            known += take(grown, id_, terms, seed, end)
            outcome[id_] = (terms, seed, end)
        view = grown.freeze(0)
        views.append((view, answers(view)))
    fresh = ViewBuilder()
    loaded = sum(take(fresh, id_, *outcome[id_]) for id_ in sorted(outcome, reverse=True))
    assert answers(grown.freeze(0)) == answers(fresh.freeze(0))
    assert known == loaded
    assert all(answers(view) == then for view, then in views)


@settings(max_examples=40)
@given(STEPS)
def test_applying_again_changes_nothing(steps):
    builder = ViewBuilder()
    for step in steps:
        for each in step:
            take(builder, *each)
        before = builder.freeze(0)
        assert sum(take(builder, *each) for each in step) == 0
        after = builder.freeze(0)
        assert answers(after) == answers(before)
        assert after.size == before.size
