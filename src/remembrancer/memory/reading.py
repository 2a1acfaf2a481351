"""Seeing the record: one memory, lists, history, differences, and any of it as of other times."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Final
from uuid import UUID

from remembrancer.clock import MAX, Instant, to_datetime
from remembrancer.db.units import Unit
from remembrancer.errors import InvalidInputError
from remembrancer.events import log
from remembrancer.events.log import Event
from remembrancer.index import repository as index_rows
from remembrancer.memory import repository
from remembrancer.memory.models import Change, Filter, History, Memory, Trust, Version
from remembrancer.memory.repository import Identity, Standing
from remembrancer.scope import SpaceChoice
from remembrancer.text.normalise import normalise
from remembrancer.text.paths import clean_path

SHOWN: Final = frozenset({Trust.CANDIDATE, Trust.ACTIVE, Trust.CONFIRMED, Trust.DISPUTED})
"""What a list holds unless it is asked for other states."""


def _moment(instant: Instant) -> datetime:
    moment = to_datetime(instant)
    assert moment is not None
    return moment


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
        recorded_from=_moment(standing.rectangle.recorded_from),
        created_at=_moment(found.created_at),
        changed_at=_moment(found.changed_at),
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
    space: int | None = None,
) -> Memory | None:
    """A memory as of two times; None when it said nothing then. `NotFoundError` when unknown."""
    found = repository.identity(unit, memory_id)
    known = repository.believed_at(unit, memory_id, _known(known_at))
    chosen = _representative(known, unit.now, valid_at)
    if chosen is None:
        return None
    return _memory(found, chosen, pending=_pending(unit, space, [chosen.text_id]) != set())


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


def _pending(unit: Unit, space: int | None, text_ids: list[UUID]) -> set[UUID]:
    if space is None:
        return set(text_ids)
    return set(index_rows.missing(unit, space, text_ids))


def list_memories(unit: Unit, wanted: Filter, *, space: int | None = None) -> list[Memory]:
    """Memories of the unit's scope, oldest first, one entry each, as of the asked times."""
    wanted = _checked(wanted)
    known = _known(wanted.known_at)
    rows = repository.identities(unit)
    chosen = []
    for memory_id, standing in groupby(
        repository.known(unit, known), key=lambda each: each.memory_id
    ):
        best = _representative(list(standing), unit.now, wanted.valid_at)
        if best is not None and _accepts(unit, wanted, best, rows[memory_id]):
            chosen.append(best)
    chosen.sort(key=lambda each: (rows[each.memory_id].created_at, each.memory_id))
    page = chosen[wanted.offset : wanted.offset + wanted.limit]
    pending = _pending(unit, space, [each.text_id for each in page])
    return [_memory(rows[each.memory_id], each, pending=each.text_id in pending) for each in page]


def _checked(wanted: Filter) -> Filter:
    """The filter with its path as paths are stored; `InvalidInputError` for a negative page."""
    for field, value in (("limit", wanted.limit), ("offset", wanted.offset)):
        if value < 0:
            raise InvalidInputError(f"{field} is {value}.", field=field, value=value, limit=">= 0")
    return replace(wanted, path=clean_path(wanted.path))


def _accepts(unit: Unit, wanted: Filter, each: Standing, found: Identity) -> bool:
    checks: tuple[Callable[[], bool], ...] = (
        lambda: in_scope(unit, each.space_id),
        lambda: each.trust in (wanted.trusts or SHOWN),
        lambda: not wanted.types or each.type in wanted.types,
        lambda: not wanted.path or under(each.path, wanted.path),
        lambda: holds(found.meta, wanted.meta),
        lambda: not wanted.contains or contains(each.content or "", wanted.contains),
    )
    return all(check() for check in checks)


def in_scope(unit: Unit, space_id: UUID | None) -> bool:
    """Whether something of that space is seen from the unit's scope (S7)."""
    looked_at = unit.scope.space
    return looked_at is SpaceChoice.ALL or space_id is None or space_id == looked_at


def under(path: str, parent: str) -> bool:
    """Whether `path` is `parent` or below it, by whole segments."""
    return path == parent or path.startswith(parent + "/")


def holds(meta: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    """Whether `meta` has every wanted entry; as in JSON, what is absent isn't null, nor 1 true."""
    return all(
        name in meta
        and meta[name] == value
        and isinstance(meta[name], bool) == isinstance(value, bool)
        for name, value in wanted.items()
    )


def contains(content: str, words: str) -> bool:
    """Whether the content holds the words, after normalisation."""
    return normalise(words) in normalise(content)


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
        recorded_from=_moment(each.rectangle.recorded_from),
        recorded_to=to_datetime(each.rectangle.recorded_to),
    )


def history(unit: Unit, memory_id: UUID) -> History:
    """Everything that happened to a memory; a forgotten one shows its skeleton.

    Raises `NotFoundError` for an id this person has no memory of.
    """
    found = repository.find_identity(unit, memory_id)
    if found is None:
        repository.identity(unit, memory_id)
        raise AssertionError
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
            actor=f"{event.actor.kind.value}:{event.actor.name}",
            at=_moment(event.recorded_at),
            cause=event.cause,
            opened=tuple(_version(each) for each in opened),
            closed=tuple(_version(each) for each in closed),
            difference=difference(was, now) if was and now else (),
        )
