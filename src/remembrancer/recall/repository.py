"""The winners, read again: constant statements under the full predicate. Nothing is written here.

The index ranks from a snapshot; what reaches a prompt is what SQL says answers at the asked times,
in the asked space, with a trust that may be given, and without what is withheld.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, literal_column, or_, select

from remembrancer.clock import Instant
from remembrancer.conversations.tables import chats, messages, withheld
from remembrancer.db.tables import OWNER
from remembrancer.db.types import Id
from remembrancer.db.units import Unit
from remembrancer.memory.models import GIVEN, Type
from remembrancer.memory.tables import evidence, memories, paths, texts, versions
from remembrancer.recall.masking import Asked
from remembrancer.recall.models import ProfileEntry
from remembrancer.text.spans import blank

AT_ONCE: Final = 500
WITHHELD_MARK: Final = "[…]"

_v, _t, _m, _p = versions.c, texts.c, memories.c, paths.c
_c, _g, _w, _e = chats.c, messages.c, withheld.c, evidence.c
_SPACE: Final = bindparam("space", type_=Id)
_IDS: Final = bindparam("ids", type_=Id, expanding=True)

_ANSWERING: Final = (
    select(
        _v.id,
        _v.memory_id,
        _v.space_id,
        _v.trust,
        _v.valid_from,
        _v.valid_to,
        _v.recorded_from,
        _t.text,
        _t.fingerprint,
        _p.text.label("path"),
        _m.pin_rank,
        _m.changed_at,
    )
    .select_from(
        versions.join(texts, (_t.user_id == _v.user_id) & (_t.id == _v.text_id))
        .join(memories, (_m.user_id == _v.user_id) & (_m.id == _v.memory_id))
        .outerjoin(paths, (_p.user_id == _v.user_id) & (_p.id == _v.path_id))
    )
    .where(
        _v.user_id == OWNER,
        _v.valid_from <= bindparam("valid_at"),
        _v.valid_to > bindparam("valid_at"),
        _v.recorded_from <= bindparam("known_at"),
        _v.recorded_to > bindparam("known_at"),
        _v.trust.in_(sorted(each.value for each in GIVEN)),
        or_(_v.space_id.is_(None), _v.space_id == _SPACE),
        _t.text.is_not(None),
        _m.forgotten_seq.is_(None),
    )
)
_WINNERS: Final = _ANSWERING.where(_v.id.in_(_IDS))
_PROFILE: Final = _ANSWERING.where(_v.type == literal_column(f"'{Type.USER.value}'"))
"""The type is a literal, as in the index that finds them."""
_EVIDENCE: Final = select(_e.memory_id, _e.message_id).where(
    _e.user_id == OWNER,
    _e.memory_id.in_(_IDS),
    _e.message_id.is_not(None),
    _e.deleted_at.is_(None),
)
_MESSAGES: Final = (
    select(
        _g.id,
        _g.chat_id,
        _g.role,
        _g.speaker,
        _g.authored_by,
        _g.said_at,
        _g.text,
        _c.space_id,
    )
    .select_from(messages.join(chats, (_c.user_id == _g.user_id) & (_c.id == _g.chat_id)))
    .where(
        _g.user_id == OWNER,
        _g.id.in_(_IDS),
        _g.live == 1,
        or_(_c.space_id.is_(None), _c.space_id == _SPACE),
    )
)
_WITHHELD: Final = select(_w.message_id, _w.span_from, _w.span_to).where(
    _w.user_id == OWNER, _w.message_id.in_(_IDS)
)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A version that answers, with its words."""

    version_id: UUID
    memory_id: UUID
    content: str
    fingerprint: bytes
    path: str
    space_id: UUID | None
    trust: str
    valid_from: Instant
    valid_to: Instant
    recorded_from: Instant
    rests_on: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message with what isn't withheld of its words."""

    id: UUID
    chat_id: UUID
    space_id: UUID | None
    role: str
    speaker: str
    authored_by: str
    said_at: Instant
    content: str


def memory_rows(unit: Unit, version_ids: Sequence[UUID], asked: Asked) -> dict[UUID, MemoryRow]:
    """Those of the versions that may be given, by version id."""
    rows = [
        row
        for some in _batches(version_ids)
        for row in unit.all(
            _WINNERS,
            ids=some,
            space=asked.space,
            valid_at=asked.valid_at,
            known_at=asked.known_at,
        )
    ]
    rests_on = _evidence(unit, [row.memory_id for row in rows])
    return {
        row.id: MemoryRow(
            version_id=row.id,
            memory_id=row.memory_id,
            content=row.text,
            fingerprint=row.fingerprint,
            path=row.path or "",
            space_id=row.space_id,
            trust=row.trust,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            recorded_from=row.recorded_from,
            rests_on=frozenset(rests_on[row.memory_id]),
        )
        for row in rows
    }


def message_rows(unit: Unit, ids: Sequence[UUID], asked: Asked) -> dict[UUID, MessageRow]:
    """Those of the messages that may be given, by id; not one of which nothing is left."""
    found: dict[UUID, MessageRow] = {}
    for some in _batches(ids):
        spans: defaultdict[UUID, list[tuple[int, int]]] = defaultdict(list)
        for row in unit.all(_WITHHELD, ids=some):
            spans[row.message_id].append((row.span_from, row.span_to))
        for row in unit.all(_MESSAGES, ids=some, space=asked.space):
            hidden = spans.get(row.id, [])
            if not blank(row.text, hidden).strip():
                continue
            found[row.id] = MessageRow(
                id=row.id,
                chat_id=row.chat_id,
                space_id=row.space_id,
                role=row.role,
                speaker=row.speaker,
                authored_by=row.authored_by,
                said_at=row.said_at,
                content=blank(row.text, hidden, WITHHELD_MARK),
            )
    return found


def profile(unit: Unit, asked: Asked) -> list[ProfileEntry]:
    """Every memory of type `user` that answers, in no order."""
    rows = unit.all(_PROFILE, space=asked.space, valid_at=asked.valid_at, known_at=asked.known_at)
    return [
        ProfileEntry(
            id=row.memory_id,
            version_id=row.id,
            content=row.text,
            trust=row.trust,
            pin_rank=row.pin_rank,
            changed_at=row.changed_at,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            path=row.path or "",
            space_id=row.space_id,
        )
        for row in rows
    ]


def _evidence(unit: Unit, memory_ids: Sequence[UUID]) -> defaultdict[UUID, set[UUID]]:
    found: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for some in _batches(memory_ids):
        for row in unit.all(_EVIDENCE, ids=some):
            found[row.memory_id].add(row.message_id)
    return found


def _batches(ids: Sequence[UUID]) -> Iterable[Sequence[UUID]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
