"""What recall reads: one person's index as it stood at a sequence number. Immutable, pure, no text.

A *document* is a text or a message; its number, 0…n, is its place in every (n,) array here. Numbers
differ between two views and between two processes: nothing may be ordered by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.index.dense import Dense
from remembrancer.index.growing import Places
from remembrancer.index.lexical import Lexical, Lexicon

Small: TypeAlias = NDArray[np.uint8]
Instants: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ids:
    """A column of ids, kept as `raw`: uint8 (n, 16)."""

    raw: Small

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, place: int | np.integer[Any]) -> UUID:
        return UUID(bytes=self.raw[place].tobytes())

    def take(self, places: Iterable[int]) -> list[UUID]:
        """The ids at those places, in their order."""
        return [self[place] for place in places]


@dataclass(frozen=True, slots=True)
class VersionTable:
    """Every version, in no particular order; arrays of shape (m,)."""

    ids: Ids
    memory_ids: Ids
    document: Places
    """The document that holds its words; a dead one when they are forgotten."""
    trust: Small
    """Ordinal in `changes.TRUSTS`."""
    type: Small
    """Ordinal in `changes.TYPES`."""
    path: Places
    """Ordinal in `View.paths`, -1 for none."""
    space: Places
    """Ordinal in `View.spaces`, -1 for none."""
    valid_from: Instants
    valid_to: Instants
    recorded_from: Instants
    recorded_to: Instants

    def __len__(self) -> int:
        return len(self.document)


@dataclass(frozen=True, slots=True)
class MessageTable:
    """Every message, in no particular order; arrays of shape (k,)."""

    ids: Ids
    document: Places
    chat: Places
    """Ordinal in `View.chats`."""
    session: Places
    """Ordinal of (chat, session)."""
    position: Places
    space: Places
    """Ordinal in `View.spaces`, -1 for none."""
    role: Small
    """Ordinal in `changes.ROLES`."""
    speaker: Places
    """Ordinal in `View.speakers`, -1 for none."""
    said_at: Instants
    live: Bools
    """False on a branch that was edited away, and for a message that is gone."""

    def __len__(self) -> int:
        return len(self.document)


@dataclass(frozen=True, slots=True)
class View:
    """A snapshot. Its arrays are read-only and no later write changes them."""

    seq: int
    """The `head.index_seq` it was brought to; later rows may already be in it."""
    versions: VersionTable
    messages: MessageTable
    paths: Sequence[str]
    path_terms: Sequence[frozenset[str]]
    """`text.paths.path_terms` of each of `paths`."""
    spaces: Sequence[UUID]
    chats: Sequence[UUID]
    speakers: Sequence[str]
    pending: Bools
    """(n,): there is no vector for it."""
    nbytes: int
    """What the index keeps in memory for this person, in this embedding space."""
    _dense: Dense
    _lexicon: Lexicon

    @property
    def size(self) -> int:
        """n, the dead ones included."""
        return len(self.pending)

    @property
    def live_documents(self) -> Bools:
        """(n,): it has words: neither forgotten, nor withheld whole, nor replaced."""
        return self._lexicon.live

    def dense(self, vector: Floats) -> Floats:
        """float32 (n,): the cosine of each document with `vector` (d,); nan without a vector.

        Raises `InvalidInputError` for a vector of another dimension.
        """
        return self._dense.cosines(vector)

    def lexical(self, terms: Mapping[int, int]) -> Lexical:
        """BM25 and coverage of `text.analyse.term_counts(query)`; dead documents score 0."""
        return self._lexicon.score(terms)
