"""Proving the record: the chain holds, the log rebuilds every skeleton, live words open their
commitments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, select

from remembrancer.clock import MAX, Instant
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.events import log
from remembrancer.events.kinds import Opened
from remembrancer.memory.tables import memories, texts, versions
from remembrancer.text.digest import commitment
from remembrancer.text.normalise import fingerprint

_VERSIONS: Final = select(versions).where(versions.c.user_id == OWNER)
_TEXTS: Final = select(texts).where(texts.c.user_id == OWNER)
_REVISIONS: Final = select(memories.c.id, memories.c.revision).where(memories.c.user_id == OWNER)
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A version without its words, as the log alone rebuilds it."""

    opened: Opened
    recorded_from: Instant
    recorded_to: Instant
    opened_seq: int
    closed_seq: int | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """The state the log rebuilds: version skeletons, and each memory's revision."""

    versions: Mapping[UUID, Skeleton]
    revisions: Mapping[UUID, int]
    events: int


@dataclass(frozen=True, slots=True)
class Report:
    """What `verify` found. `damage` is empty when the record is whole."""

    events: int
    versions: int
    texts: int
    last_hash: str
    damage: tuple[str, ...]


def replay(unit: Unit) -> Replayed:
    """Fold the whole log into skeletons."""
    found: dict[UUID, Skeleton] = {}
    revisions: dict[UUID, int] = {}
    seq = 0
    while page := log.after(unit, seq):
        for event in page:
            for version_id in event.payload.closed:
                old = found[version_id]
                found[version_id] = Skeleton(
                    old.opened, old.recorded_from, event.recorded_at, old.opened_seq, event.seq
                )
            for opened in event.payload.opened:
                found[opened.version] = Skeleton(opened, event.recorded_at, MAX, event.seq, None)
            if event.revision is not None and event.subject_id is not None:
                revisions[event.subject_id] = event.revision
        seq = page[-1].seq
    return Replayed(found, revisions, seq)


def verify(unit: Unit) -> Report:
    """Check everything of one person's. Damage is named, never mended."""
    damage: list[str] = []
    broken = log.broken_at(unit)
    if broken is not None:
        damage.append(f"The log does not hold from event {broken} on.")
    stored = {row.id: row for row in unit.all(_VERSIONS)}
    words = {row.id: row for row in unit.all(_TEXTS)}
    try:
        rebuilt = replay(unit)
    except (KeyError, ValueError, TypeError) as error:
        damage.append(f"The log can't be replayed: {type(error).__name__} {error}.")
        rebuilt = Replayed({}, {}, 0)
    else:
        damage += _compare(rebuilt, stored, words)
        damage += _revisions(rebuilt, {row.id: row.revision for row in unit.all(_REVISIONS)})
    damage += _words(words)
    head = log.read_head(unit)
    return Report(
        events=rebuilt.events,
        versions=len(stored),
        texts=len(words),
        last_hash=head.event_hash.hex(),
        damage=_shown(damage),
    )


def _shown(damage: list[str]) -> tuple[str, ...]:
    """The first of it, and how much more there is."""
    left = len(damage) - _SHOWN
    return tuple(damage) if left <= 0 else (*damage[:_SHOWN], f"And {left} more.")


def _compare(
    rebuilt: Replayed, stored: Mapping[UUID, Row[Any]], words: Mapping[UUID, Row[Any]]
) -> list[str]:
    damage = [
        f"Version {each} stands in the tables but not in the log."
        for each in stored.keys() - rebuilt.versions.keys()
    ]
    for version_id, skeleton in rebuilt.versions.items():
        row = stored.get(version_id)
        if row is None:
            damage.append(f"Version {version_id} stands in the log but not in the tables.")
        elif _of_row(row, words) != skeleton:
            damage.append(f"Version {version_id} differs from what the log says.")
    return damage


def _of_row(row: Row[Any], words: Mapping[UUID, Row[Any]]) -> Skeleton:
    text = words.get(row.text_id)
    opened = Opened(
        version=row.id,
        memory=row.memory_id,
        text=row.text_id,
        type=row.type,
        path=row.path_id,
        space=row.space_id,
        trust=row.trust,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        commitment="" if text is None else text.commitment.hex(),
    )
    return Skeleton(opened, row.recorded_from, row.recorded_to, row.opened_seq, row.closed_seq)


def _revisions(rebuilt: Replayed, stored: Mapping[UUID, int]) -> list[str]:
    return [
        f"Memory {each} is at version {revision}, the log says {rebuilt.revisions.get(each)}."
        for each, revision in stored.items()
        if rebuilt.revisions.get(each) != revision
    ]


def _words(words: Mapping[UUID, Row[Any]]) -> list[str]:
    damage = []
    for text_id, row in words.items():
        if row.text is None:
            continue
        if commitment(row.salt, row.text) != row.commitment:
            damage.append(f"Text {text_id} is not what was committed to.")
        elif fingerprint(row.text) != row.fingerprint:
            damage.append(f"Text {text_id} has another fingerprint than its words.")
    return damage
