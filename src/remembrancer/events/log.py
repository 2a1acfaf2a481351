"""The append-only log and its hash chain.

A `Journal` is one write's hold on the person's head row: locked first, written back last, so that
sequence numbers are gapless and in commit order and two writes of one person never interleave.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, bindparam, insert, select, update

from remembrancer.clock import Instant
from remembrancer.db.backend import nobody
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.events.kinds import Kind, Payload, read_payload
from remembrancer.events.tables import events, head
from remembrancer.scope import Actor, ActorKind

GENESIS: Final = b"\0" * 32
"""The hash before a person's first event."""

LAST_SEQ: Final = 2**63 - 1
"""The highest number that a store can hold."""

_LOCK: Final = select(head).where(head.c.user_id == OWNER).with_for_update()
_READ_HEAD: Final = select(head).where(head.c.user_id == OWNER)
_NEW_HEAD: Final = insert(head)
_MOVE: Final = (
    update(head)
    .where(head.c.user_id == OWNER)
    .values(
        event_seq=bindparam("to_seq"),
        event_hash=bindparam("to_hash"),
        index_seq=bindparam("to_index"),
        last_recorded_at=bindparam("to_recorded"),
    )
)
_APPEND: Final = insert(events)
_EVENT: Final = select(events).where(events.c.user_id == OWNER, events.c.seq == bindparam("at"))
_AFTER: Final = (
    select(events)
    .where(events.c.user_id == OWNER, events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(bindparam("most"))
)
_OF_SUBJECT: Final = (
    select(events)
    .where(events.c.user_id == OWNER, events.c.subject_id == bindparam("subject"))
    .order_by(events.c.seq)
)
_LATEST: Final = (
    select(events)
    .where(events.c.user_id == OWNER, events.c.seq < bindparam("before"))
    .order_by(events.c.seq.desc())
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log."""

    seq: int
    kind: Kind
    actor: Actor
    subject_id: UUID | None
    revision: int | None
    cause: str | None
    recorded_at: Instant
    payload: Payload


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where and when an event stands; what it opens is recorded from `recorded_at`."""

    seq: int
    recorded_at: Instant


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a person's log. `event_hash` is of the last event, 32 bytes."""

    event_seq: int
    event_hash: bytes
    index_seq: int
    last_recorded_at: Instant


def chain(previous: bytes, user_id: UUID, columns: dict[str, Any]) -> bytes:
    """SHA-256 over the previous hash and the canonical JSON of everything in the line."""
    fields = [
        str(user_id),
        columns["seq"],
        columns["kind"],
        columns["actor_kind"],
        columns["actor_name"],
        columns["surface"],
        None if columns["subject_id"] is None else str(columns["subject_id"]),
        columns["revision"],
        columns["cause"],
        columns["recorded_at"],
        columns["payload"],
    ]
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(previous + line.encode("utf-8", "surrogatepass")).digest()


def begin(unit: Unit) -> None:
    """Give a new person their head row. A write of somebody without one is refused."""
    unit.insert(_NEW_HEAD, event_seq=0, event_hash=GENESIS, index_seq=0, last_recorded_at=0)


class Journal:
    """A write's hold on the log. Made by `journal(unit)`."""

    __slots__ = ("_before", "_changed", "_hash", "_index_seq", "_recorded_at", "_seq", "unit")

    def __init__(self, unit: Unit) -> None:
        row = unit.first(_LOCK)
        if row is None:
            raise nobody()
        self.unit = unit
        self._seq: int = row.event_seq
        self._hash: bytes = row.event_hash
        self._index_seq: int = row.index_seq
        self._recorded_at: Instant = row.last_recorded_at
        self._changed = False
        self._before = self._seq

    @property
    def next_recorded_at(self) -> Instant:
        """When the next event will be recorded: never before, nor at, the last one."""
        return max(self.unit.now, self._recorded_at + 1)

    def append(
        self,
        kind: Kind,
        actor: Actor,
        payload: Payload,
        *,
        subject: UUID | None = None,
        revision: int | None = None,
        cause: str | None = None,
    ) -> Stamp:
        """Write one line. What it speaks of is written after it (foreign keys point here)."""
        recorded_at = self.next_recorded_at
        columns: dict[str, Any] = {
            "seq": self._seq + 1,
            "kind": kind.value,
            "actor_kind": actor.kind.value,
            "actor_name": actor.name,
            "surface": actor.surface,
            "subject_id": subject,
            "revision": revision,
            "cause": cause,
            "recorded_at": recorded_at,
            "payload": payload.write(),
        }
        digest = chain(self._hash, self.unit.scope.user_id, columns)
        self.unit.insert(_APPEND, **columns, hash=digest)
        self._seq, self._hash, self._recorded_at = self._seq + 1, digest, recorded_at
        return Stamp(self._seq, recorded_at)

    def touch_index(self) -> int:
        """The sequence number that rows recall can see carry, moved once a unit."""
        if not self._changed:
            self._changed = True
            self._index_seq += 1
        return self._index_seq

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """A savepoint: an exception inside undoes its statements and its lines, and passes on."""
        before = (self._seq, self._hash, self._recorded_at)
        try:
            with self.unit.connection.begin_nested():
                yield
        except BaseException:
            self._seq, self._hash, self._recorded_at = before
            raise

    def close(self) -> None:
        """Write the head row back, if anything was written."""
        if self._seq == self._before and not self._changed:
            return
        self.unit.run(
            _MOVE,
            to_seq=self._seq,
            to_hash=self._hash,
            to_index=self._index_seq,
            to_recorded=self._recorded_at,
        )


@contextmanager
def journal(unit: Unit) -> Iterator[Journal]:
    """Lock the head, do the work, write the head back."""
    held = Journal(unit)
    yield held
    held.close()


def read_head(unit: Unit) -> Head:
    """The head row; zeros for a person who is gone."""
    row = unit.first(_READ_HEAD)
    if row is None:
        return Head(0, GENESIS, 0, 0)
    return Head(row.event_seq, row.event_hash, row.index_seq, row.last_recorded_at)


def _event(row: Row[Any]) -> Event:
    return Event(
        seq=row.seq,
        kind=Kind(row.kind),
        actor=Actor(ActorKind(row.actor_kind), row.actor_name, row.surface),
        subject_id=row.subject_id,
        revision=row.revision,
        cause=row.cause,
        recorded_at=row.recorded_at,
        payload=read_payload(row.payload),
    )


def get(unit: Unit, seq: int) -> Event | None:
    """One event by its sequence number."""
    row = unit.first(_EVENT, at=seq)
    return None if row is None else _event(row)


def after(unit: Unit, seq: int, *, limit: int = 500) -> list[Event]:
    """Events after `seq`, in order."""
    return [_event(row) for row in unit.all(_AFTER, after=seq, most=limit)]


def latest(unit: Unit, *, before: int = 2**62, limit: int = 100) -> list[Event]:
    """Newest first."""
    return [_event(row) for row in unit.all(_LATEST, before=before, most=limit)]


def about(unit: Unit, subject: UUID) -> list[Event]:
    """Everything that happened to one subject, in order."""
    return [_event(row) for row in unit.all(_OF_SUBJECT, subject=subject)]


def broken_at(unit: Unit) -> int | None:
    """Walk the chain: the first sequence number that doesn't hold, None when whole.

    A head that doesn't match the last line is reported as the number after it.
    """
    previous, expected, seq = GENESIS, 1, 0
    while True:
        rows = unit.all(_AFTER, after=seq, most=500)
        for row in rows:
            columns = dict(row._mapping)
            if row.seq != expected or chain(previous, row.user_id, columns) != row.hash:
                return expected
            previous, expected, seq = row.hash, expected + 1, row.seq
        if not rows:
            break
    now = read_head(unit)
    return None if (now.event_seq, now.event_hash) == (seq, previous) else expected
