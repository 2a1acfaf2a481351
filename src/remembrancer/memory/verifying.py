"""Proving the record: the chain holds, the log rebuilds every skeleton, live words open their
commitments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select

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
        damage=tuple(damage[:_SHOWN]),
    )


def _compare(
    rebuilt: Replayed, stored: Mapping[UUID, object], words: Mapping[UUID, object]
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


def _of_row(row: object, words: Mapping[UUID, object]) -> Skeleton:
    get = row._mapping.__getitem__  # type: ignore[attr-defined]
    text = words.get(get("text_id"))
    opened = Opened(
        version=get("id"),
        memory=get("memory_id"),
        text=get("text_id"),
        type=get("type"),
        path=get("path_id"),
        space=get("space_id"),
        trust=get("trust"),
        valid_from=get("valid_from"),
        valid_to=get("valid_to"),
        commitment="" if text is None else text.commitment.hex(),  # type: ignore[attr-defined]
    )
    return Skeleton(
        opened, get("recorded_from"), get("recorded_to"), get("opened_seq"), get("closed_seq")
    )


def _revisions(rebuilt: Replayed, stored: Mapping[UUID, int]) -> list[str]:
    return [
        f"Memory {each} is at version {revision}, the log says {rebuilt.revisions.get(each)}."
        for each, revision in stored.items()
        if rebuilt.revisions.get(each) != revision
    ]


def _words(words: Mapping[UUID, object]) -> list[str]:
    damage = []
    for text_id, row in words.items():
        get = row._mapping.__getitem__  # type: ignore[attr-defined]
        if get("text") is None:
            continue
        if commitment(get("salt"), get("text")) != get("commitment"):
            damage.append(f"Text {text_id} is not what was committed to.")
        elif fingerprint(get("text")) != get("fingerprint"):
            damage.append(f"Text {text_id} has another fingerprint than its words.")
    return damage
