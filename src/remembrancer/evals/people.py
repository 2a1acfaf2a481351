"""The project's own people and their questions, read and scored as recall scores them.

Nobody here exists. Files (JSON lines, under `cases/`):

    people/ID.jsonl   first {kind: "person", id, name, languages, half}, then one document a line:
                      {kind: "memory", id, language, text} or
                      {kind: "message", id, language, chat, position, role, speaker, text}
    negative.jsonl    {id, person, language, kind, text, expects}; a question that must recall
                      nothing names in `pair` one that must recall its memory
    head.jsonl        {language, about, kind, text}: questions of nobody's in particular

`kind` of a question: relevant, greeting, smalltalk, code, general, other_people, or near_miss (it
asks about the person, and nothing was remembered). `half`: numbers are fitted on the `tune` half
of the people and reported on both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

import numpy as np

from remembrancer.embeddings.base import Embedder, Kind
from remembrancer.recall.floor import Signals
from remembrancer.recall.fusion import (
    Bools,
    Floats,
    Ints,
    Priors,
    dense_mean,
    dense_z,
    fuse,
    smooth_messages,
)
from remembrancer.text.analyse import terms

TOP: Final = 10
"""Candidates of a question that are looked at, besides the expected ones."""
K1: Final = 1.2
B: Final = 0.75
"""BM25's usual constants."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question put to one person's memory; `expects` are the ids of which one must be found."""

    id: str
    person: str
    language: str
    kind: str
    text: str
    expects: tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """Documents of one person, or of several taken for one, with what scoring needs of them."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    passages: tuple[str, ...]
    """What is embedded: a message with its speaker, and the message before it."""
    languages: tuple[str, ...]
    sessions: Ints
    """−1 for a memory."""
    positions: Ints

    @cached_property
    def postings(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for at, text in enumerate(self.texts):
            for term, count in Counter(terms(text)).items():
                found.setdefault(term, []).append((at, count))
        return found

    @cached_property
    def lengths(self) -> Floats:
        return np.array([len(terms(text)) for text in self.texts], dtype=np.float64)

    def lexical(self, query: str) -> tuple[Floats, Floats, float]:
        """BM25 (Robertson; idf as in Lucene), idf-weighted coverage, and the known share."""
        count = len(self.ids)
        bm25, coverage = np.zeros(count), np.zeros(count)
        mass = known = 0.0
        norm = K1 * (1.0 - B + B * self.lengths / max(float(self.lengths.mean()), 1.0))
        for term in sorted(set(terms(query))):
            hits = self.postings.get(term, [])
            idf = float(np.log1p((count - len(hits) + 0.5) / (len(hits) + 0.5)))
            mass += idf
            known += idf if hits else 0.0
            for at, frequency in hits:
                bm25[at] += idf * frequency * (K1 + 1.0) / (frequency + norm[at])
                coverage[at] += idf
        return bm25, coverage / max(mass, 1e-9), known / max(mass, 1e-9)

    @classmethod
    def joined(cls, parts: Sequence[Corpus]) -> Corpus:
        """All their documents as one person's; their chats stay apart."""
        sessions: list[Ints] = []
        first = 0
        for one in parts:
            sessions.append(np.where(one.sessions >= 0, one.sessions + first, -1))
            first += int(one.sessions.max(initial=-1)) + 1
        return cls(
            tuple(name for one in parts for name in one.ids),
            tuple(text for one in parts for text in one.texts),
            tuple(passage for one in parts for passage in one.passages),
            tuple(language for one in parts for language in one.languages),
            np.concatenate(sessions),
            np.concatenate([one.positions for one in parts]),
        )

    def part(self, chosen: Sequence[int]) -> Corpus:
        """The same with fewer documents."""
        at = list(chosen)
        return Corpus(
            tuple(self.ids[i] for i in at),
            tuple(self.texts[i] for i in at),
            tuple(self.passages[i] for i in at),
            tuple(self.languages[i] for i in at),
            self.sessions[at],
            self.positions[at],
        )


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    half: str
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class HeadLine:
    """A question of nobody's in particular, and whether it asks about the one who asks."""

    text: str
    about: bool
    kind: str


@dataclass(frozen=True)
class Asked:
    """One case scored over one corpus: n candidates of the arms' best, and what is true of them."""

    case: Case
    half: str
    order: Ints
    """The candidates' documents, best first."""
    cosine: Floats
    z: Floats
    coverage: Floats
    known: float
    mean_cosine: float | None
    truth: Bools
    crosses: str
    """`de→en` where all that is expected is in another language than the question; else empty."""

    def signals(self, vectors: Vectors) -> Signals:
        """What the floor looks at."""
        return Signals(
            coverage=self.coverage,
            known=self.known,
            query=vectors.of([self.case.text], Kind.QUERY)[0],
            cosine=self.cosine,
            z=self.z,
            mean_cosine=self.mean_cosine,
        )


def read_lines(name: str) -> list[dict[str, Any]]:
    """A JSONL file of the cases."""
    text = files("remembrancer.evals").joinpath("cases").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def load_people() -> list[Person]:
    """Every person of `cases/people`, by id."""
    folder = files("remembrancer.evals").joinpath("cases").joinpath("people")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".jsonl"))
    return [_person(read_lines(f"people/{name}")) for name in names]


def load_cases() -> list[Case]:
    """Every question of `cases/negative.jsonl`."""
    return [
        Case(q["id"], q["person"], q["language"], q["kind"], q["text"], tuple(q["expects"]))
        for q in read_lines("negative.jsonl")
    ]


def load_head() -> list[HeadLine]:
    """Every line of `cases/head.jsonl`."""
    return [
        HeadLine(line["text"], bool(line["about"]), line["kind"])
        for line in read_lines("head.jsonl")
    ]


def _person(rows: Sequence[Mapping[str, Any]]) -> Person:
    documents = rows[1:]
    chats = sorted({row["chat"] for row in documents if row["kind"] == "message"})
    passages: list[str] = []
    before: tuple[str, str] | None = None
    for row in documents:
        if row["kind"] == "memory":
            passages.append(row["text"])
            continue
        said = f"{row['speaker']}: {row['text']}"
        follows = before is not None and before[0] == row["chat"]
        passages.append(f"{before[1]}\n{said}" if before and follows else said)
        before = (row["chat"], said)
    corpus = Corpus(
        tuple(row["id"] for row in documents),
        tuple(row["text"] for row in documents),
        tuple(passages),
        tuple(row["language"] for row in documents),
        np.array([chats.index(row["chat"]) if "chat" in row else -1 for row in documents]),
        np.array([row.get("position", 0) for row in documents]),
    )
    return Person(rows[0]["id"], rows[0]["half"], corpus)


class Vectors:
    """Each text's vector, made once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[Kind, str], Floats] = {}

    def of(self, texts: Sequence[str], kind: Kind) -> Floats:
        missing = [t for t in dict.fromkeys(texts) if (kind, t) not in self._known]
        for start in range(0, len(missing), 32):
            batch = missing[start : start + 32]
            for text, vector in zip(batch, self._embedder.embed(batch, kind), strict=True):
                self._known[kind, text] = vector.astype(np.float64)
        return np.array([self._known[kind, text] for text in texts])


def ask(case: Case, half: str, corpus: Corpus, vectors: Vectors, priors: Priors) -> Asked:
    """Scores a case as recall does: fusion over everything, messages smoothed, best first."""
    query = vectors.of([case.text], Kind.QUERY)[0]
    cosine = vectors.of(corpus.passages, Kind.PASSAGE) @ query
    bm25, coverage, known = corpus.lexical(case.text)
    scores = fuse(cosine, bm25, None, None, priors)
    said = corpus.sessions >= 0
    nobody = np.zeros(int(said.sum()), dtype=np.bool_)
    scores[said] = smooth_messages(
        scores[said], corpus.sessions[said], corpus.positions[said], nobody
    )
    order = np.argsort(-scores, kind="stable")
    expected = np.array([name in case.expects for name in corpus.ids])
    truth = expected[order]
    kept = truth | (np.arange(len(order)) < TOP)
    order = order[kept]
    z = dense_z(cosine, None, priors)
    spoken = {corpus.languages[at] for at in np.flatnonzero(expected)}
    crosses = (
        "" if len(spoken) != 1 or case.language in spoken else f"{case.language}→{min(spoken)}"
    )
    return Asked(
        case=case,
        half=half,
        order=order,
        cosine=cosine[order],
        z=z[order],
        coverage=coverage[order],
        known=known,
        mean_cosine=dense_mean(cosine, None, priors),
        truth=truth[kept],
        crosses=crosses,
    )
