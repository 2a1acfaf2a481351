"""The personal indexes in memory: loaded once, kept true, bounded.

A view follows `head.index_seq` alone: each call compares it first and applies what is missing, so
that it sees its own writes and other processes'. Calls block; they belong on a database thread.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from uuid import UUID

from remembrancer.clock import SECOND, Instant
from remembrancer.db.units import Unit
from remembrancer.events.log import read_head
from remembrancer.index import repository
from remembrancer.index.builder import ViewBuilder
from remembrancer.index.changes import Changes
from remembrancer.index.view import View

_Key: TypeAlias = tuple[UUID, int | None]

_FROM_THE_START: Final = -1
_LONGEST_UNIT: Final = 10 * SECOND
"""A unit opened this long after a newer one was seen can't be on an older snapshot."""


@dataclass(frozen=True, slots=True)
class Source:
    """A domain whose rows the index holds."""

    changes: Callable[[Unit, int], Changes]
    """Everything of the domain with `changed_at_seq` above a number."""
    count: Callable[[Unit], int] | None = None
    """How many rows it has in all: texts, versions and messages together. Rows can't announce that
    they were deleted: when the index knows of more than there are, it is loaded anew, so a count of
    fewer kinds would load it at every change. None: it never deletes any."""


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What is in memory, and what happened since the start."""

    entries: int
    nbytes: int
    loads: int
    applications: int
    evictions: int


@dataclass(slots=True)
class _Counts:
    loads: int = 0
    applications: int = 0
    evictions: int = 0


@dataclass(slots=True, eq=False)
class _Entry:
    """One person in one embedding space. `lock` is held while its state is brought forward."""

    used_at: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    builder: ViewBuilder | None = None
    known: list[int] = field(default_factory=list)
    view: View | None = None
    moved_at: Instant = 0
    """The clock of the unit that last moved it."""

    def current(self, unit: Unit, seq: int) -> View | None:
        """The view, if it holds what a unit that reads `seq` can see.

        A newer one will do. But a log that stands behind it for long is a restored one.
        """
        view = self.view
        if view is None or view.seq < seq:
            return None
        restored = view.seq > seq and unit.now > self.moved_at + _LONGEST_UNIT
        return None if restored else view


class PersonalIndexes:
    """Views of everybody's, in a cache of bounded size. Safe to use from any thread.

    The least recently used leave when there are more than `budget_bytes` (the one just asked for
    stays, whatever its size), and so does what nobody asked for in `idle_seconds`; both are looked
    at on each call. The bytes of what was forgotten may stay in memory, unreachable, until then or
    until `drop`.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        budget_bytes: int,
        idle_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = tuple(sources)
        self._budget = budget_bytes
        self._idle = idle_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._counts = _Counts()

    def view(self, unit: Unit, embedding_space: int | None) -> View:
        """The person's index at the unit's `head.index_seq` or later, with one space's vectors.

        For a read unit only (`RuntimeError`): what a write unit sees may still be undone. Waiting
        callers share one load. Raises `DamageFoundError` for terms or vectors that can't be read.
        """
        if unit.writable:
            raise RuntimeError("The personal index is read in a read unit.")
        key = (unit.scope.user_id, embedding_space)
        entry = self._entry(key)
        seq = read_head(unit).index_seq
        view = entry.current(unit, seq)
        if view is None:
            with entry.lock:
                view = entry.current(unit, seq) or self._follow(entry, unit, embedding_space, seq)
            self._shrink(key)
        return view

    def drop(self, user_id: UUID) -> None:
        """Let go of everything of this person's: after a restore, an erasure, a forget."""
        with self._lock:
            for key in [key for key in self._entries if key[0] == user_id]:
                del self._entries[key]

    def stats(self) -> IndexStats:
        """Totals; no person is named."""
        with self._lock:
            return IndexStats(
                len(self._entries),
                self._nbytes(),
                self._counts.loads,
                self._counts.applications,
                self._counts.evictions,
            )

    def _entry(self, key: _Key) -> _Entry:
        now = self._monotonic()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(now)
            entry.used_at = now
            self._entries.move_to_end(key)
            idle = [k for k, e in self._entries.items() if now - e.used_at > self._idle]
            self._evict(idle)
            return entry

    def _shrink(self, newest: _Key) -> None:
        with self._lock:
            total, leaving = self._nbytes(), []
            for key, entry in self._entries.items():
                if total <= self._budget:
                    break
                if key != newest and entry.view is not None:
                    leaving.append(key)
                    total -= entry.view.nbytes
            self._evict(leaving)

    def _evict(self, keys: Sequence[_Key]) -> None:
        for key in keys:
            del self._entries[key]
        self._counts.evictions += len(keys)

    def _nbytes(self) -> int:
        return sum(entry.view.nbytes for entry in self._entries.values() if entry.view is not None)

    def _follow(self, entry: _Entry, unit: Unit, space: int | None, seq: int) -> View:
        """Bring the entry to `seq`; a failure leaves it empty, to be loaded by the next call."""
        view, builder, entry.builder = entry.view, entry.builder, None
        if view is not None and builder is not None and view.seq < seq:
            self._apply(builder, entry.known, unit, space, view.seq)
            if self._is_whole(builder, entry.known, unit):
                return self._settle(entry, builder, unit, seq)
        entry.view = None
        builder, entry.known = ViewBuilder(), [0] * len(self._sources)
        self._apply(builder, entry.known, unit, space, _FROM_THE_START)
        return self._settle(entry, builder, unit, seq)

    def _settle(self, entry: _Entry, builder: ViewBuilder, unit: Unit, seq: int) -> View:
        entry.builder, entry.moved_at = builder, unit.now
        entry.view = builder.freeze(seq)
        return entry.view

    def _apply(
        self, builder: ViewBuilder, known: list[int], unit: Unit, space: int | None, after: int
    ) -> None:
        touched: list[UUID] = []
        for place, source in enumerate(self._sources):
            applied = builder.apply(source.changes(unit, after))
            known[place] += applied.rows
            touched += applied.touched
        if space is not None:
            for ids, blobs in repository.changed_vectors(unit, space, after):
                builder.put_vectors(ids, blobs)
            if touched:
                rows = repository.vectors_of(unit, space, touched)
                builder.renew_vectors(touched, {row.document_id: row.vector for row in rows})
        self._count(first=after == _FROM_THE_START)

    def _is_whole(self, builder: ViewBuilder, known: Sequence[int], unit: Unit) -> bool:
        """Nothing the index knows was deleted, and little of it is garbage."""
        if builder.wasteful:
            return False
        return all(
            source.count is None or source.count(unit) >= rows
            for source, rows in zip(self._sources, known, strict=True)
        )

    def _count(self, *, first: bool) -> None:
        with self._lock:
            if first:
                self._counts.loads += 1
            else:
                self._counts.applications += 1
