"""Seeing the record: one memory, lists, history, differences, and any of it as of other times."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from remembrancer.clock import MAX, Instant, moment, to_datetime
from remembrancer.db.units import Unit
from remembrancer.events import log
from remembrancer.events.log import Event
from remembrancer.index import repository as index_rows
from remembrancer.memory import listing, repository
from remembrancer.memory.models import Change, Filter, History, Memory, Version
from remembrancer.memory.repository import Identity, Standing


def _memory(found: Identity, standing: Standing, *, pending: bool) -> Memory:
    assert standing.content is not None
    return Memory(
        id=found.id,
        version=found.revision,
        content=standing.content,
        type=standing.type,
        path=standing.path,
        space_id=standing.space_id,
        trust=standing.trust,
        valid_from=to_datetime(standing.rectangle.valid_from),
        valid_to=to_datetime(standing.rectangle.valid_to),
        recorded_from=moment(standing.rectangle.recorded_from),
        created_at=moment(found.created_at),
        changed_at=moment(found.changed_at),
        created_by=found.created_by,
        pin_rank=found.pin_rank,
        meta=found.meta,
        version_id=standing.version_id,
        text_id=standing.text_id,
        pending=pending,
    )


def get(
    unit: Unit,
    memory_id: UUID,
    *,
    valid_at: Instant | None = None,
    known_at: Instant | None = None,
    spaces: Sequence[int] = (),
) -> Memory | None:
    """A memory as of two times; None when it said nothing then. `NotFoundError` when unknown."""
    found = repository.identity(unit, memory_id)
    known = repository.believed_at(unit, memory_id, _known(known_at))
    chosen = _representative(known, unit.now, valid_at)
    if chosen is None:
        return None
    return _memory(found, chosen, pending=_pending(unit, spaces, [chosen.text_id]) != set())


def _known(known_at: Instant | None) -> Instant:
    return MAX - 1 if known_at is None else min(known_at, MAX - 1)


def _representative(
    standing: Iterable[Standing], now: Instant, valid_at: Instant | None
) -> Standing | None:
    """The version that answers: valid at the asked time; unasked, at `now`, else the latest."""
    rows = [each for each in standing if each.content is not None]
    at = now if valid_at is None else valid_at
    for each in rows:
        if each.rectangle.valid_from <= at < each.rectangle.valid_to:
            return each
    return rows[-1] if rows and valid_at is None else None


def _pending(unit: Unit, spaces: Sequence[int], text_ids: list[UUID]) -> set[UUID]:
    """Those without a vector in any of the spaces that may serve."""
    for space in spaces:
        text_ids = index_rows.missing(unit, space, text_ids)
    return set(text_ids)


def metas(unit: Unit, ids: Iterable[UUID]) -> dict[UUID, Mapping[str, object]]:
    """The meta of these memories by id; a forgotten one isn't there."""
    found = repository.identities_of(unit, ids)
    return {each.id: each.meta for each in found if not each.forgotten}


def list_memories(unit: Unit, wanted: Filter, *, spaces: Sequence[int] = ()) -> list[Memory]:
    """Memories of the unit's scope, oldest first, one entry each, as of the asked times."""
    rows = listing.page(unit, wanted, _known(wanted.known_at))
    pending = _pending(unit, spaces, [each.text_id for _, each in rows])
    return [_memory(found, each, pending=each.text_id in pending) for found, each in rows]


_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]", re.UNICODE)


def difference(old: str, new: str) -> tuple[tuple[str, str], ...]:
    """Word by word from `old` to `new`: `("same" | "gone" | "new", text)`."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if any("\u3000" < each[0] < "\ud7a4" for each in (*before, *after) if each):
        before, after = list(old), list(new)
    parts: list[tuple[str, str]] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            parts.append(("same", "".join(before[a:b])))
            continue
        if b > a:
            parts.append(("gone", "".join(before[a:b])))
        if d > c:
            parts.append(("new", "".join(after[c:d])))
    return tuple(parts)


def _version(each: Standing) -> Version:
    return Version(
        id=each.version_id,
        memory_id=each.memory_id,
        text_id=each.text_id,
        content=each.content,
        type=each.type,
        path=each.path,
        space_id=each.space_id,
        trust=each.trust,
        valid_from=to_datetime(each.rectangle.valid_from),
        valid_to=to_datetime(each.rectangle.valid_to),
        recorded_from=moment(each.rectangle.recorded_from),
        recorded_to=to_datetime(each.rectangle.recorded_to),
    )


def history(unit: Unit, memory_id: UUID) -> History:
    """Everything that happened to a memory; a forgotten one shows its skeleton.

    Raises `NotFoundError` for an id this person has no memory of.
    """
    found = repository.find_identity(unit, memory_id)
    if found is None:
        raise repository.unknown(memory_id)
    versions = repository.every_version(unit, memory_id)
    return History(
        id=memory_id,
        version=found.revision,
        forgotten=found.forgotten,
        changes=tuple(_changes(log.about(unit, memory_id), versions)),
        versions=tuple(_version(each) for each in versions),
        evidence=repository.evidence_of(unit, memory_id),
    )


def _changes(events: list[Event], versions: list[Standing]) -> Iterator[Change]:
    for event in events:
        opened = [each for each in versions if each.opened_seq == event.seq]
        closed = [each for each in versions if each.closed_seq == event.seq]
        was = next((each.content for each in closed if each.content), None)
        now = next((each.content for each in opened if each.content and each.content != was), None)
        yield Change(
            event=event.seq,
            kind=event.kind.value,
            actor=event.actor.label,
            at=moment(event.recorded_at),
            cause=event.cause,
            opened=tuple(_version(each) for each in opened),
            closed=tuple(_version(each) for each in closed),
            difference=difference(was, now) if was and now else (),
        )
