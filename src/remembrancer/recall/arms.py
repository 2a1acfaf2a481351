"""The retrievers, over one person's view: path, lexical, vector, and past conversations. Pure.

Every living document gets every score, exactly; an arm's top 50 is for the record. The first three
arms rank memories, the fourth messages, by their fused score averaged with what was said around
them. Nothing is masked here: what may be given is `masking`'s, but of a text with several versions
the path of the one that would be given counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer.embeddings.base import Vectors
from remembrancer.index.view import MessageTable, VersionTable, View
from remembrancer.recall.floor import Judgement, Signals, judge
from remembrancer.recall.fusion import Floats, Ints, dense_mean, dense_z, fuse, smooth_messages
from remembrancer.recall.masking import Masks, keys
from remembrancer.recall.models import Arm
from remembrancer.recall.priors import SpaceNumbers
from remembrancer.recall.query import Query
from remembrancer.text.analyse import word_forms
from remembrancer.text.paths import named_share, naming_terms

TOP: Final = 50
"""How many of each arm the trace keeps (decisions: "Recall")."""


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """An arm's best documents, best first, with the arm's own scores."""

    documents: Ints
    scores: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What the arms found. All arrays are (n,), by document; dead ones score -inf."""

    fused: Floats
    judged: Judgement
    """Relevance by document; 0 where dead."""
    cosine: Floats | None
    """NaN where there is no vector; None when the query has none."""
    path: Floats
    tops: Mapping[Arm, Top]
    pending: int
    """How many living documents have no vector yet."""
    speakers: frozenset[int]
    """Ordinals of the speakers whom the question names."""


@dataclass(frozen=True, slots=True, eq=False)
class _Lexical:
    bm25: Floats
    coverage: Floats
    known: float


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    overlap: Floats
    """The share of a document's path that the question names."""
    share: Floats
    """The share of the question that names it, times the overlap."""


def score(
    view: View, query: Query, vector: Vectors | None, numbers: SpaceNumbers, masks: Masks
) -> Scores:
    """Every document's scores. `vector` (d,) is the query's, or None: lexical alone."""
    live = np.flatnonzero(view.live_documents)
    lexical = _lexical(view, query)
    paths = _paths(view, query, masks)
    cosine = None if vector is None else view.dense(vector).astype(np.float64)
    missing = view.pending if cosine is None else view.pending | np.isnan(cosine)
    dense, pending = None if cosine is None else cosine[live], missing[live]
    fused = np.full(view.size, -np.inf)
    fused[live] = fuse(dense, lexical.bm25[live], paths.overlap[live], pending, numbers.priors)
    speakers = _named_speakers(view.speakers, query)
    _smooth(fused, view, speakers)
    signals = Signals(
        coverage=np.maximum(lexical.coverage, paths.share)[live],
        known=max(lexical.known, float(paths.share.max(initial=0.0))),
        query=None if vector is None else vector.astype(np.float64),
        cosine=dense,
        z=None if dense is None else dense_z(dense, pending, numbers.priors),
        pending=pending,
        mean_cosine=None if dense is None else dense_mean(dense, pending, numbers.priors),
    )
    judged = judge(signals, numbers.calibration)
    return Scores(
        fused=fused,
        judged=_spread(judged, live, view.size),
        cosine=cosine,
        path=paths.overlap,
        tops=_tops(view, bm25=lexical.bm25, cosine=cosine, path=paths.overlap, fused=fused),
        pending=int(pending.sum()),
        speakers=frozenset(speakers),
    )


def _lexical(view: View, query: Query) -> _Lexical:
    """BM25 with the turns' decayed weights; coverage of the newest turn alone."""
    bm25 = np.zeros(view.size)
    coverage, known = np.zeros(view.size), 0.0
    for back, turn in enumerate(query.terms):
        if not turn.counts:
            continue
        found = view.lexical(turn.counts)
        bm25 += turn.weight * found.scores.astype(np.float64)
        if not back:
            coverage = found.coverage.astype(np.float64)
            known = found.known
    return _Lexical(bm25, coverage, known)


def _paths(view: View, query: Query, masks: Masks) -> _Paths:
    """By document: of the versions that may be given, or of all of a document that may not."""
    overlap, share = path_scores(view.path_terms, query.text)
    found = _Paths(np.zeros(view.size), np.zeros(view.size))
    if not overlap.any():
        return found
    table = view.versions
    rows = np.flatnonzero((table.path >= 0) & (overlap[table.path] > 0.0))
    counted = (masks.versions[rows] == 0) | (masks.version_of[table.document[rows]] < 0)
    rows = rows[counted]
    np.maximum.at(found.overlap, table.document[rows], overlap[table.path[rows]])
    np.maximum.at(found.share, table.document[rows], share[table.path[rows]])
    return found


def path_scores(paths: Sequence[frozenset[str]], text: str) -> tuple[Floats, Floats]:
    """For each path, by its `path_terms`, the share of its segments that the text names, and that
    times the share of the text's words which do so: "work" is named by "does it work with this
    code?", but barely.
    """
    overlap, share = np.zeros(len(paths)), np.zeros(len(paths))
    groups = word_forms(text)
    named = naming_terms(text)
    for place, terms in enumerate(paths):
        overlap[place] = named_share(terms, named)
        if overlap[place]:
            naming = sum(not terms.isdisjoint(forms) for forms in groups)
            share[place] = overlap[place] * max(naming, 1) / max(len(groups), 1)
    return overlap, share


def _named_speakers(speakers: Sequence[str], query: Query) -> list[int]:
    """Who of them the question names: by any word of their name."""
    named = {form for forms in word_forms(query.text) for form in forms}
    return [
        ordinal
        for ordinal, name in enumerate(speakers)
        if any(not named.isdisjoint(forms) for forms in word_forms(name))
    ]


def _smooth(fused: Floats, view: View, speakers: Sequence[int]) -> None:
    """Average the living messages' fused scores with their surroundings, in place."""
    table = view.messages
    rows = np.flatnonzero(table.live & view.live_documents[table.document])
    documents = table.document[rows]
    fused[documents] = smooth_messages(
        fused[documents],
        table.session[rows].astype(np.int64),
        table.position[rows].astype(np.int64),
        np.isin(table.speaker[rows], np.asarray(speakers, dtype=np.int32)),
    )


def _spread(judged: Judgement, live: Ints, size: int) -> Judgement:
    """The judgement of the living documents, by document."""
    relevance = np.zeros(size)
    relevance[live] = judged.relevance
    return Judgement(relevance, judged.floor, judged.asks, judged.calibrated)


def _tops(
    view: View, *, bm25: Floats, cosine: Floats | None, path: Floats, fused: Floats
) -> dict[Arm, Top]:
    """Each arm's best 50. An arm that found nothing, or did not run, has none."""
    texts, messages = _members(view, view.versions), _members(view, view.messages)
    tops = {
        Arm.PATH: _top(view.versions, texts[path[texts] > 0], path),
        Arm.LEXICAL: _top(view.versions, texts[bm25[texts] > 0], bm25),
        Arm.CONVERSATION: _top(view.messages, messages, fused),
    }
    if cosine is not None:
        tops[Arm.VECTOR] = _top(view.versions, texts[~np.isnan(cosine[texts])], cosine)
    return tops


def _members(view: View, table: VersionTable | MessageTable) -> Ints:
    """The living documents of a table, each once."""
    found = np.zeros(view.size, dtype=np.bool_)
    found[table.document] = True
    return np.flatnonzero(found & view.live_documents)


def _top(table: VersionTable | MessageTable, documents: Ints, scores: Floats) -> Top:
    """The best 50 of these documents; of equal ones those with the lower id of a version."""
    values = scores[documents]
    if len(values) > TOP:
        least = np.partition(values, len(values) - TOP)[len(values) - TOP]
        standing = np.flatnonzero(values >= least)
        documents, values = documents[standing], values[standing]
    order = np.lexsort((_least_ids(table, documents, len(scores)), -values))[:TOP]
    return Top(documents[order], values[order])


def _least_ids(
    table: VersionTable | MessageTable, documents: Ints, size: int
) -> NDArray[np.bytes_]:
    """For each of the documents, all of them the table's and of n, its lowest id."""
    wanted = np.zeros(size, dtype=np.bool_)
    wanted[documents] = True
    rows = np.flatnonzero(wanted[table.document])
    ids = keys(table.ids.raw[rows])
    order = np.lexsort((ids, table.document[rows]))
    owners, firsts = np.unique(table.document[rows][order], return_index=True)
    return ids[order][firsts][np.searchsorted(owners, documents)]
