"""Everything derived, made again from what is kept: terms, and vectors of texts and messages.

`complete` fills in what lacks a vector; `rebuild` first drops all that is derived. Both work in
short units, resume where they stopped, and embed outside every transaction. A text that was
forgotten meanwhile gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from remembrancer.conversations import pending as message_rows
from remembrancer.conversations import repository as chats
from remembrancer.conversations import withholding
from remembrancer.conversations.repository import FIRST_ID
from remembrancer.db.database import Database
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.embeddings.serving import Serving
from remembrancer.embeddings.worker import Priority
from remembrancer.events.log import journal
from remembrancer.index import repository as index_rows
from remembrancer.index.tables import vectors
from remembrancer.jobs import names, queue
from remembrancer.memory.tables import texts
from remembrancer.scope import Scope
from remembrancer.text.analyse import pack_terms, term_counts
from remembrancer.text.normalise import fingerprint

BATCH: Final = 100
PATIENCE: Final = 600.0
"""Seconds one batch may take in the embedder."""

_t = texts.c
_MISSING: Final = (
    select(_t.id, _t.text)
    .select_from(
        texts.outerjoin(
            vectors,
            (vectors.c.user_id == _t.user_id)
            & (vectors.c.document_id == _t.id)
            & (vectors.c.embedding_space == bindparam("space")),
        )
    )
    .where(_t.user_id == OWNER, _t.text.is_not(None), vectors.c.document_id.is_(None))
    .order_by(_t.id)
    .limit(bindparam("most"))
)
_STILL: Final = select(_t.id).where(
    _t.user_id == OWNER, _t.text.is_not(None), _t.id.in_(bindparam("ids", expanding=True))
)
_WORDS: Final = (
    select(_t.id, _t.text)
    .where(_t.user_id == OWNER, _t.text.is_not(None), _t.id > bindparam("beyond"))
    .order_by(_t.id)
    .limit(bindparam("most"))
)
_TERMS: Final = (
    update(texts)
    .where(_t.user_id == OWNER, _t.id == bindparam("text_id"))
    .values(
        terms=bindparam("new_terms"),
        fingerprint=bindparam("new_fingerprint"),
        changed_at_seq=bindparam("moved"),
    )
)

_DROP_ALL: Final = delete(vectors).where(vectors.c.user_id == OWNER)


@dataclass(frozen=True, slots=True)
class Lacking:
    """Something without a vector: its id, the words to embed, and their digest."""

    id: UUID
    words: str
    made_from: bytes
    is_message: bool


@dataclass(frozen=True, slots=True)
class Done:
    """How much was made."""

    terms: int
    vectors: int


def _lacking(unit: Unit, space: int) -> list[Lacking]:
    found = [
        Lacking(row.id, row.text, fingerprint(row.text), False)
        for row in unit.all(_MISSING, space=space, most=BATCH)
    ]
    if len(found) < BATCH:
        found += [
            Lacking(each.message_id, each.words, each.made_from, True)
            for each in message_rows.pending(unit, space, limit=BATCH - len(found))
        ]
    return found


def _store(unit: Unit, space: int, made: Sequence[tuple[Lacking, bytes]]) -> int:
    """Write vectors of what still says what was embedded; returns how many."""
    with journal(unit) as held:
        wanted = [each.id for each, _ in made if not each.is_message]
        still = {row.id for row in unit.all(_STILL, ids=wanted)}
        asked = [each.id for each, _ in made if each.is_message]
        current = {each.message_id: each.made_from for each in message_rows.words_of(unit, asked)}
        rows = [
            index_rows.VectorRow(each.id, each.made_from, vector)
            for each, vector in made
            if each.id in still or current.get(each.id) == each.made_from
        ]
        index_rows.put_vectors(unit, space, rows, held.touch_index())
    return len(rows)


def _finish(unit: Unit, space: int) -> bool:
    """End the job if nothing lacks a vector. The head is held, so no write comes in between."""
    with journal(unit):
        lacking = _lacking(unit, space)
        if not lacking:
            queue.finish_named(unit, names.VECTORS)
    return not lacking


async def complete(
    db: Database,
    serving: Serving,
    scope: Scope,
    *,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Make every missing vector of one person's. Raises `EmbedderError` when the model fails.

    The job for it ends only when nothing lacks one: what came meanwhile is made too, and when
    nothing could be stored of what lacks one, the job is kept.
    """
    space = serving.space_id
    total = 0
    while True:
        stored = 0
        lacking = await db.read(scope, lambda unit: _lacking(unit, space))
        if lacking:
            words = [each.words for each in lacking]
            embedded = await serving.passages(words, Priority.BACKGROUND, PATIENCE)
            made = list(zip(lacking, embedded, strict=True))
            stored = await db.write(scope, partial(_store, space=space, made=made))
            total += stored
            if progress is not None:
                progress(stored)
        if stored == 0:
            finished = await db.write(scope, lambda unit: _finish(unit, space))
            if finished or lacking:
                return total


def _terms_page(unit: Unit, beyond: UUID) -> tuple[UUID | None, int]:
    rows = unit.all(_WORDS, beyond=beyond, most=BATCH)
    with journal(unit) as held:
        moved = held.touch_index()
        unit.run_many(
            _TERMS,
            [
                {
                    "text_id": row.id,
                    "new_terms": pack_terms(term_counts(row.text)),
                    "new_fingerprint": fingerprint(row.text),
                    "moved": moved,
                }
                for row in rows
            ],
        )
    return (rows[-1].id if rows else None), len(rows)


async def rebuild_terms(db: Database, scope: Scope) -> int:
    """Analyse every text and message of one person's again; returns how many."""
    total = 0
    beyond: UUID | None = UUID(int=0)
    while beyond is not None:
        last = beyond
        beyond, count = await db.write(scope, partial(_terms_page, beyond=last))
        total += count
    after: UUID | None = FIRST_ID
    while after is not None:
        start = after
        after, count = await db.write(scope, partial(_messages_page, after=start))
        total += count
    return total


def _messages_page(unit: Unit, after: UUID) -> tuple[UUID | None, int]:
    page = chats.page(unit, after, BATCH)
    with journal(unit) as held:
        withholding.refresh(unit, [each.id for each in page], held.touch_index())
    return (page[-1].id if page else None), len(page)


def _drop_vectors(unit: Unit) -> None:
    with journal(unit) as held:
        unit.run(_DROP_ALL)
        held.touch_index()


async def rebuild(
    db: Database,
    serving: Serving,
    scope: Scope,
    *,
    progress: Callable[[int], None] | None = None,
) -> Done:
    """Drop everything derived of one person's and make it again."""

    await db.write(scope, _drop_vectors)
    terms = await rebuild_terms(db, scope)
    return Done(terms, await complete(db, serving, scope, progress=progress))
