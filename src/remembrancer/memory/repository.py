"""Reading the record: constant statements, rows in, frozen values out. Nothing is written here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, bindparam, func, select

from remembrancer.clock import MAX, Instant
from remembrancer.conversations.repository import batched
from remembrancer.conversations.sieve import Sieve
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import NotFoundError
from remembrancer.memory.models import Evidence, Trust, Type
from remembrancer.memory.tables import evidence, memories, paths, texts, versions
from remembrancer.memory.timeline import Rectangle
from remembrancer.text.normalise import matches

_AT_ONCE: Final = 1000

_v, _t, _m, _p = versions.c, texts.c, memories.c, paths.c

_STANDING: Final = (
    select(
        _v.id,
        _v.memory_id,
        _v.text_id,
        _v.type,
        _v.path_id,
        _v.space_id,
        _v.trust,
        _v.valid_from,
        _v.valid_to,
        _v.recorded_from,
        _v.recorded_to,
        _v.opened_seq,
        _v.closed_seq,
        _t.text,
        _t.fingerprint,
        _t.commitment,
        _p.text.label("path"),
    )
    .select_from(
        versions.join(texts, (_t.user_id == _v.user_id) & (_t.id == _v.text_id)).outerjoin(
            paths, (_p.user_id == _v.user_id) & (_p.id == _v.path_id)
        )
    )
    .where(_v.user_id == OWNER)
)
_BELIEVED: Final = _STANDING.where(
    _v.memory_id == bindparam("memory"), _v.recorded_to == MAX
).order_by(_v.valid_from)
_ALL_OF: Final = _STANDING.where(_v.memory_id == bindparam("memory")).order_by(
    _v.recorded_from, _v.valid_from
)
_RECORDED_AT: Final = _STANDING.where(
    _v.memory_id == bindparam("memory"),
    _v.recorded_from <= bindparam("then"),
    _v.recorded_to > bindparam("then"),
).order_by(_v.valid_from)
_SAYING: Final = _STANDING.where(_t.fingerprint == bindparam("value")).order_by(_v.recorded_from)
_VERSIONS: Final = _STANDING.where(_v.id.in_(bindparam("ids", expanding=True)))
_MEMORY: Final = select(memories).where(_m.user_id == OWNER, _m.id == bindparam("memory"))
_MEMORIES: Final = select(memories).where(_m.user_id == OWNER)
_SOME: Final = _MEMORIES.where(_m.id.in_(bindparam("ids", expanding=True)))
_EVIDENCE: Final = (
    select(evidence)
    .where(evidence.c.user_id == OWNER, evidence.c.memory_id == bindparam("memory"))
    .order_by(evidence.c.event_seq)
)
_QUOTES_WITH: Final = select(evidence.c.message_id, evidence.c.quote).where(
    evidence.c.user_id == OWNER,
    evidence.c.memory_id == bindparam("memory"),
    evidence.c.event_seq.in_(bindparam("seqs", expanding=True)),
    evidence.c.message_id.is_not(None),
    evidence.c.quote.is_not(None),
)
_WORDS: Final = (
    select(_t.id, _t.text)
    .where(_t.user_id == OWNER, _t.text.is_not(None), _t.id > bindparam("after"))
    .order_by(_t.id)
    .limit(bindparam("most"))
)
_OF_TEXT: Final = (
    select(_v.memory_id).distinct().where(_v.user_id == OWNER, _v.text_id == bindparam("said"))
)
_PATH: Final = select(_p.id).where(_p.user_id == OWNER, _p.text == bindparam("path"))
_COUNT: Final = select(func.count()).select_from(versions).where(_v.user_id == OWNER)


@dataclass(frozen=True, slots=True)
class Standing:
    """One version as stored: its rectangle, what it says, and where it stands."""

    version_id: UUID
    memory_id: UUID
    text_id: UUID
    content: str | None
    fingerprint: bytes | None
    commitment: bytes
    type: Type
    path_id: UUID | None
    path: str
    space_id: UUID | None
    trust: Trust
    rectangle: Rectangle[UUID]
    opened_seq: int
    closed_seq: int | None


@dataclass(frozen=True, slots=True)
class Identity:
    """A memory's own row."""

    id: UUID
    revision: int
    pin_rank: int | None
    meta: Mapping[str, object]
    created_by: str
    created_at: Instant
    changed_at: Instant
    forgotten: bool


def _standing(row: Row[Any]) -> Standing:
    return Standing(
        version_id=row.id,
        memory_id=row.memory_id,
        text_id=row.text_id,
        content=row.text,
        fingerprint=row.fingerprint,
        commitment=row.commitment,
        type=Type(row.type),
        path_id=row.path_id,
        path=row.path or "",
        space_id=row.space_id,
        trust=Trust(row.trust),
        rectangle=Rectangle(
            row.valid_from, row.valid_to, row.recorded_from, row.recorded_to, row.text_id
        ),
        opened_seq=row.opened_seq,
        closed_seq=row.closed_seq,
    )


def _identity(row: Row[Any]) -> Identity:
    return Identity(
        id=row.id,
        revision=row.revision,
        pin_rank=row.pin_rank,
        meta=json.loads(row.meta) if row.meta else {},
        created_by=row.created_by,
        created_at=row.created_at,
        changed_at=row.changed_at,
        forgotten=row.forgotten_seq is not None,
    )


def identity(unit: Unit, memory_id: UUID) -> Identity:
    """The memory's row; `NotFoundError` when this person has none, or it is forgotten."""
    row = unit.first(_MEMORY, memory=memory_id)
    if row is None or row.forgotten_seq is not None:
        raise unknown(memory_id)
    return _identity(row)


def unknown(memory_id: UUID) -> NotFoundError:
    """The error for an id this person has no memory of."""
    return NotFoundError(
        f"There is no memory {memory_id}.",
        field="id",
        value=str(memory_id),
        hint="`list` shows the ids there are.",
    )


def find_identity(unit: Unit, memory_id: UUID) -> Identity | None:
    """The memory's row, also of a forgotten one; None when there is none."""
    row = unit.first(_MEMORY, memory=memory_id)
    return None if row is None else _identity(row)


def identities(unit: Unit) -> dict[UUID, Identity]:
    """Every memory's row."""
    return {row.id: _identity(row) for row in unit.all(_MEMORIES)}


def identities_of(unit: Unit, ids: Iterable[UUID]) -> list[Identity]:
    """The rows of these memories, those that there are, also of forgotten ones."""
    return [_identity(row) for some in batched(ids) for row in unit.all(_SOME, ids=some)]


def believed(unit: Unit, memory_id: UUID) -> list[Standing]:
    """The versions the store believes now, by valid time."""
    return [_standing(row) for row in unit.all(_BELIEVED, memory=memory_id)]


def standing(unit: Unit, memory_id: UUID) -> list[Standing]:
    """As `believed`; `NotFoundError` when the memory says nothing any more."""
    found = believed(unit, memory_id)
    if not found:
        raise NotFoundError(
            f"Memory {memory_id} says nothing any more.", field="id", value=str(memory_id)
        )
    return found


def believed_at(unit: Unit, memory_id: UUID, then: Instant) -> list[Standing]:
    """The versions the store believed at that recorded time."""
    return [_standing(row) for row in unit.all(_RECORDED_AT, memory=memory_id, then=then)]


def every_version(unit: Unit, memory_id: UUID) -> list[Standing]:
    """All versions there ever were, oldest first."""
    return [_standing(row) for row in unit.all(_ALL_OF, memory=memory_id)]


def saying(unit: Unit, fingerprint: bytes) -> list[Standing]:
    """Every version, believed or not, whose text has that fingerprint."""
    return [_standing(row) for row in unit.all(_SAYING, value=fingerprint)]


def containing(unit: Unit, value: str) -> Iterator[tuple[UUID, str, list[UUID]]]:
    """Every text that says `value`, as a tombstone of it would find: id, words, whose it is."""
    sieve = Sieve(value)
    after = UUID(int=0)
    while rows := unit.all(_WORDS, after=after, most=_AT_ONCE):
        after = rows[-1].id
        for row in rows:
            if sieve.passes(row.text) and matches(row.text, value):
                memory_ids = [each.memory_id for each in unit.all(_OF_TEXT, said=row.id)]
                yield row.id, row.text, memory_ids


def quotes_with(unit: Unit, memory_id: UUID, seqs: Sequence[int]) -> list[tuple[UUID, str]]:
    """The quotes, and where they stand, that came to a memory with these events."""
    rows = unit.all(_QUOTES_WITH, memory=memory_id, seqs=list(seqs))
    return [(row.message_id, row.quote) for row in rows]


def versions_of(unit: Unit, ids: Iterable[UUID]) -> list[Standing]:
    """These versions, those that there are."""
    return [_standing(row) for some in batched(ids) for row in unit.all(_VERSIONS, ids=some)]


def evidence_of(unit: Unit, memory_id: UUID) -> tuple[Evidence, ...]:
    """What a memory rests on."""
    return tuple(
        Evidence(row.chat_id, row.message_id, row.quote, row.model, row.deleted_at is not None)
        for row in unit.all(_EVIDENCE, memory=memory_id)
    )


def path_id(unit: Unit, path: str) -> UUID | None:
    """The id of a path's words, None when nothing stands there yet."""
    found: UUID | None = unit.scalar(_PATH, path=path)
    return found


def version_count(unit: Unit) -> int:
    """How many versions there are."""
    return int(unit.scalar(_COUNT))


def live(rows: Sequence[Standing]) -> list[Standing]:
    """Those the store believes now."""
    return [row for row in rows if row.rectangle.believed]
