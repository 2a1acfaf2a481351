"""Writing a person's memories and messages, and what their view answers, by version or message."""

from __future__ import annotations

import numpy as np

from remembrancer.ids import new_id
from remembrancer.index import repository
from remembrancer.index.changes import TextRow
from remembrancer.index.repository import VectorRow
from remembrancer.text.analyse import pack_terms, term_counts
from tests.support import sources

DIMENSION = 32


def vector(seed):
    made = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return made / np.linalg.norm(made)


def terms(text):
    return pack_terms(term_counts(text))


def embed(person, id_, seed, space=1):
    def work(unit):
        row = VectorRow(id_, b"", vector(seed).astype("<f2").tobytes())
        repository.put_vectors(unit, space, [row], sources.touch(unit))

    person.write(work)


def remember(person, text, *, seed=None, **other):
    """A text, its one version and, given a seed, its vector; the version."""
    version = sources.version(new_id(), new_id(), new_id(), **other)
    person.write(sources.add_texts, [TextRow(version.text_id, terms(text))])
    person.write(sources.add_versions, [version])
    if seed is not None:
        embed(person, version.text_id, seed)
    return version


def say(person, text, chat=None, **other):
    message = sources.message(new_id(), chat or new_id(), terms(text), **other)
    person.write(sources.add_messages, [message])
    return message


def ids(table):
    return table.ids.take(range(len(table)))


def lexical(view, question):
    """Scores above 0 by version or message id."""
    scores = view.lexical(term_counts(question)).scores
    return {
        id_: float(scores[document])
        for table in (view.versions, view.messages)
        for id_, document in zip(ids(table), table.document, strict=True)
        if scores[document] > 0
    }


def dense(view, seed):
    """Cosines by version or message id, for those that have a vector."""
    scores = view.dense(vector(seed))
    return {
        id_: float(scores[document])
        for table in (view.versions, view.messages)
        for id_, document in zip(ids(table), table.document, strict=True)
        if not np.isnan(scores[document])
    }
