"""BM25 over sparse columns, with one person's own statistics. Pure.

score(d) = Σ_t q_t · idf(t) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(t)   = ln(1 + (N − n_t + 0.5) / (n_t + 0.5))

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with k1 =
1.2 and b = 0.75, its usual values; the 1 + inside the logarithm, which keeps an idf positive, is
Lucene's. f is the term's count in d, q_t in the query. N, n_t and |d| are counted over live
documents only, as integers: the order in which documents came changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from remembrancer.index.growing import Array, Column, Places
from remembrancer.text.analyse import unpack_terms

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float32]
Terms: TypeAlias = NDArray[np.uint32]
Counts: TypeAlias = NDArray[np.uint8]

K1: Final = 1.2
B: Final = 0.75
_TAIL: Final = 32_768
"""Postings that may wait outside the sorted columns; a sixteenth of these when that is more."""
_SHARE: Final = 16
_POSITION: Final = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Lexical:
    """What a query finds among n documents."""

    scores: Floats
    """(n,): BM25, ≥ 0; 0 for a dead document."""
    coverage: Floats
    """(n,): the share, 0…1, of the query's distinct terms found, each weighed by its idf."""
    known: float
    """The same share of what any live document holds. A term nobody said has the largest idf."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Which documents hold a term, and how often. Sorted: `terms` are distinct and ascending, and
    `starts` (one more than they are) bounds each one's stretch. Else `terms` go with the documents.
    """

    terms: Terms
    starts: Places
    documents: Places
    counts: Counts

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.documents.nbytes + self.counts.nbytes


def sort_postings(terms: Terms, documents: Places, counts: Counts) -> Postings:
    """The three parallel arrays as columns by term."""
    position = np.arange(len(terms), dtype=np.uint64)
    order = np.sort((terms.astype(np.uint64) << _POSITION) | position)
    ascending = (order >> _POSITION).astype(np.uint32)
    order &= np.uint64(0xFFFF_FFFF)
    first = np.ones(len(terms), dtype=np.bool_)
    first[1:] = ascending[1:] != ascending[:-1]
    starts = np.append(np.flatnonzero(first), len(terms)).astype(np.int32)
    return Postings(ascending[first], starts, documents[order], counts[order])


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A snapshot of the terms of n documents."""

    base: Postings
    tail_terms: Terms
    tail_documents: Places
    tail_counts: Counts
    lengths: Places
    """(n,): the sum of a document's counts."""
    live: Bools
    has_dead: bool
    """Some postings are of dead documents."""
    live_count: int
    total_length: int

    def score(self, query: Mapping[int, int]) -> Lexical:
        """Score every document. `query` is `text.analyse.term_counts` of what is asked."""
        mean = self.total_length / self.live_count if self.total_length else 1.0
        found, weights, shares = [], [], []
        whole = known = 0.0
        for term in sorted(query):
            documents, counts = self._holding(term)
            rarity = (self.live_count - len(documents) + 0.5) / (len(documents) + 0.5)
            idf = math.log1p(rarity)
            whole += idf
            if not len(documents):
                continue
            known += idf
            norm = self.lengths.take(documents) * (K1 * B / mean) + K1 * (1.0 - B)
            found.append(documents)
            weights.append(query[term] * idf * (K1 + 1.0) * counts / (counts + norm))
            shares.append(np.full(len(documents), idf))
        scores = self._sums(found, weights)
        whole = whole or 1.0
        coverage = self._sums(found, shares) / whole
        return Lexical(scores.astype(np.float32), coverage.astype(np.float32), known / whole)

    def _sums(self, found: Sequence[Array], values: Sequence[Array]) -> NDArray[np.float64]:
        """(n,): the sum of each document's values, added in the order of the lists."""
        if not found:
            return np.zeros(len(self.live))
        every = np.concatenate(found)
        sums = np.bincount(every, weights=np.concatenate(values), minlength=len(self.live))
        return sums.astype(np.float64, copy=False)

    def _holding(self, term: int) -> tuple[NDArray[np.intp], Counts]:
        """The live documents with that term, each once, and its counts in them."""
        at = int(np.searchsorted(self.base.terms, np.uint32(term)))
        start = stop = 0
        if at < len(self.base.terms) and self.base.terms[at] == term:
            start, stop = int(self.base.starts[at]), int(self.base.starts[at + 1])
        documents = self.base.documents[start:stop].astype(np.intp)
        counts = self.base.counts[start:stop]
        recent = np.flatnonzero(self.tail_terms == np.uint32(term))
        if len(recent):
            documents = np.concatenate([documents, self.tail_documents[recent]])
            counts = np.concatenate([counts, self.tail_counts[recent]])
        if self.has_dead:
            alive = self.live.take(documents)
            documents, counts = documents[alive], counts[alive]
        return documents, counts


class LexiconBuilder:
    """The growing side: documents are added and die; their terms never change."""

    __slots__ = ("_base", "_has_dead", "_lengths", "_live", "_live_count", "_tail", "_total")

    def __init__(self) -> None:
        self._base = sort_postings(*_nothing())
        self._tail = _empty_tail()
        self._lengths = Column(np.int32)
        self._live = Column(np.bool_)
        self._has_dead = False
        self._live_count = 0
        self._total = 0

    def __len__(self) -> int:
        return len(self._live)

    @property
    def live(self) -> Bools:
        """(n,), for reading."""
        return self._live.values

    @property
    def nbytes(self) -> int:
        tail = sum(column.nbytes for column in self._tail)
        return self._base.nbytes + tail + self._lengths.nbytes + self._live.nbytes

    def add(self, blobs: Sequence[bytes]) -> Places:
        """Documents at the end, by their packed terms; one with none is dead from the start.

        Their places, int32 (len(blobs),). Raises `DamageFoundError` for what is no packed list.
        """
        first = len(self._live)
        places = np.arange(first, first + len(blobs), dtype=np.int32)
        sizes, terms, counts = _unpack(blobs)
        ends = np.cumsum(sizes)
        sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        lengths = sums[ends] - sums[ends - sizes]
        self._lengths.append(lengths)
        self._live.append(sizes > 0)
        self._live_count += int((sizes > 0).sum())
        self._total += int(lengths.sum())
        self._tail[0].append(terms)
        self._tail[1].append(np.repeat(places, sizes))
        self._tail[2].append(counts)
        if len(self._tail[0]) > max(_TAIL, len(self._base.documents) // _SHARE):
            self._merge()
        return places

    def remove(self, documents: Places) -> None:
        """These are dead from now on: they neither score nor count."""
        dying = documents[self._live.values[documents]]
        if len(dying):
            self._has_dead = True
            self._live_count -= len(dying)
            self._total -= int(self._lengths.values[dying].sum(dtype=np.int64))
            self._live.put(dying, False)

    def freeze(self) -> Lexicon:
        """A snapshot that no later call changes."""
        terms, documents, counts = (column.freeze() for column in self._tail)
        return Lexicon(
            self._base,
            terms,
            documents,
            counts,
            self._lengths.freeze(),
            self._live.freeze(),
            self._has_dead,
            self._live_count,
            self._total,
        )

    def _merge(self) -> None:
        """Sort the tail into the base, and leave out what is dead."""
        terms = np.repeat(self._base.terms, np.diff(self._base.starts))
        joined = (
            np.concatenate([terms, self._tail[0].values]),
            np.concatenate([self._base.documents, self._tail[1].values]),
            np.concatenate([self._base.counts, self._tail[2].values]),
        )
        alive = self._live.values[joined[1]]
        self._base = sort_postings(*(each[alive] for each in joined))
        self._tail = _empty_tail()
        self._has_dead = False


def _nothing() -> tuple[Terms, Places, Counts]:
    return np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8)


def _empty_tail() -> tuple[Column, Column, Column]:
    return Column(np.uint32), Column(np.int32), Column(np.uint8)


def _unpack(blobs: Sequence[bytes]) -> tuple[Array, Terms, Counts]:
    """`unpack_terms` of many at once: how many terms each has, all terms, all counts."""
    sizes, rests = np.divmod(np.fromiter(map(len, blobs), np.int64, len(blobs)), 5)
    if rests.any():
        unpack_terms(blobs[int(np.flatnonzero(rests)[0])])
    cuts = (4 * sizes).tolist()
    terms = b"".join([blob[:cut] for blob, cut in zip(blobs, cuts, strict=True)])
    counts = b"".join([blob[cut:] for blob, cut in zip(blobs, cuts, strict=True)])
    return sizes, np.frombuffer(terms, dtype="<u4"), np.frombuffer(counts, dtype=np.uint8)
