"""BM25 over live documents, against a plain reading of the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from remembrancer.errors import DamageFoundError
from remembrancer.index import lexical
from remembrancer.index.lexical import LexiconBuilder
from remembrancer.text.analyse import pack_terms, term_counts


def naive(documents, query, k1=1.2, b=0.75):
    """Scores and coverage of dictionaries; None is a dead document."""
    live = [each for each in documents if each]
    mean = sum(sum(each.values()) for each in live) / len(live)
    holding = {t: sum(t in each for each in live) for t in query}
    idf = {t: math.log(1 + (len(live) - n + 0.5) / (n + 0.5)) for t, n in holding.items()}
    scores, coverage = [], []
    for each in documents:
        found = [t for t in query if each and t in each]
        length = sum(each.values()) if each else 0
        norm = k1 * (1 - b + b * length / mean)
        scores.append(sum(query[t] * idf[t] * each[t] * (k1 + 1) / (each[t] + norm) for t in found))
        coverage.append(sum(idf[t] for t in found) / sum(idf.values()))
    return scores, coverage


def documents_of(count, seed=0):
    chance = np.random.default_rng(seed)
    return [
        {
            int(t): int(chance.integers(1, 5))
            for t in chance.zipf(1.3, chance.integers(1, 20)) % 2**32
        }
        for _ in range(count)
    ]


QUERIES = ({1: 1, 2: 2, 3: 1, 77: 1}, {1: 1}, {4: 1, 2**32 - 1: 1}, {2**31 + 5: 3})


def built(documents, batch=10_000):
    builder = LexiconBuilder()
    for start in range(0, len(documents), batch):
        builder.add([pack_terms(each) for each in documents[start : start + batch]])
    return builder


@pytest.mark.parametrize("tail", [0, 64, 10**6])
def test_scores_and_coverage_are_the_formulas(monkeypatch, tail):
    monkeypatch.setattr(lexical, "_TAIL", tail)
    documents = documents_of(400)
    builder = built(documents, batch=23)
    dead = [0, 5, 399]
    builder.remove(np.array(dead, dtype=np.int32))
    expected = [None if place in dead else each for place, each in enumerate(documents)]
    found = builder.freeze()
    for query in QUERIES:
        result = found.score(query)
        scores, coverage = naive(expected, query)
        assert result.scores == pytest.approx(scores, rel=1e-6)
        assert result.coverage == pytest.approx(coverage, rel=1e-6)
        assert result.scores.dtype == result.coverage.dtype == np.float32


def test_R7_scores_do_not_depend_on_the_order_of_arrival(monkeypatch):
    documents = documents_of(600)
    order = np.random.default_rng(4).permutation(600)
    straight = built(documents).freeze()
    monkeypatch.setattr(lexical, "_TAIL", 100)
    shuffled = built([documents[place] for place in order], batch=7).freeze()
    for query in QUERIES:
        one, other = straight.score(query), shuffled.score(query)
        assert (one.scores[order] == other.scores).all()
        assert (one.coverage[order] == other.coverage).all()


def test_a_dead_document_neither_scores_nor_counts():
    documents = documents_of(50)
    builder = built([*documents, {1: 200}])
    builder.remove(np.array([50, 50], dtype=np.int32)[:1])
    builder.remove(np.array([50], dtype=np.int32))
    without = built(documents).freeze().score({1: 1})
    result = builder.freeze().score({1: 1})
    assert result.scores[50] == 0
    assert (result.scores[:50] == without.scores).all()
    assert result.scores.max() > 0


def test_dead_documents_leave_the_columns_when_the_tail_is_merged(monkeypatch):
    monkeypatch.setattr(lexical, "_TAIL", 10)
    builder = built(documents_of(50))
    builder.remove(np.arange(50, dtype=np.int32))
    builder.add([pack_terms(dict.fromkeys(range(1, 41), 1))])
    assert len(builder.freeze().base.documents) == 40


def test_coverage_is_the_weighed_share_of_the_query():
    builder = built([term_counts(t) for t in ("red apples", "green apples", "blue sky", "sea")])
    result = builder.freeze().score(term_counts("green apples"))
    assert result.coverage[1] == 1.0
    assert 0 < result.coverage[0] < result.coverage[1]
    assert result.coverage[2] == 0


def test_a_term_nobody_has_lowers_the_coverage():
    builder = built([{1: 1}, {2: 1}])
    assert builder.freeze().score({1: 1}).coverage[0] == 1.0
    assert builder.freeze().score({1: 1, 9: 1}).coverage[0] < 0.5


def test_nothing_asked_or_nothing_there_scores_nothing():
    empty = LexiconBuilder().freeze().score({1: 1})
    assert len(empty.scores) == len(empty.coverage) == 0
    nothing = built([{1: 1}]).freeze().score({})
    assert (nothing.scores.tolist(), nothing.coverage.tolist()) == ([0.0], [0.0])


def test_a_document_without_terms_is_dead_from_the_start():
    builder = LexiconBuilder()
    assert builder.add([b"", pack_terms({1: 1})]).tolist() == [0, 1]
    assert builder.live.tolist() == [False, True]
    assert builder.freeze().live_count == 1


def test_a_snapshot_keeps_its_statistics():
    builder = built(documents_of(30))
    before = builder.freeze()
    expected = before.score({1: 1, 2: 1})
    builder.add([pack_terms({1: 5})] * 40)
    builder.remove(np.arange(20, dtype=np.int32))
    again = before.score({1: 1, 2: 1})
    assert (again.scores == expected.scores).all()
    assert len(builder.freeze().score({1: 1}).scores) == 70


def test_what_is_no_packed_list_is_damage():
    with pytest.raises(DamageFoundError):
        LexiconBuilder().add([pack_terms({1: 1}), b"1234"])
