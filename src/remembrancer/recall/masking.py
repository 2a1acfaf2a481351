"""Which documents may be given, and why each other one may not. Pure array functions.

Everything of the person's has a score; this decides which of it may be seen, by space, trust and
the two times, over a whole view at once. A text that several memories or versions share may be
given if any of them answers; the one that is given is chosen here. The winners are read again
under the same predicate in SQL (`repository`): this is for ranking and for the record.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.clock import Instant
from remembrancer.index.growing import keys_of
from remembrancer.index.view import Ids, MessageTable, VersionTable, View
from remembrancer.recall.models import Branch
from remembrancer.recall.reasons import Reason

Codes: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int64]

GIVEN: Final = 0
"""May be given."""
PROFILE: Final = 1
"""A memory of type `user` that answers: the profile tier's, never an entry, and not left out."""
_REASONS: Final = (
    Reason.ALREADY_GIVEN,
    Reason.EXPIRED,
    Reason.NOT_YET_VALID,
    Reason.CANDIDATE,
    Reason.DISPUTED,
    Reason.ARCHIVED,
    Reason.REJECTED,
    Reason.OTHER_SPACE,
    Reason.OTHER_BRANCH,
    Reason.IN_HISTORY,
    Reason.SUPERSEDED,
    Reason.NOT_YET_KNOWN,
)
"""Codes 2 and up. Of several reasons for one memory the first of this order is told."""
_CODE: Final = {reason: code for code, reason in enumerate(_REASONS, start=2)}
_TRUSTS: Final = np.array(
    [_CODE[Reason.CANDIDATE], GIVEN, GIVEN]
    + [_CODE[reason] for reason in (Reason.DISPUTED, Reason.ARCHIVED, Reason.REJECTED)],
    dtype=np.uint8,
)
"""Codes by the ordinal of a trust state in a view."""
CONFIRMED: Final = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about: where, and when. A message has no interval: it counts from `said_at`,
    and only against a time that was asked for."""

    space: UUID | None
    """None: only what belongs to no space."""
    valid_at: Instant
    known_at: Instant
    said_before: Instant | None
    """The earlier of the two times, if one was asked for."""
    already_given: frozenset[UUID] = frozenset()
    exclude_messages: frozenset[UUID] = frozenset()
    branch: Branch | None = None
    profile_apart: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Masks:
    """Codes for each version (m,) and message (k,), and what each document (n,) is given as."""

    versions: Codes
    messages: Codes
    version_of: Places
    """The version a document would be given as, -1 for none."""
    message_of: Places
    """The message a document is, if it may be given; -1 otherwise."""

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The documents (n,) that may be given."""
        return (self.version_of >= 0) | (self.message_of >= 0)


def reason_of(code: int) -> Reason | None:
    """The reason behind a code; None for what may be given or stands in the profile."""
    return _REASONS[code - 2] if code >= 2 else None


def keys(raw: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Ids (n, 16) as S16, shape (n,): they compare and sort as their bytes do."""
    return np.ascontiguousarray(raw).view("S16").reshape(-1)


def mask(view: View, asked: Asked) -> Masks:
    """The masks of a whole view."""
    versions = _version_codes(view.versions, view, asked)
    messages = _message_codes(view.messages, view, asked)
    return Masks(
        versions=versions,
        messages=messages,
        version_of=_choice(view.versions, versions, view.size),
        message_of=_places(view.messages.document, messages == GIVEN, view.size),
    )


def _version_codes(table: VersionTable, view: View, asked: Asked) -> Codes:
    """The first that applies: time of record, space, trust, valid time, given, type."""
    apart = PROFILE if asked.profile_apart else GIVEN
    codes = np.where(table.type == 1, np.uint8(apart), np.uint8(GIVEN))
    if asked.already_given:
        codes[_listed(table.ids, asked.already_given)] = _CODE[Reason.ALREADY_GIVEN]
    codes[table.valid_from > asked.valid_at] = _CODE[Reason.NOT_YET_VALID]
    codes[table.valid_to <= asked.valid_at] = _CODE[Reason.EXPIRED]
    trusts = _TRUSTS[table.trust]
    codes = np.where(trusts, trusts, codes)
    codes[_elsewhere(table.space, view, asked)] = _CODE[Reason.OTHER_SPACE]
    codes[table.recorded_to <= asked.known_at] = _CODE[Reason.SUPERSEDED]
    codes[table.recorded_from > asked.known_at] = _CODE[Reason.NOT_YET_KNOWN]
    return codes


def _message_codes(table: MessageTable, view: View, asked: Asked) -> Codes:
    codes = np.zeros(len(table.document), dtype=np.uint8)
    if asked.already_given:
        codes[_listed(table.ids, asked.already_given)] = _CODE[Reason.ALREADY_GIVEN]
    if asked.said_before is not None:
        codes[table.said_at > asked.said_before] = _CODE[Reason.NOT_YET_KNOWN]
    if asked.branch is not None and asked.branch.chat_id in view.chats:
        here = table.chat == list(view.chats).index(asked.branch.chat_id)
        codes[here & ~_listed(table.ids, asked.branch.message_ids)] = _CODE[Reason.OTHER_BRANCH]
    codes[~table.live] = _CODE[Reason.OTHER_BRANCH]
    if asked.exclude_messages:
        codes[_listed(table.ids, asked.exclude_messages)] = _CODE[Reason.IN_HISTORY]
    codes[_elsewhere(table.space, view, asked)] = _CODE[Reason.OTHER_SPACE]
    return codes


def _elsewhere(space: NDArray[np.int32], view: View, asked: Asked) -> NDArray[np.bool_]:
    """What belongs to another space than the one asked about; the spaceless are everywhere."""
    spaces = list(view.spaces)
    own = spaces.index(asked.space) if asked.space in spaces else -1
    elsewhere: NDArray[np.bool_] = (space >= 0) & (space != own)
    return elsewhere


def _choice(table: VersionTable, codes: Codes, size: int) -> Places:
    """For each document the answering version: confirmed first, then the first recorded, id."""
    chosen = np.full(size, -1, dtype=np.int64)
    answering = np.flatnonzero(codes == GIVEN)
    documents = table.document[answering]
    chosen[documents] = answering
    twice = chosen[documents] != answering
    if twice.any():
        shared = np.zeros(size, dtype=np.bool_)
        shared[documents[twice]] = True
        answering = answering[shared[documents]]
        unconfirmed = table.trust[answering] != CONFIRMED
        ids = keys(table.ids.raw[answering])
        order = np.lexsort((ids, table.recorded_from[answering], unconfirmed))
        best_last = answering[order][::-1]
        chosen[table.document[best_last]] = best_last
    return chosen


def _places(documents: NDArray[np.int32], wanted: NDArray[np.bool_], size: int) -> Places:
    places = np.full(size, -1, dtype=np.int64)
    rows = np.flatnonzero(wanted)
    places[documents[rows]] = rows
    return places


def _listed(ids: Ids, wanted: Set[UUID]) -> NDArray[np.bool_]:
    return np.isin(keys(ids.raw), keys_of(wanted))
