"""Near-duplicates and paraphrases: what is close in meaning to a new value, before it is stored.

A near-duplicate of a live memory is offered as a merge, never merged. A machine's paraphrase of a
rejected or refuted value becomes a candidate, marked. The index is read before the write opens, so
a write never depends on it.

A bar for cosines belongs to one embedding space; these are the local model's. Measured on 28
paraphrases and 30 other facts of one person in like words ("Ada is allergic to peanuts / cats"),
in English, German, Chinese and Spanish, as passages:

    cosine                  ≥ 0.92   0.94   0.95   0.96   0.97   0.98
    paraphrases, of 28          28     25     25     24     22     14
    other facts, of 30          21     13      8      4      2      0

    share of terms in common  ≥ 0.25   0.40   0.55   0.75
    paraphrases, of 28            23     15      8      2
    other facts, of 30            20      8      0      0

Across languages the same facts lie between 0.80 and 0.95: a paraphrase in another language is
mostly missed. In any other space, and without vectors, the words alone decide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import UUID

import numpy as np
from sqlalchemy import bindparam, select

from remembrancer.clock import MAX
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.embeddings.base import SpaceSpec
from remembrancer.embeddings.local import EXPECTED_REVISION, MODEL
from remembrancer.embeddings.vectors import from_half
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.memory import proposing, repository
from remembrancer.memory.models import GIVEN, Add, Op, Outcome, Status
from remembrancer.memory.tables import texts, versions
from remembrancer.memory.writing import Neighbour, Vectors, Writing
from remembrancer.text.analyse import term_counts
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Kind as Grave

KEPT: Final = 8
SAME_MEANING: Final = 0.98
"""Cosine from which two lines are offered as one. An offer is work for the person: none of the
other facts reached it."""
RESEMBLING: Final = 0.95
"""Cosine from which a machine's line counts as a paraphrase of a tombstoned one. It then waits for
the person, with a mark: lower than the other bar, for a missed one would be given to a model."""
SAME_WORDS: Final = 0.75
"""Share of terms in common (Jaccard) from which two lines are offered as one."""
RESEMBLING_WORDS: Final = 0.55
"""The same from which a machine's line counts as a paraphrase; no other fact reached it."""

FAR: Final = 0.9
"""Cosine below which a line is neither, whatever its words: paraphrases and near-duplicates alike
lie above it."""

_BEHIND: Final = (
    select(versions.c.id, versions.c.text_id, texts.c.text)
    .join(texts, (texts.c.user_id == versions.c.user_id) & (texts.c.id == versions.c.text_id))
    .where(
        versions.c.user_id == OWNER,
        versions.c.id.in_(bindparam("ids", expanding=True)),
        texts.c.text.is_not(None),
    )
)
_STANDING: Final = select(versions.c.memory_id, versions.c.trust, versions.c.space_id).where(
    versions.c.user_id == OWNER,
    versions.c.text_id == bindparam("text"),
    versions.c.recorded_to == MAX,
)


def is_calibrated(spec: SpaceSpec) -> bool:
    """Whether the bars for cosines are this embedding space's."""
    return (spec.model, spec.revision) == (MODEL, EXPECTED_REVISION)


def around(unit: Unit, indexes: PersonalIndexes, vectors: Vectors, *, calibrated: bool) -> Vectors:
    """The same vectors, with the nearest stored texts of each new one.

    `calibrated`: their cosines may be compared with the bars here.
    """
    view = indexes.view(unit, vectors.space)
    if len(view.versions) == 0:
        return vectors
    near: dict[str, tuple[Neighbour, ...]] = {}
    for content, blob in vectors.by_content.items():
        cosine = view.dense(from_half(blob, len(blob) // 2)[0])[view.versions.document]
        cosine = np.nan_to_num(cosine, nan=-1.0)
        kept = min(KEPT, len(cosine))
        best = np.argpartition(-cosine, kept - 1)[:kept]
        near[content] = tuple(
            Neighbour(view.versions.ids[each], float(cosine[each]) if calibrated else None)
            for each in best[np.argsort(-cosine[best], kind="stable")]
            if not calibrated or cosine[each] >= FAR
        )
    return replace(vectors, near=near)


def _behind(writing: Writing, content: str) -> list[tuple[float | None, UUID, str]]:
    """What is near a new value: cosine, text and words of each, nearest first."""
    near = writing.vectors.near.get(content, ())
    if not near:
        return []
    ids = [each.version_id for each in near]
    found = {row.id: row for row in writing.unit.all(_BEHIND, ids=ids)}
    return [
        (each.cosine, found[each.version_id].text_id, found[each.version_id].text)
        for each in near
        if each.version_id in found
    ]


def resembled(writing: Writing, content: str) -> UUID | None:
    """The rejected or refuted tombstone that a machine's value paraphrases, None for a person's."""
    if writing.actor.is_person:
        return None
    for cosine, _, words in _behind(writing, content):
        if cosine is None or cosine < RESEMBLING:
            continue
        for grave in graves.equal(writing.unit, words):
            if grave.kind is not Grave.FORGOTTEN:
                return grave.id
    mine = set(term_counts(content))
    for stone, said in graves.texts(writing.unit):
        if _overlap(mine, said) >= RESEMBLING_WORDS:
            return stone
    return None


def propose_merge(writing: Writing, request: Add, outcome: Outcome) -> None:
    """Offer the nearest live memory and the new one as one, when they are near enough."""
    if outcome.status not in (Status.CREATED, Status.CANDIDATE) or outcome.id is None:
        return
    mine = set(term_counts(request.content))
    for cosine, text_id, words in _behind(writing, request.content):
        same_meaning = cosine is not None and cosine >= SAME_MEANING
        if not same_meaning and _overlap(mine, words) < SAME_WORDS:
            continue
        for row in writing.unit.all(_STANDING, text=text_id):
            visible = row.space_id in (None, request.space)
            if row.memory_id != outcome.id and visible and row.trust in GIVEN:
                base = repository.identity(writing.unit, row.memory_id).revision
                proposing.propose(
                    writing,
                    Op.MERGE,
                    target=row.memory_id,
                    other=outcome.id,
                    base_revision=base,
                )
                return


def _overlap(mine: set[int], said: str) -> float:
    theirs = set(term_counts(said))
    return len(mine & theirs) / max(1, len(mine | theirs))
