"""One recall over the index, inside a read unit: score, mask, rank, read again, fit, account.

What fails here is for `service` to name; nothing is embedded and nothing is written.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from remembrancer.clock import Instant
from remembrancer.db.units import Unit
from remembrancer.embeddings.base import Vectors
from remembrancer.events.log import read_head
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.recall import arms, masking, repository, selection
from remembrancer.recall.assembly import FittedEntries, FittedProfile, Limits, fit_entries
from remembrancer.recall.diversity import Candidate, distinct
from remembrancer.recall.entries import Found, Maker
from remembrancer.recall.masking import Asked
from remembrancer.recall.models import Arm, Recall, Request, Tokens
from remembrancer.recall.priors import SpaceNumbers
from remembrancer.recall.query import Query
from remembrancer.recall.reasons import Part, Reason
from remembrancer.recall.selection import Account, Ranked, Rules
from remembrancer.recall.trace import ArmTrace, FloorTrace, Trace
from remembrancer.text.normalise import fingerprint

_POOL_MOST: Final = 1_000
"""How far down a ranking is read, at most."""
_POOL_SPARE: Final = 8
"""What is read beyond k at first, for duplicates and what doesn't fit."""
_NOT_SEARCHED: Final = frozenset({Part.INDEX, Part.DEADLINE, Part.MEMORY})
"""With one of these no arm could run."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A request, read; and its vector, if there is one."""

    request: Request
    query: Query
    space: UUID | None
    space_id: int | None
    numbers: SpaceNumbers
    vector: Vectors | None
    vector_state: str
    """Of an arm that did not run: off or failed."""
    failures: tuple[tuple[Part, str], ...]
    embed_ms: float


class Search:
    """One run over the index, inside a unit."""

    def __init__(
        self,
        indexes: PersonalIndexes,
        unit: Unit,
        *,
        question: Question,
        asked: Asked,
        limits: Limits,
        profile: FittedProfile,
    ) -> None:
        self._indexes = indexes
        self._unit = unit
        self._question = question
        self._asked = asked
        self._limits = limits
        self._profile = profile
        self._known: dict[int, Candidate | None] = {}

    def run(self) -> Recall:
        """Score, mask, rank, read again, fit."""
        question, request = self._question, self._question.request
        began = time.perf_counter()
        view = self._indexes.view(self._unit, question.space_id)
        loaded = time.perf_counter()
        masks = masking.mask(view, self._asked)
        scores = arms.score(view, question.query, question.vector, question.numbers, masks)
        rules = Rules(request.floor, request.use_all, request.messages)
        ranked = selection.rank(view, scores, masks, rules)
        scored = time.perf_counter()
        maker = Maker(Found(view, scores, masks, question.query))
        fitted, decided = self._fit(ranked, maker)
        account = Account(
            view,
            scores,
            masks,
            rules,
            decided=decided,
            rest=Reason.OVER_K if fitted.filled else Reason.OVER_BUDGET,
        )
        judged = scores.judged
        trace = Trace(
            turns=len(request.turns),
            index_seq=view.seq,
            documents=int(view.live_documents.sum()),
            pending=scores.pending,
            embedding_space=question.space_id,
            arms=account.arms(question.vector_state),
            fused=account.fused(),
            floor=FloorTrace(judged.floor, judged.asks, judged.calibrated, request.floor),
            omitted=(*self._profile.omitted, *account.omitted()),
            omitted_counts=account.counts(),
            timings=(
                ("embed", question.embed_ms),
                ("index", round((loaded - began) * 1e3, 3)),
                ("score", round((scored - loaded) * 1e3, 3)),
                ("assemble", milliseconds(scored)),
            ),
        )
        return answer(question, self._profile, fitted, trace)

    def _fit(self, ranked: Ranked, maker: Maker) -> tuple[FittedEntries, dict[int, Reason | None]]:
        """Read as far down the ranking as it takes to fill k, and say what became of each."""
        given_anyway = [(each.id, fingerprint(each.content)) for each in self._profile.entries]
        counted = self._limits.memories_counted
        size = self._limits.k + _POOL_SPARE if counted else _POOL_MOST
        while True:
            pool = ranked.stretch(size).tolist()
            self._read(pool, maker)
            found = {document: self._known[document] for document in pool}
            candidates = sorted(
                (each for each in found.values() if each is not None), key=lambda c: c.order
            )
            lead = self._limits.k if counted else len(candidates)
            spread = distinct(candidates, lead, given_anyway)
            fitted = fit_entries(
                [each.entry for each in spread.kept], self._limits, self._profile.tokens
            )
            if fitted.filled or len(pool) == len(ranked) or size >= _POOL_MOST:
                break
            size = min(4 * size, _POOL_MOST)
        places = {each.entry.id: place for place, each in found.items() if each is not None}
        explained = [maker.explained(places[each.id], each) for each in fitted.entries]
        fitted = replace(fitted, entries=tuple(explained))
        reasons = {each.id: each.reason for each in fitted.omitted}
        reasons |= {each.entry.id: Reason.DUPLICATE for each, _ in spread.suppressed}
        decided: dict[int, Reason | None] = {
            document: Reason.CHANGED if each is None else reasons.get(each.entry.id)
            for document, each in found.items()
        }
        return fitted, decided

    def _read(self, pool: list[int], maker: Maker) -> None:
        fresh = [document for document in pool if document not in self._known]
        versions = {document: maker.version_id(document) for document in fresh}
        memories = repository.memory_rows(
            self._unit, [each for each in versions.values() if each is not None], self._asked
        )
        messages = repository.message_rows(
            self._unit,
            [maker.message_id(each) for each in fresh if versions[each] is None],
            self._asked,
        )
        for document in fresh:
            self._known[document] = maker.candidate(document, memories, messages)


def asked_of(unit: Unit, question: Question) -> Asked:
    """The predicate's values. Now is never before the last thing that was recorded."""
    request = question.request
    stated = [each for each in (request.valid_at, request.known_at) if each is not None]
    known_at: Instant = (
        max(unit.now, read_head(unit).last_recorded_at)
        if request.known_at is None
        else request.known_at
    )
    return Asked(
        space=question.space,
        valid_at=unit.now if request.valid_at is None else request.valid_at,
        known_at=known_at,
        said_before=min(stated, default=None),
        already_given=request.already_given,
        exclude_messages=request.exclude_messages,
        branch=request.branch,
        profile_apart=request.profile_apart,
    )


def answer(
    question: Question,
    profile: FittedProfile,
    fitted: FittedEntries | None = None,
    trace: Trace | None = None,
) -> Recall:
    """The recall of what was fitted; without `trace`, of a run that had no index."""
    fitted = fitted or FittedEntries()
    degraded = tuple(part for part, _ in question.failures)
    if trace is None:
        state = "off" if _NOT_SEARCHED.isdisjoint(degraded) else "failed"
        trace = Trace(
            turns=len(question.request.turns),
            embedding_space=question.space_id,
            arms=tuple(ArmTrace(arm.value, state) for arm in Arm),
            omitted=profile.omitted,
            timings=(("embed", question.embed_ms),),
        )
    trace = replace(trace, degraded=degraded, failures=question.failures)
    return Recall(
        profile=profile.entries,
        entries=fitted.entries,
        omitted=trace.omitted,
        omitted_counts=trace.omitted_counts or {},
        degraded=degraded,
        tokens=Tokens(profile.tokens, fitted.tokens),
        profile_block=profile.block,
        recalled_block=fitted.block,
        trace=trace,
    )


def milliseconds(since: float) -> float:
    return round((time.perf_counter() - since) * 1e3, 3)
