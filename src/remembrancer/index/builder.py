"""Applying changes to one person's index, and taking snapshots of it. Pure; one caller at a time.

A document whose terms change dies and another takes its place, so that a document's terms never
change. Applying the same rows again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np

from remembrancer.index.changes import ROLES, TRUSTS, TYPES, AnyId, Changes, MessageRow, VersionRow
from remembrancer.index.dense import Vectors
from remembrancer.index.growing import (
    ID_BYTES,
    Array,
    Column,
    Keys,
    Names,
    Places,
    PlaceTable,
    keys_of,
    only_uuids,
    raw_of,
    uuids_of,
)
from remembrancer.index.lexical import LexiconBuilder
from remembrancer.index.view import Ids, MessageTable, VersionTable, View
from remembrancer.text.paths import path_terms

_Columns: TypeAlias = Mapping[str, type[np.generic]]

_PATH_TERMS_BYTES: Final = 800
"""About what a path's terms take."""
_TRUST: Final = {name: ordinal for ordinal, name in enumerate(TRUSTS)}
_TYPE: Final = {name: ordinal for ordinal, name in enumerate(TYPES)}
_ROLE: Final = {name: ordinal for ordinal, name in enumerate(ROLES)}
_VERSION_COLUMNS: Final[_Columns] = {
    "document": np.int32, "trust": np.uint8, "type": np.uint8, "path": np.int32,
    "space": np.int32, "valid_from": np.int64, "valid_to": np.int64,
    "recorded_from": np.int64, "recorded_to": np.int64,
}  # fmt: skip
_MESSAGE_COLUMNS: Final[_Columns] = {
    "document": np.int32, "chat": np.int32, "session": np.int32, "position": np.int32,
    "space": np.int32, "role": np.uint8, "speaker": np.int32, "said_at": np.int64,
    "live": np.bool_,
}  # fmt: skip
_WORTH_RELOADING: Final = 1024


class Applied(NamedTuple):
    """What one application did."""

    rows: int
    """Rows never seen before, less those that are gone."""
    touched: list[UUID]
    """Documents that were known and came again: their vectors are to be read again."""


class Documents:
    """Texts and messages: their ids, terms and vectors."""

    def __init__(self) -> None:
        self.lexicon = LexiconBuilder()
        self.vectors = Vectors()
        self.replaced = 0
        self._places = PlaceTable()
        self._digests = Column(np.int64)

    @property
    def nbytes(self) -> int:
        parts = (self.lexicon, self.vectors, self._places, self._digests)
        return sum(part.nbytes for part in parts)

    def find(self, keys: Keys) -> Places:
        """The documents of these ids, -1 for an unknown one."""
        return self._places.find(keys)

    def put(self, keys: Keys, blobs: Sequence[bytes]) -> tuple[Places, Places]:
        """Set the terms of distinct documents: their places before (-1: unknown) and after."""
        before = self._places.find(keys)
        digests = np.fromiter(map(hash, blobs), np.int64, len(blobs))
        known = before >= 0
        changed = ~known
        changed[known] = self._digests.values[before[known]] != digests[known]
        self.remove(before[changed & known])
        after = before.copy()
        if not changed.all():
            blobs = [blobs[index] for index in np.flatnonzero(changed).tolist()]
        after[changed] = self._grow(blobs, digests[changed])
        self._places.put(keys[changed], after[changed])
        self.replaced += int((changed & known).sum())
        return before, after

    def those_of(self, keys: Keys) -> Places:
        """Like `find`, but an unknown id gets a dead document without an id.

        A version can be read before its text when both are committed between the two statements.
        Both are newer than the view then, and come again with its next application.
        """
        found = self._places.find(keys)
        unknown = found < 0
        if unknown.any():
            found[unknown] = self._grow([b""], np.zeros(1, dtype=np.int64))
        return found

    def remove(self, documents: Places) -> None:
        """These are dead from now on."""
        self.lexicon.remove(documents)
        self.vectors.remove(documents)

    def forget(self, keys: Keys) -> int:
        """These ids are no more; how many of them were known."""
        found = self._places.find(keys)
        known = found >= 0
        self.remove(found[known])
        self._places.put(keys[known], np.full(int(known.sum()), -1, dtype=np.int32))
        return int(known.sum())

    def put_vectors(self, keys: Keys, blobs: Sequence[bytes]) -> None:
        """Vectors of distinct documents; those of unknown and dead ones are left out."""
        found = self._places.find(keys)
        wanted = found >= 0
        wanted[wanted] = self.lexicon.live[found[wanted]]
        if wanted.all():
            self.vectors.put(found, blobs)
        else:
            taken = [blobs[index] for index in np.flatnonzero(wanted).tolist()]
            self.vectors.put(found[wanted], taken)

    def _grow(self, blobs: Sequence[bytes], digests: Array) -> Places:
        places = self.lexicon.add(blobs)
        self.vectors.add_documents(len(places))
        self._digests.append(digests)
        return places


class Records:
    """A table of rows with an id each: new rows go to its end, others change in place."""

    def __init__(self, columns: _Columns, *ids: str) -> None:
        self._columns = {name: Column(dtype) for name, dtype in columns.items()}
        self._columns |= {name: Column(np.uint8, ID_BYTES) for name in ids}
        self._places = PlaceTable()

    @property
    def nbytes(self) -> int:
        return self._places.nbytes + sum(column.nbytes for column in self._columns.values())

    def put(self, keys: Keys, values: Mapping[str, Array]) -> int:
        """Set the rows of distinct ids, every column given; how many of them are new."""
        found = self._places.find(keys)
        fresh = found < 0
        size = len(self._columns["document"])
        new = int(fresh.sum())
        self._places.put(keys[fresh], np.arange(size, size + new, dtype=np.int32))
        known = found[~fresh]
        for name, column in self._columns.items():
            column.append(values[name][fresh])
            _set(column, known, values[name][~fresh])
        return new

    def move(self, before: Places, after: Places) -> None:
        """Rows of the documents `before` now belong to `after`."""
        column = self._columns["document"]
        if len(before) and len(column):
            targets = np.arange(
                max(int(column.values.max()), int(before.max())) + 1, dtype=np.int32
            )
            targets[before] = after
            _set(column, np.arange(len(column)), targets[column.values])

    def end(self, keys: Keys) -> None:
        """Rows of these ids are not live any more (messages only)."""
        found = self._places.find(keys)
        found = found[found >= 0]
        _set(self._columns["live"], found, np.zeros(len(found), dtype=np.bool_))

    def freeze(self) -> dict[str, Array]:
        """Every column by its name."""
        return {name: column.freeze() for name, column in self._columns.items()}


def _set(column: Column, places: Array, values: Array) -> None:
    """Write what differs; a column where nothing does isn't copied."""
    if len(places):
        differs = column.values[places] != values
        if differs.ndim > 1:
            differs = differs.any(axis=1)
        if differs.any():
            column.put(places[differs], values[differs])


class ViewBuilder:
    """The state behind the views of one person in one embedding space."""

    def __init__(self) -> None:
        self._documents = Documents()
        self._versions = Records(_VERSION_COLUMNS, "ids", "memory_ids")
        self._messages = Records(_MESSAGE_COLUMNS, "ids")
        self._paths: Names[str] = Names()
        self._path_terms: tuple[frozenset[str], ...] = ()
        self._spaces: Names[UUID] = Names()
        self._chats: Names[UUID] = Names()
        self._sessions: Names[tuple[int, int]] = Names()
        self._speakers: Names[str] = Names()

    @property
    def wasteful(self) -> bool:
        """More than half of it is what a fresh load would leave out."""
        garbage = self._documents.replaced + self._documents.vectors.garbage
        return garbage > _WORTH_RELOADING + len(self._documents.lexicon) // 2

    def apply(self, changes: Changes) -> Applied:
        """Take in one source's rows."""
        texts = len(changes.texts)
        text_ids, text_terms = _columns(changes.texts, 2)
        message_ids, *others, message_terms = _columns(changes.messages, len(MessageRow._fields))
        keys, blobs = keys_of(text_ids + message_ids), text_terms + message_terms
        before, after = self._documents.put(keys, blobs)
        known = before >= 0
        moved = known & (before != after)
        self._versions.move(before[moved], after[moved])
        rows = int((~known).sum())
        if changes.versions:
            rows += self._put_versions(changes.versions)
        if changes.messages:
            self._put_messages(others, keys[texts:], after[texts:])
        if changes.gone:
            gone = keys_of(changes.gone)
            self._messages.end(gone)
            rows -= self._documents.forget(gone)
        return Applied(rows, uuids_of(keys[known]))

    def put_vectors(self, ids: Sequence[AnyId], blobs: Sequence[bytes]) -> None:
        """Vectors of distinct documents, half precision as stored; those of unknown and dead ones
        are left out.

        Raises `DamageFoundError` for a vector of another dimension.
        """
        self._documents.put_vectors(keys_of(ids), blobs)

    def renew_vectors(self, touched: Sequence[UUID], vectors: Mapping[UUID, bytes]) -> None:
        """Of the documents `touched`, these are all the vectors there are."""
        lost = [each for each in touched if each not in vectors]
        documents = self._documents.find(keys_of(lost))
        self._documents.vectors.remove(documents[documents >= 0])
        self.put_vectors(list(vectors), list(vectors.values()))

    def freeze(self, seq: int) -> View:
        """A snapshot that no later call changes."""
        versions, messages = self._versions.freeze(), self._messages.freeze()
        ids, memory_ids = Ids(versions.pop("ids")), Ids(versions.pop("memory_ids"))
        dense = self._documents.vectors.freeze()
        pending = dense.row_of < 0
        pending.flags.writeable = False
        names = (self._paths, self._spaces, self._chats, self._sessions, self._speakers)
        parts = (self._documents, self._versions, self._messages, *names)
        return View(
            seq=seq,
            versions=VersionTable(ids=ids, memory_ids=memory_ids, **versions),
            messages=MessageTable(ids=Ids(messages.pop("ids")), **messages),
            paths=self._paths.freeze(),
            path_terms=self._terms_of_paths(),
            spaces=self._spaces.freeze(),
            chats=self._chats.freeze(),
            speakers=self._speakers.freeze(),
            pending=pending,
            nbytes=pending.nbytes
            + sum(part.nbytes for part in parts)
            + _PATH_TERMS_BYTES * len(self._path_terms),
            _dense=dense,
            _lexicon=self._documents.lexicon.freeze(),
        )

    def _terms_of_paths(self) -> tuple[frozenset[str], ...]:
        """Of every path, each analysed once."""
        paths = self._paths.freeze()
        if len(self._path_terms) != len(paths):
            fresh = paths[len(self._path_terms) :]
            self._path_terms = (*self._path_terms, *map(path_terms, fresh))
        return self._path_terms

    def _put_versions(self, rows: Sequence[VersionRow]) -> int:
        (ids, memories, texts, types, paths, spaces, trusts, *times) = zip(*rows, strict=True)
        keys = keys_of(ids)
        values: dict[str, Array] = {
            "ids": raw_of(keys),
            "memory_ids": raw_of(keys_of(memories)),
            "document": self._documents.those_of(keys_of(texts)),
            "type": np.array([_TYPE[name] for name in types], dtype=np.uint8),
            "path": self._paths.ordinals(paths),
            "space": self._spaces.ordinals(only_uuids(spaces)),
            "trust": np.array([_TRUST[name] for name in trusts], dtype=np.uint8),
        }
        names = ("valid_from", "valid_to", "recorded_from", "recorded_to")
        for name, column in zip(names, times, strict=True):
            values[name] = np.array(column, dtype=np.int64)
        return self._versions.put(keys, values)

    def _put_messages(
        self, columns: Sequence[tuple[Any, ...]], keys: Keys, documents: Places
    ) -> None:
        chats, sessions, positions, spaces, roles, speakers, said_at, live = columns
        chat = self._chats.ordinals(only_uuids(chats))
        values: dict[str, Array] = {
            "ids": raw_of(keys),
            "document": documents,
            "chat": chat,
            "session": self._sessions.ordinals(list(zip(chat.tolist(), sessions, strict=True))),
            "position": np.array(positions, dtype=np.int32),
            "space": self._spaces.ordinals(only_uuids(spaces)),
            "role": np.array([_ROLE[name] for name in roles], dtype=np.uint8),
            "speaker": self._speakers.ordinals(speakers),
            "said_at": np.array(said_at, dtype=np.int64),
            "live": np.array(live, dtype=np.bool_),
        }
        self._messages.put(keys, values)


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width
