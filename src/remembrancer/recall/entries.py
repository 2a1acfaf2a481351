"""Entries made of what was read again: a candidate for each winner, and what speaks for it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from remembrancer.clock import MIN
from remembrancer.index.view import View
from remembrancer.recall.arms import Scores
from remembrancer.recall.diversity import Candidate
from remembrancer.recall.masking import Masks
from remembrancer.recall.models import Arm, Entry, Why
from remembrancer.recall.query import Query
from remembrancer.recall.reasons import Kind
from remembrancer.recall.repository import MemoryRow, MessageRow
from remembrancer.text.analyse import word_forms
from remembrancer.text.normalise import fingerprint

_ROLES: Final = frozenset({"user", "assistant"})
READ_CHARACTERS: Final = 20_000
"""How far into a long message words of the question are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was found, and what it was found with."""

    view: View
    scores: Scores
    masks: Masks
    query: Query


class Maker:
    """Makes candidates out of rows; `None` for a document whose row is no longer there."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._asked = word_forms(found.query.text)
        self._tops: dict[Arm, frozenset[int]] = {
            arm: frozenset(top.documents.tolist()) for arm, top in found.scores.tops.items()
        }

    def version_id(self, document: int) -> UUID | None:
        """The version a document would be given as."""
        row = int(self._found.masks.version_of[document])
        return None if row < 0 else self._found.view.versions.ids[row]

    def message_id(self, document: int) -> UUID:
        """The message a document is."""
        return self._found.view.messages.ids[int(self._found.masks.message_of[document])]

    def candidate(
        self,
        document: int,
        memories: Mapping[UUID, MemoryRow],
        messages: Mapping[UUID, MessageRow],
    ) -> Candidate | None:
        """The candidate of one document."""
        version_id = self.version_id(document)
        if version_id is not None:
            memory = memories.get(version_id)
            return None if memory is None else self._memory(document, memory)
        message = messages.get(self.message_id(document))
        return None if message is None else self._message(document, message)

    def _memory(self, document: int, row: MemoryRow) -> Candidate:
        scores = self._found.scores
        entry = Entry(
            kind=Kind.MEMORY,
            id=row.memory_id,
            version_id=row.version_id,
            content=row.content,
            rank=0,
            score=float(scores.fused[document]),
            relevance=float(scores.judged.relevance[document]),
            arms=tuple(arm.value for arm in Arm if document in self._tops.get(arm, ())),
            at=row.valid_from if row.valid_from > MIN else row.recorded_from,
            path=row.path,
            trust=row.trust,
            space_id=row.space_id,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
        )
        return Candidate(entry, row.valid_from, row.fingerprint, row.rests_on)

    def _message(self, document: int, row: MessageRow) -> Candidate:
        scores = self._found.scores
        entry = Entry(
            kind=Kind.MESSAGE,
            id=row.id,
            version_id=None,
            content=row.content,
            rank=0,
            score=float(scores.fused[document]),
            relevance=float(scores.judged.relevance[document]),
            arms=(Arm.CONVERSATION.value,),
            at=row.said_at,
            said_by=_said_by(row),
            authored_by=row.authored_by,
            space_id=row.space_id,
        )
        return Candidate(entry, row.said_at, _fingerprint(row.content))

    def explained(self, document: int, entry: Entry) -> Entry:
        """The entry with what speaks for it."""
        scores, view = self._found.scores, self._found.view
        cosine = math.nan if scores.cosine is None else float(scores.cosine[document])
        content = entry.content[:READ_CHARACTERS]
        held = {form for forms in word_forms(content) for form in forms}
        words = dict.fromkeys(forms[0] for forms in self._asked if not held.isdisjoint(forms))
        speaker = -1
        if entry.kind is Kind.MESSAGE:
            speaker = int(view.messages.speaker[int(self._found.masks.message_of[document])])
        why = Why(
            words=tuple(words),
            meaning=None if math.isnan(cosine) else round(cosine, 4),
            path=entry.path if scores.path[document] > 0 else "",
            speaker=view.speakers[speaker] if speaker in scores.speakers else "",
        )
        return replace(entry, why=why)


def _said_by(row: MessageRow) -> str:
    """The role, or a third person's name; in quotes where it could be taken for a role."""
    if row.role in _ROLES:
        return row.role
    return f"“{row.speaker}”" if row.speaker in _ROLES else row.speaker or "somebody"


def _fingerprint(content: str) -> bytes:
    """As `normalise.fingerprint`; of a very long message, of its plain bytes."""
    if len(content) <= READ_CHARACTERS:
        return fingerprint(content)
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()
