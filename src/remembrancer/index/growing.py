"""Arrays that grow while snapshots of them stand: columns, names as ordinals, ids as places. Pure.

One writer owns each of these and calls one at a time. What `freeze` gave out never changes: an
append writes behind its end, a change in place copies the column first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array: TypeAlias = NDArray[Any]
Keys: TypeAlias = NDArray[np.bytes_]
"""Ids as S16, shape (n,): they compare and sort as their 16 bytes do."""
Places: TypeAlias = NDArray[np.int32]

ABSENT: Final = -1
ID_BYTES: Final = 16
_ROOM: Final = 8
"""A full column grows by an eighth, a trade of memory against copying."""
_RECENT: Final = 1024
_NAME_BYTES: Final = 120
"""About what a short string and its dictionary entry take."""

K = TypeVar("K", bound=Hashable)


def keys_of(ids: Iterable[UUID | bytes]) -> Keys:
    """The ids as S16, in their order."""
    every = list(ids)
    raw = [each for each in every if isinstance(each, bytes)]
    if len(raw) < len(every):
        raw = [each if isinstance(each, bytes) else each.bytes for each in every]
    return np.frombuffer(b"".join(raw), dtype="S16")


def raw_of(keys: Keys) -> NDArray[np.uint8]:
    """The ids as uint8, shape (n, 16)."""
    return keys.view(np.uint8).reshape(-1, ID_BYTES)


def uuids_of(keys: Keys) -> list[UUID]:
    """The ids as UUIDs, in their order."""
    return [UUID(bytes=each.tobytes()) for each in raw_of(keys)]


def only_uuids(ids: Sequence[UUID | bytes | None]) -> list[UUID | None]:
    """The ids of a column that holds few different ones."""
    made = {each: UUID(bytes=each) for each in set(ids) if isinstance(each, bytes)}
    return [made[each] if isinstance(each, bytes) else each for each in ids]


class Column:
    """One growing array, of shape (n,) or, given a width, (n, width)."""

    __slots__ = ("_buffer", "_frozen", "_size")

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._buffer: Array = np.empty((0,) if width is None else (0, width), dtype)
        self._size = 0
        self._frozen = False

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes

    @property
    def values(self) -> Array:
        """What is in it now, for reading."""
        return self._buffer[: self._size]

    def reserve(self, room: int) -> None:
        """Room for so many in all, before they come one batch after another."""
        if room > len(self._buffer):
            self._move(room)

    def append(self, values: Array) -> None:
        """Add `values` at the end."""
        end = self._size + len(values)
        if end > len(self._buffer):
            self._move(end + end // _ROOM if self._size else end)
        self._buffer[self._size : end] = values
        self._size = end

    def put(self, places: Array, values: ArrayLike) -> None:
        """Set `values` at `places`; a snapshot given out keeps the old ones."""
        if self._frozen:
            self._move(len(self._buffer))
        self._buffer[places] = values

    def freeze(self) -> Array:
        """A read-only snapshot that no later call changes."""
        self._frozen = True
        snapshot = self.values
        snapshot.flags.writeable = False
        return snapshot

    def _move(self, room: int) -> None:
        moved: Array = np.empty((room, *self._buffer.shape[1:]), self._buffer.dtype)
        moved[: self._size] = self.values
        self._buffer, self._frozen = moved, False


class Names(Generic[K]):
    """Ordinals for names, in order of arrival; nothing is ever taken out."""

    __slots__ = ("_frozen", "_ordinals")

    def __init__(self) -> None:
        self._ordinals: dict[K, int] = {}
        self._frozen: tuple[K, ...] = ()

    @property
    def nbytes(self) -> int:
        return _NAME_BYTES * len(self._ordinals)

    def ordinals(self, names: Sequence[K | None]) -> Places:
        """int32, shape (len(names),); -1 for None and for an empty name."""
        found = {name: self._ordinal(name) if name else ABSENT for name in dict.fromkeys(names)}
        return np.array([found[name] for name in names], dtype=np.int32)

    def freeze(self) -> tuple[K, ...]:
        """The names by their ordinals."""
        if len(self._frozen) != len(self._ordinals):
            self._frozen = tuple(self._ordinals)
        return self._frozen

    def _ordinal(self, name: K) -> int:
        return self._ordinals.setdefault(name, len(self._ordinals))


class PlaceTable:
    """Where the row of an id stands: a sorted array, and a dictionary of the recent ones.

    20 bytes an id, where a dictionary of all would take 120.
    """

    __slots__ = ("_keys", "_places", "_recent")

    def __init__(self) -> None:
        self._keys: Keys = np.empty(0, dtype="S16")
        self._places: Places = np.empty(0, dtype=np.int32)
        self._recent: dict[bytes, int] = {}

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + self._places.nbytes + 120 * len(self._recent)

    def find(self, keys: Keys) -> Places:
        """int32, shape (len(keys),); -1 for an id without a place."""
        at, known = self._search(keys)
        found = np.full(len(keys), ABSENT, dtype=np.int32)
        found[known] = self._places[at[known]]
        if self._recent:
            for index, key in enumerate(keys.tolist()):
                found[index] = self._recent.get(key, found[index])
        return found

    def put(self, keys: Keys, places: Places) -> None:
        """Set the places of distinct ids; -1 takes one out."""
        at, known = self._search(keys)
        self._places[at[known]] = places[known]
        fresh, fresh_places = keys[~known], places[~known]
        if len(self._recent) + len(fresh) <= _RECENT + len(self._keys) // _ROOM:
            self._recent.update(zip(fresh.tolist(), fresh_places.tolist(), strict=True))
        else:
            self._merge(fresh, fresh_places)

    def _search(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        at = np.searchsorted(self._keys, keys)
        known = at < len(self._keys)
        known[known] = self._keys[at[known]] == keys[known]
        return at, known

    def _merge(self, keys: Keys, places: Places) -> None:
        if self._recent:
            recent = {**self._recent, **dict(zip(keys.tolist(), places.tolist(), strict=True))}
            keys = np.array(list(recent), dtype="S16")
            places = np.fromiter(recent.values(), np.int32, len(recent))
        keys = np.concatenate([self._keys, keys])
        places = np.concatenate([self._places, places])
        order = np.argsort(keys)
        self._keys, self._places, self._recent = keys[order], places[order], {}
