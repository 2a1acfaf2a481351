"""From scores and masks to an order, and to a reason for everything that was left out. Pure.

One number orders, `score`; of equal ones the earlier `valid_from` (of a message: `said_at`) comes
first, then the lower fingerprint, which only the words have: whoever reads them sorts a stretch of
equals (`Ranked.stretch` never cuts one).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.index.view import View
from remembrancer.recall.arms import Scores, Top
from remembrancer.recall.fusion import Bools, Floats, Ints
from remembrancer.recall.masking import GIVEN, PROFILE, Masks, reason_of
from remembrancer.recall.models import Arm
from remembrancer.recall.reasons import Kind, Omitted, Reason
from remembrancer.recall.trace import ArmTrace, Fused, Standing

STRETCH_MOST: Final = 1_000
"""How far a stretch of equals is followed past what was asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """The documents that may be given and clear the floor, best first."""

    documents: Ints
    scores: Floats
    tied_at: Ints

    def __len__(self) -> int:
        return len(self.documents)

    def stretch(self, size: int) -> Ints:
        """At least the first `size` of them, and whatever ties with the last."""
        end = min(size, len(self))
        while 0 < end < min(len(self), size + STRETCH_MOST) and self._tied(end):
            end += 1
        return self.documents[:end]

    def _tied(self, place: int) -> bool:
        return bool(
            self.scores[place] == self.scores[place - 1]
            and self.tied_at[place] == self.tied_at[place - 1]
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """What a request changes about who is in the ranking."""

    floor: bool = True
    use_all: bool = False
    messages: bool = True


def rank(view: View, scores: Scores, masks: Masks, rules: Rules) -> Ranked:
    """The ranking of everything that may be given and clears the floor."""
    documents = np.flatnonzero(_passing(view, scores, masks, rules))
    version, message = masks.version_of[documents], masks.message_of[documents]
    tied_at = np.zeros(len(documents), dtype=np.int64)
    is_memory = version >= 0
    tied_at[is_memory] = view.versions.valid_from[version[is_memory]]
    tied_at[~is_memory] = view.messages.said_at[message[~is_memory]]
    order = np.lexsort((tied_at, -scores.fused[documents]))
    documents = documents[order]
    return Ranked(documents, scores.fused[documents], tied_at[order])


def standings(view: View, scores: Scores, masks: Masks) -> list[Standing]:
    """The whole ranking without a floor, best first. Ties the words would break stay as found."""
    ranked = rank(view, scores, masks, Rules(floor=False))
    found = []
    for document, score in zip(ranked.documents.tolist(), ranked.scores.tolist(), strict=True):
        row = int(masks.version_of[document])
        if row >= 0:
            table = view.versions
            found.append(Standing(table.memory_ids[row], table.ids[row], score))
        else:
            message = int(masks.message_of[document])
            found.append(Standing(view.messages.ids[message], None, score))
    return found


def _passing(view: View, scores: Scores, masks: Masks, rules: Rules) -> Bools:
    allowed = _allowed(view, masks, rules)
    if not rules.floor:
        return allowed
    clears = scores.judged.passes
    if rules.use_all:
        clears = clears | (masks.version_of >= 0)
    return allowed & clears


def _allowed(view: View, masks: Masks, rules: Rules) -> Bools:
    allowed: Bools = masks.allowed & view.live_documents
    return allowed if rules.messages else allowed & (masks.version_of >= 0)


class Account:
    """What became of every document. `decided` holds those that were looked at one by one: None
    for given, else the reason; `rest` is the reason of what was never reached."""

    def __init__(
        self,
        view: View,
        scores: Scores,
        masks: Masks,
        rules: Rules,
        *,
        decided: Mapping[int, Reason | None],
        rest: Reason,
    ) -> None:
        self._view = view
        self._scores = scores
        self._masks = masks
        self._rules = rules
        self._decided = decided
        self._rest = rest
        self._allowed = _allowed(view, masks, rules)
        self._passing = _passing(view, scores, masks, rules)
        tops = [top.documents for arm, top in scores.tops.items() if self._counts(arm)]
        self._standing = np.unique(np.concatenate(tops)) if tops else np.empty(0, dtype=np.int64)
        given = [document for document, reason in decided.items() if reason is None]
        self._shown = np.union1d(self._standing, np.array(given, dtype=np.int64))
        self._versions = _rows_of(view.versions.document, self._shown, view.size)
        self._messages = _rows_of(view.messages.document, self._shown, view.size)
        self._codes = {
            row: code
            for rows in self._versions.values()
            for row, code in zip(rows, masks.versions[rows].tolist(), strict=True)
        }
        self._pairs: dict[int, tuple[UUID, UUID]] = {}
        self._message_ids: dict[int, UUID] = {}

    def _counts(self, arm: Arm) -> bool:
        return self._rules.messages or arm is not Arm.CONVERSATION

    def arms(self, vector_state: str) -> tuple[ArmTrace, ...]:
        """Each arm's top 50."""
        traces = []
        for arm in Arm:
            top = self._scores.tops.get(arm)
            if not self._counts(arm):
                traces.append(ArmTrace(arm.value, "off"))
            elif top is None:
                traces.append(ArmTrace(arm.value, vector_state))
            else:
                traces.append(ArmTrace(arm.value, "ok", self._top(top)))
        return tuple(traces)

    def fused(self) -> tuple[Fused, ...]:
        """The one ranking of what was given, or stood in an arm's top 50 and may be; best first."""
        shown = self._shown[self._allowed[self._shown]]
        scores = self._scores.fused[shown].tolist()
        relevance = self._scores.judged.relevance[shown].tolist()
        found = []
        for document, score, relevant in zip(shown.tolist(), scores, relevance, strict=True):
            id_, version_id = self._identity(document)
            kind = Kind.MESSAGE if version_id is None else Kind.MEMORY
            given = self._decided.get(document, self._rest) is None
            found.append(Fused(id_, kind, score, relevant, given))
        return tuple(sorted(found, key=lambda each: (-each.score, each.id)))

    def omitted(self) -> tuple[Omitted, ...]:
        """Of what stood in an arm's top 50: each memory's version, and each message, with its
        reason, best score first."""
        found: list[tuple[float, Omitted]] = []
        scores = self._scores.fused[self._standing].tolist()
        for document, score in zip(self._standing.tolist(), scores, strict=True):
            found.extend((-score, each) for each in self._omitted_of(document))
        found.sort(key=lambda pair: (pair[0], pair[1].id))
        return tuple(each for _, each in found)

    def counts(self) -> dict[str, int]:
        """The rest: living documents by reason."""
        outside = self._view.live_documents.copy()
        outside[self._standing] = False
        codes = np.full(self._view.size, 255, dtype=np.uint8)
        np.minimum.at(codes, self._view.versions.document, self._masks.versions)
        if self._rules.messages:
            np.minimum.at(codes, self._view.messages.document, self._masks.messages)
        counts: Counter[str] = Counter()
        for code, count in enumerate(np.bincount(codes[outside], minlength=256)[:255].tolist()):
            reason = reason_of(code) if count else None
            if reason is not None:
                counts[reason.value] += count
        for document, reason in self._decided.items():
            if outside[document] and reason is not None:
                counts[reason.value] += 1
        outside[list(self._decided)] = False
        counts[Reason.BELOW_FLOOR.value] += int((outside & self._allowed & ~self._passing).sum())
        counts[self._rest.value] += int((outside & self._passing).sum())
        return {name: count for name, count in sorted(counts.items()) if count}

    def _final(self, document: int) -> Reason | None:
        """What became of one that may be given."""
        if not self._passing[document]:
            return Reason.BELOW_FLOOR
        return self._decided.get(document, self._rest)

    def _omitted_of(self, document: int) -> list[Omitted]:
        found = []
        for row in self._messages.get(document, ()):
            reason = reason_of(int(self._masks.messages[row])) or self._final(document)
            if reason is not None:
                found.append(Omitted(self._message_id(row), reason, Kind.MESSAGE))
        raw = self._view.versions.memory_ids.raw
        by_memory: defaultdict[bytes, list[int]] = defaultdict(list)
        for row in self._versions.get(document, ()):
            by_memory[raw[row].tobytes()].append(row)
        for rows in by_memory.values():
            row = self._first_of(rows)
            reason = self._reason(document, row)
            if reason is not None:
                memory_id, version_id = self._ids(row)
                found.append(Omitted(memory_id, reason, Kind.MEMORY, version_id))
        return found

    def _reason(self, document: int, row: int) -> Reason | None:
        code = self._codes[row]
        if code == PROFILE:
            return None
        if code == GIVEN:
            is_chosen = int(self._masks.version_of[document]) == row
            return self._final(document) if is_chosen else Reason.DUPLICATE
        reason = reason_of(code)
        if reason is Reason.EXPIRED and self._answers_otherwise(row):
            return Reason.SUPERSEDED
        return reason

    def _answers_otherwise(self, row: int) -> bool:
        """Whether another version of the memory answers now."""
        raw = self._view.versions.memory_ids.raw
        rows = np.flatnonzero(self._masks.versions <= PROFILE)
        return bool((raw[rows] == raw[row]).all(axis=1).any())

    def _first_of(self, rows: Sequence[int]) -> int:
        """Of some versions the one to tell of: by its code, then its id."""
        raw = self._view.versions.ids.raw
        if len(rows) == 1:
            return rows[0]
        return min(rows, key=lambda row: (self._codes[row], raw[row].tobytes()))

    def _ids(self, row: int) -> tuple[UUID, UUID]:
        """A version's memory, and itself."""
        known = self._pairs.get(row)
        if known is None:
            table = self._view.versions
            known = self._pairs[row] = table.memory_ids[row], table.ids[row]
        return known

    def _top(self, top: Top) -> tuple[Standing, ...]:
        pairs = zip(top.documents.tolist(), top.scores.tolist(), strict=True)
        return tuple(
            Standing(*self._identity(document), round(score, 6)) for document, score in pairs
        )

    def _identity(self, document: int) -> tuple[UUID, UUID | None]:
        """The memory's id and version, or the message's id."""
        row = int(self._masks.version_of[document])
        rows = self._versions.get(document)
        if row < 0 and rows:
            row = self._first_of(rows)
        if row >= 0:
            return self._ids(row)
        return self._message_id(self._messages[document][0]), None

    def _message_id(self, row: int) -> UUID:
        known = self._message_ids.get(row)
        if known is None:
            known = self._message_ids[row] = self._view.messages.ids[row]
        return known


def _rows_of(owners: NDArray[np.int32], documents: Ints, size: int) -> dict[int, list[int]]:
    """A table's rows by document, of these of n documents."""
    wanted = np.zeros(size, dtype=np.bool_)
    wanted[documents] = True
    rows = np.flatnonzero(wanted[owners])
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row, owner in zip(rows.tolist(), owners[rows].tolist(), strict=True):
        found[owner].append(row)
    return found
