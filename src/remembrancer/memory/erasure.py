"""Getting a person's words out of every column this domain keeps them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, or_, select, update

from remembrancer.conversations.sieve import Sieve
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.memory.carried import words_in
from remembrancer.memory.models import Op
from remembrancer.memory.tables import (
    evidence,
    memories,
    origin,
    paths,
    proposals,
    texts,
    versions,
)
from remembrancer.text.normalise import matches

_TEXTS: Final = (
    update(texts)
    .where(texts.c.user_id == OWNER, texts.c.id == bindparam("text_id"))
    .values(text=None, fingerprint=None, salt=None, terms=b"", changed_at_seq=bindparam("moved"))
)
_MEMORY: Final = (
    update(memories)
    .where(memories.c.user_id == OWNER, memories.c.id == bindparam("memory"))
    .values(meta=None, forgotten_seq=bindparam("by"))
)
_ORIGIN: Final = (
    update(origin)
    .where(origin.c.user_id == OWNER, origin.c.memory_id == bindparam("memory"))
    .values(data=None)
)
_EVIDENCE: Final = (
    update(evidence)
    .where(evidence.c.user_id == OWNER, evidence.c.memory_id == bindparam("memory"))
    .values(quote=None)
)
_EVIDENCE_WITH: Final = (
    update(evidence)
    .where(
        evidence.c.user_id == OWNER,
        evidence.c.memory_id == bindparam("memory"),
        evidence.c.event_seq == bindparam("came_with"),
    )
    .values(quote=None)
)
_PROPOSALS: Final = (
    update(proposals)
    .where(
        proposals.c.user_id == OWNER,
        or_(
            proposals.c.target_id == bindparam("memory"),
            proposals.c.other_id == bindparam("memory"),
        ),
    )
    .values(text=None, quote=None, arguments="{}")
)
_EXPIRE: Final = (
    update(proposals)
    .where(
        proposals.c.user_id == OWNER,
        or_(
            proposals.c.target_id == bindparam("memory"),
            proposals.c.other_id == bindparam("memory"),
        ),
        proposals.c.state == "open",
    )
    .values(state="expired", decided_seq=bindparam("by"))
)
_QUOTES: Final = select(evidence.c.id, evidence.c.quote).where(
    evidence.c.user_id == OWNER, evidence.c.quote.is_not(None)
)
_CLEAR_QUOTE: Final = (
    update(evidence)
    .where(evidence.c.user_id == OWNER, evidence.c.id == bindparam("row"))
    .values(quote=None)
)
_PROPOSED: Final = select(
    proposals.c.id,
    proposals.c.op,
    proposals.c.state,
    proposals.c.text,
    proposals.c.quote,
    proposals.c.arguments,
).where(
    proposals.c.user_id == OWNER,
    or_(
        proposals.c.text.is_not(None),
        proposals.c.quote.is_not(None),
        proposals.c.arguments != "{}",
    ),
)
_CLEAR_PROPOSAL: Final = (
    update(proposals)
    .where(proposals.c.user_id == OWNER, proposals.c.id == bindparam("row"))
    .values(text=None, quote=None, arguments="{}")
)
_EXPIRE_ONE: Final = (
    update(proposals)
    .where(
        proposals.c.user_id == OWNER,
        proposals.c.id == bindparam("row"),
        proposals.c.state == "open",
    )
    .values(state="expired", decided_seq=bindparam("by"))
)
_META: Final = select(memories.c.id, memories.c.meta).where(
    memories.c.user_id == OWNER, memories.c.meta.is_not(None)
)
_CLEAR_META: Final = (
    update(memories)
    .where(memories.c.user_id == OWNER, memories.c.id == bindparam("memory"))
    .values(meta=None)
)
_ORIGINS: Final = select(origin.c.memory_id, origin.c.data).where(
    origin.c.user_id == OWNER, origin.c.data.is_not(None)
)
_PATHS: Final = (
    update(paths)
    .where(
        paths.c.user_id == OWNER,
        paths.c.text.is_not(None),
        ~select(versions.c.id)
        .join(
            memories,
            (memories.c.user_id == versions.c.user_id) & (memories.c.id == versions.c.memory_id),
        )
        .where(
            versions.c.user_id == paths.c.user_id,
            versions.c.path_id == paths.c.id,
            memories.c.forgotten_seq.is_(None),
        )
        .exists(),
    )
    .values(text=None)
)


def clear_texts(unit: Unit, text_ids: Sequence[UUID], moved: int) -> None:
    """Null words, fingerprint and salt; empty the terms. The commitment stays, unopenable."""
    unit.run_many(_TEXTS, [{"text_id": each, "moved": moved} for each in text_ids])


def clear_about(unit: Unit, memory_id: UUID, by: int) -> None:
    """Meta, origin data, quotes and proposals about one memory."""
    unit.run(_MEMORY, memory=memory_id, by=by)
    unit.run(_ORIGIN, memory=memory_id)
    unit.run(_EVIDENCE, memory=memory_id)
    unit.run(_EXPIRE, memory=memory_id, by=by)
    unit.run(_PROPOSALS, memory=memory_id)


def clear_stated(unit: Unit, words: Sequence[str], by: int) -> None:
    """Quotes, proposals, meta and origin data, of any memory, that say one of these words.

    An open proposal expires with its words; one that a candidate memory stands for only loses
    them, since the memory still waits.
    """
    sieves = [Sieve(each) for each in words]

    def says_in(stored: str | None) -> bool:
        return any(says(each) for each in words_in(stored))

    def says(text: str | None) -> bool:
        return text is not None and any(
            sieve.passes(text) and matches(text, each)
            for sieve, each in zip(sieves, words, strict=True)
        )

    quoted = [row.id for row in unit.all(_QUOTES) if says(row.quote)]
    unit.run_many(_CLEAR_QUOTE, [{"row": each} for each in quoted])
    for row in unit.all(_PROPOSED):
        if says(row.text) or says(row.quote) or says_in(row.arguments):
            clear_proposal(unit, row.id)
            if row.op != Op.ADD.value:
                unit.run(_EXPIRE_ONE, row=row.id, by=by)
    noted = [row.id for row in unit.all(_META) if says_in(row.meta)]
    unit.run_many(_CLEAR_META, [{"memory": each} for each in noted])
    came = [row.memory_id for row in unit.all(_ORIGINS) if says_in(row.data)]
    unit.run_many(_ORIGIN, [{"memory": each} for each in came])


def clear_evidence(unit: Unit, memory_id: UUID, event_seqs: Sequence[int]) -> None:
    """The quotes that came to a memory with these events."""
    unit.run_many(_EVIDENCE_WITH, [{"memory": memory_id, "came_with": each} for each in event_seqs])


def clear_proposal(unit: Unit, proposal: UUID) -> None:
    """The words of a proposal, whatever its state."""
    unit.run(_CLEAR_PROPOSAL, row=proposal)


def clear_unused_paths(unit: Unit) -> None:
    """The words of paths that only forgotten memories stood at."""
    unit.run(_PATHS)
