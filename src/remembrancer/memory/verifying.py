"""Proving the record: the chain holds, the log rebuilds every skeleton, live words open their
commitments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, Select, bindparam, select
from sqlalchemy.exc import OperationalError

from remembrancer.clock import MAX, Instant
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.events import log
from remembrancer.events.kinds import Kind, Opened
from remembrancer.events.log import Event
from remembrancer.memory.tables import memories, texts, versions
from remembrancer.text.digest import commitment
from remembrancer.text.normalise import fingerprint
from remembrancer.tombstones.tables import tombstones

_VERSIONS: Final = select(versions).where(versions.c.user_id == OWNER)
_TEXTS: Final = select(texts).where(texts.c.user_id == OWNER)
_MEMORIES: Final = select(
    memories.c.id, memories.c.revision, memories.c.created_by, memories.c.forgotten_seq
).where(memories.c.user_id == OWNER)
_STONES: Final = select(tombstones.c.id, tombstones.c.lifted_seq).where(
    tombstones.c.user_id == OWNER
)
_TEXT_IDS: Final = select(texts.c.id).where(texts.c.user_id == OWNER)
_ONE_TEXT: Final = _TEXTS.where(texts.c.id == bindparam("text_id"))
_SHOWN: Final = 20
_UNREADABLE: Final = (AttributeError, KeyError, OverflowError, TypeError, ValueError)
"""What reading and comparing rows that hold anything at all may raise."""


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
    """The state the log rebuilds: version skeletons, each memory's revision, its maker's label and
    the events that forgot something of it, and the tombstones there are: lifted or not."""

    versions: Mapping[UUID, Skeleton]
    revisions: Mapping[UUID, int]
    events: int
    makers: Mapping[UUID, str] = field(default_factory=dict)
    forgotten: Mapping[UUID, frozenset[int]] = field(default_factory=dict)
    tombstones: Mapping[UUID, bool] = field(default_factory=dict)


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
    makers: dict[UUID, str] = {}
    forgotten: dict[UUID, frozenset[int]] = {}
    stones: dict[UUID, bool] = {}
    seq = 0
    while page := log.after(unit, seq):
        for event in page:
            _fold_versions(event, found)
            stones |= dict.fromkeys(event.payload.made, False)
            stones |= dict.fromkeys(event.payload.lifted, True)
            if event.revision is not None and event.subject_id is not None:
                revisions[event.subject_id] = event.revision
                makers.setdefault(event.subject_id, event.actor.label)
            if event.kind is Kind.MEMORY_FORGOTTEN and event.subject_id is not None:
                before = forgotten.get(event.subject_id, frozenset())
                forgotten[event.subject_id] = before | {event.seq}
        seq = page[-1].seq
    return Replayed(found, revisions, seq, makers, forgotten, stones)


def _fold_versions(event: Event, found: dict[UUID, Skeleton]) -> None:
    for version_id in event.payload.closed:
        old = found[version_id]
        found[version_id] = Skeleton(
            old.opened, old.recorded_from, event.recorded_at, old.opened_seq, event.seq
        )
    for opened in event.payload.opened:
        found[opened.version] = Skeleton(opened, event.recorded_at, MAX, event.seq, None)


class _Reading:
    """What damaged rows raise inside is damage of that part, told without its words."""

    def __init__(self, part: str, damage: list[str]) -> None:
        self._part, self._damage = part, damage

    def __enter__(self) -> None:
        """Nothing is opened."""

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> bool:
        if isinstance(error, OperationalError):
            if "could not decode" not in str(error.orig).lower():
                return False
            self._damage.append(f"{self._part} can't be read: some text is damaged.")
            return True
        if not isinstance(error, _UNREADABLE):
            return False
        self._damage.append(f"{self._part} can't be read: {type(error).__name__}.")
        return True


def verify(unit: Unit) -> Report:
    """Check everything of one person's. Damage is named, never mended nor quoted."""
    damage: list[str] = []
    with _Reading("The log's chain", damage):
        broken = log.broken_at(unit)
        if broken is not None:
            damage.append(f"The log does not hold from event {broken} on.")
    stored = _rows(unit, _VERSIONS, "The table of versions", damage)
    words = _stored_texts(unit, damage)
    rebuilt: Replayed | None = None
    with _Reading("The log", damage):
        rebuilt = replay(unit)
    if rebuilt is not None:
        _against_log(unit, rebuilt, stored, words, damage)
    damage += _words(words or {})
    last = ""
    with _Reading("The head of the log", damage):
        last = log.read_head(unit).event_hash.hex()
    return Report(
        events=0 if rebuilt is None else rebuilt.events,
        versions=len(stored or {}),
        texts=len(words or {}),
        last_hash=last,
        damage=_shown(damage),
    )


def _rows(
    unit: Unit, statement: Select[Any], part: str, damage: list[str]
) -> dict[UUID, Row[Any]] | None:
    """The rows by id; None, and damage, when they can't be read."""
    with _Reading(part, damage):
        return {row.id: row for row in unit.all(statement)}
    return None


def _stored_texts(unit: Unit, damage: list[str]) -> dict[UUID, Row[Any]] | None:
    """Every text that can be read; each that can't is named."""
    unread: list[str] = []
    found = _rows(unit, _TEXTS, "The table of texts", unread)
    if found is not None:
        return found
    with _Reading("The table of texts", damage):
        found = {}
        for row in unit.all(_TEXT_IDS):
            with _Reading(f"Text {row.id}", damage):
                one = unit.first(_ONE_TEXT, text_id=row.id)
                if one is not None:
                    found[row.id] = one
    return found


def _against_log(
    unit: Unit,
    rebuilt: Replayed,
    stored: Mapping[UUID, Row[Any]] | None,
    words: Mapping[UUID, Row[Any]] | None,
    damage: list[str],
) -> None:
    """Compare each table that can be read with what the log rebuilds."""
    known = _rows(unit, _MEMORIES, "The table of memories", damage)
    stones = _rows(unit, _STONES, "The table of tombstones", damage)
    checks: list[tuple[str, Callable[[], Sequence[str]]]] = []
    if stored is not None and words is not None:
        checks.append(("The table of versions", lambda: _compare(rebuilt, stored, words)))
        checks.append(("The table of texts", lambda: _missing_words(rebuilt, stored, words)))
    if known is not None:
        checks.append(("The table of memories", lambda: _identities(rebuilt, known)))
    if known is not None and stored is not None and words is not None:
        checks.append(
            ("The table of memories", lambda: _unforgotten(rebuilt, known, stored, words))
        )
    if stones is not None:
        checks.append(("The table of tombstones", lambda: _tombstones(rebuilt, stones)))
    for part, check in checks:
        with _Reading(part, damage):
            damage += check()


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


def _missing_words(
    rebuilt: Replayed, stored: Mapping[UUID, Row[Any]], words: Mapping[UUID, Row[Any]]
) -> list[str]:
    """Words are gone by forgetting only, and never from a version that is believed."""
    gone = {
        row.text_id
        for row in stored.values()
        if (text := words.get(row.text_id)) is not None
        and text.text is None
        and (row.recorded_to == MAX or row.memory_id not in rebuilt.forgotten)
    }
    return [f"Text {each} has lost its words, and nothing forgot them." for each in sorted(gone)]


def _identities(rebuilt: Replayed, known: Mapping[UUID, Row[Any]]) -> list[str]:
    damage = [
        f"Memory {each} stands in the log but not in the tables."
        for each in rebuilt.makers.keys() & {s.opened.memory for s in rebuilt.versions.values()}
        if each not in known
    ]
    for each, row in known.items():
        said = rebuilt.revisions.get(each)
        if row.revision != said:
            damage.append(f"Memory {each} is at version {row.revision}, the log says {said}.")
        if each in rebuilt.makers and row.created_by != rebuilt.makers[each]:
            damage.append(f"Memory {each} names another maker than the log.")
        if row.forgotten_seq is not None and row.forgotten_seq not in rebuilt.forgotten.get(
            each, frozenset()
        ):
            damage.append(f"Memory {each} is marked forgotten, but the log doesn't say so.")
    return damage


def _unforgotten(
    rebuilt: Replayed,
    known: Mapping[UUID, Row[Any]],
    stored: Mapping[UUID, Row[Any]],
    words: Mapping[UUID, Row[Any]],
) -> list[str]:
    """A memory with nothing left to say is marked forgotten; a twin that keeps words is not."""
    saying = {
        row.memory_id
        for row in stored.values()
        if (text := words.get(row.text_id)) is None or text.text is not None
    }
    return [
        f"Memory {each} was forgotten, but is not marked so."
        for each, row in known.items()
        if row.forgotten_seq is None and each in rebuilt.forgotten and each not in saying
    ]


def _tombstones(rebuilt: Replayed, stones: Mapping[UUID, Row[Any]]) -> list[str]:
    damage = [
        f"Tombstone {each} stands in the tables but not in the log."
        for each in stones.keys() - rebuilt.tombstones.keys()
    ]
    for each, lifted in rebuilt.tombstones.items():
        row = stones.get(each)
        if row is None:
            damage.append(f"Tombstone {each} stands in the log but not in the tables.")
        elif (row.lifted_seq is not None) != lifted:
            said = "lifted" if lifted else "in force"
            damage.append(f"Tombstone {each} is {said} by the log, but not in the tables.")
    return damage


def _words(words: Mapping[UUID, Row[Any]]) -> list[str]:
    damage: list[str] = []
    for text_id, row in words.items():
        if row.text is None:
            continue
        with _Reading(f"Text {text_id}", damage):
            if commitment(row.salt, row.text) != row.commitment:
                damage.append(f"Text {text_id} is not what was committed to.")
            elif fingerprint(row.text) != row.fingerprint:
                damage.append(f"Text {text_id} has another fingerprint than its words.")
    return damage
