"""What the tests of recall and of the prompt share: the model, lent out, and blocks read back.

What a turn is given is read from the assembled blocks, as the model reads them, and not from the
list of entries beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

import numpy as np

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.embeddings.base import Embedder, Kind, SpaceSpec, Vectors
from remembrancer.embeddings.local import LocalEmbedder
from remembrancer.memory.models import Add, Outcome
from remembrancer.recall.models import Recall

_LINE = re.compile(r"(\d+)\. \[(memory|message) ([0-9a-f-]{36}); ([^\]]*)\] (.*)")
_PROFILE_LINE = re.compile(r"- \[memory ([0-9a-f-]{36})(?:; [^\]]*)?\] (.*)")
_IDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HEAD = 2
"""Lines of a block before its first entry: the opening fence, and what the block is."""


class Lent:
    """An embedder that stores may share: each text embedded once, and never closed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[Kind, str], Vectors] = {}

    @property
    def spec(self) -> SpaceSpec:
        return self._embedder.spec

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        for text in texts:
            if (kind, text) not in self._known:
                self._known[kind, text] = self._embedder.embed([text], kind)[0]
        made = [self._known[kind, text] for text in texts]
        return np.array(made, dtype=np.float32).reshape(len(made), self.spec.dimension)

    def close(self) -> None:
        """Somebody else may still hold it."""


@cache
def local_model() -> Lent:
    """The default model, loaded once a process."""
    return Lent(LocalEmbedder())


@dataclass(frozen=True)
class Line:
    """One entry as a block shows it."""

    place: int
    kind: str
    id: UUID
    mark: str
    words: str


def lines(recall: Recall) -> list[Line]:
    """The entries of the recalled block, in its order."""
    if not recall.recalled_block:
        return []
    found = []
    for line in recall.recalled_block.split("\n")[HEAD:-1]:
        match = _LINE.fullmatch(line)
        assert match is not None, line
        place, kind, id_, mark, words = match.groups()
        found.append(Line(int(place), kind, UUID(id_), mark, words))
    return found


def given(recall: Recall) -> list[str]:
    """The words of the recalled block's entries, in its order."""
    return [line.words for line in lines(recall)]


def profile_lines(recall: Recall) -> list[tuple[UUID, str]]:
    """The ids and words of the profile block's entries, in its order."""
    if not recall.profile_block:
        return []
    found = []
    for line in recall.profile_block.split("\n")[HEAD:-1]:
        match = _PROFILE_LINE.fullmatch(line)
        assert match is not None, line
        found.append((UUID(match[1]), match[2]))
    return found


def reasons(recall: Recall) -> dict[UUID, str]:
    """Why each thing that the record names was left out."""
    return {each.id: each.reason.value for each in recall.omitted}


def without_ids(block: str) -> str:
    """A block as it is whatever the store's ids are."""
    return _IDS.sub("ID", block)


def assert_accounted(recall: Recall) -> None:
    """R4: whatever stood in an arm's top 50 was given, or is left out for a stated reason."""
    known = {each.id for each in recall.entries} | {each.id for each in recall.omitted}
    known |= {each.id for each in recall.profile}
    assert {top.id for arm in recall.trace.arms for top in arm.top} <= known


def assert_in_order(recall: Recall) -> None:
    """R2: the block's order is that of the trace's scores, and the entries agree with it."""
    score = {each.id: each.score for each in recall.trace.fused}
    shown = [line.id for line in lines(recall)]
    assert shown == [each.id for each in recall.entries]
    assert [line.place for line in lines(recall)] == list(range(1, len(shown) + 1))
    assert set(shown) == {each.id for each in recall.trace.fused if each.given}
    scores = [score[each] for each in shown]
    assert scores == [each.score for each in recall.entries]
    assert scores == sorted(scores, reverse=True)


def remember(memory: SyncPersonalMemory, contents: Iterable[str], *, path: str = "") -> list[UUID]:
    """Several memories at once; their ids."""
    made = memory.apply([Add(each, path=path) for each in contents])
    return [id_of(each) for each in made]


def id_of(made: Outcome) -> UUID:
    """The memory that was made, or changed."""
    assert made.id is not None, made
    return made.id


def fix_clock(store: SyncRemembrancer, instant: int) -> None:
    """Let a store's clock stand still."""
    store._store.engine.db._now = lambda: instant
