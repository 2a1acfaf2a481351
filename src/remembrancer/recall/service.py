"""Recall: what a turn is given of one person's memory, and the record of it. Writes nothing.

The question is embedded outside any unit; one read unit then scores, ranks and reads the winners
again. A part that fails is named in `degraded` and the rest goes on: without a vector lexically,
without the index with the profile alone, past the deadline or without the tables with nothing. Only
a store that does not answer at all is an error.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from remembrancer.db.database import Database
from remembrancer.db.units import Unit
from remembrancer.embeddings.base import Kind as TextKind
from remembrancer.embeddings.base import Vectors
from remembrancer.embeddings.serving import AskServing, Serving
from remembrancer.embeddings.worker import Priority
from remembrancer.errors import (
    EmbedderError,
    InvalidInputError,
    RemembrancerError,
    StoreError,
    StoreUnavailableError,
)
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.recall import arms, masking, query, repository, selection
from remembrancer.recall.assembly import (
    FittedProfile,
    Limits,
    fit_profile,
)
from remembrancer.recall.models import Recall, Request
from remembrancer.recall.priors import UNCALIBRATED, SpaceNumbers, for_space
from remembrancer.recall.reasons import Part
from remembrancer.recall.search import Question, Search, answer, asked_of, milliseconds
from remembrancer.recall.trace import Standing
from remembrancer.scope import Scope

_LOG: Final = structlog.get_logger()

TIMEOUT: Final = 30.0
"""Seconds, for library and CLI; a server gives 0.4 (decisions: "Jobs, delivery, embedder")."""
_EMBED_SHARE: Final = 0.75
"""Of the deadline: the rest is for the store."""
_FAILURES: Final = (
    RemembrancerError,
    SQLAlchemyError,
    ArithmeticError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a failing index may raise; a reply never depends on it. The code is in the trace."""


class RecallService:
    """Recall over one database. `serving` is asked anew each time: a re-embedding flips it."""

    def __init__(
        self,
        db: Database,
        indexes: PersonalIndexes,
        serving: AskServing,
    ) -> None:
        self._db = db
        self._indexes = indexes
        self._serving = serving

    async def recall(self, scope: Scope, request: Request, *, timeout: float = TIMEOUT) -> Recall:
        """What the turn is given, within `timeout` seconds.

        Raises `InvalidInputError` for a k or budget outside its limits and for the scope ALL, and
        `StoreUnavailableError` when the database does not answer; nothing else.
        """
        request.check()
        began = time.perf_counter()
        question = await self._question(scope, request, timeout)
        left = timeout - (time.perf_counter() - began)
        try:
            return await asyncio.wait_for(
                self._db.read(scope, lambda unit: self.recall_in(unit, question)), max(left, 0.0)
            )
        except TimeoutError as error:
            _warn(Part.DEADLINE, error)
            return _nothing(question, Part.DEADLINE, "timeout")
        except StoreUnavailableError:
            raise
        except (StoreError, SQLAlchemyError) as error:
            _warn(Part.MEMORY, error)
            return _nothing(question, Part.MEMORY, _code(error))

    async def ranking(
        self, scope: Scope, request: Request, *, timeout: float = TIMEOUT
    ) -> list[Standing]:
        """The whole ranking, best first, before floor and assembly: for evaluation."""
        question = await self._question(scope, request, timeout)

        def work(unit: Unit) -> list[Standing]:
            view = self._indexes.view(unit, question.space_id)
            masks = masking.mask(view, asked_of(unit, question))
            scores = arms.score(view, question.query, question.vector, question.numbers, masks)
            return selection.standings(view, scores, masks)

        return await self._db.read(scope, work)

    async def _question(self, scope: Scope, request: Request, timeout: float) -> Question:
        began = time.perf_counter()
        read = query.read(request.turns)
        deadline = began + timeout * _EMBED_SHARE
        serving: Serving | None = None
        vector: Vectors | None = None
        failures: tuple[tuple[Part, str], ...] = ()
        try:
            serving = await asyncio.wait_for(self._serving(), timeout * _EMBED_SHARE)
            if serving is not None and not read.is_empty:
                vector = await _vector(serving, read.text, deadline - time.perf_counter())
        except (EmbedderError, TimeoutError) as error:
            _warn(Part.VECTOR, error)
            failures = ((Part.VECTOR, _code(error)),)
        return Question(
            request=request,
            query=read,
            space=_space_of(scope),
            space_id=None if serving is None else serving.space_id,
            numbers=_numbers(serving),
            vector=vector,
            vector_state="failed" if failures else "off",
            failures=failures,
            embed_ms=milliseconds(began),
        )

    def recall_in(self, unit: Unit, question: Question) -> Recall:
        """The part inside a read unit."""
        request = question.request
        asked = asked_of(unit, question)
        limits = Limits(
            request.k, request.total_budget, request.profile_budget, not request.use_all
        )
        standing = repository.profile(unit, asked) if request.profile_apart else []
        profile = fit_profile(standing, limits)
        if question.query.is_empty and not request.use_all:
            return answer(question, profile)
        try:
            return Search(
                self._indexes,
                unit,
                question=question,
                asked=asked,
                limits=limits,
                profile=profile,
            ).run()
        except _FAILURES as error:
            _warn(Part.INDEX, error)
            failed = replace(question, failures=(*question.failures, (Part.INDEX, _code(error))))
            return answer(failed, profile)


async def _vector(serving: Serving, text: str, timeout: float) -> Vectors:
    """The question's unit vector (d,); an `EmbedderError` when there is none in time."""
    vectors = await serving.worker.embed(
        [text], TextKind.QUERY, priority=Priority.QUERY, timeout=max(timeout, 0.0)
    )
    only: Vectors = vectors[0]
    return only


def _numbers(serving: Serving | None) -> SpaceNumbers:
    if serving is None:
        return UNCALIBRATED
    return for_space(serving.spec.model, serving.spec.revision)


def _nothing(question: Question, part: Part, code: str) -> Recall:
    failed = replace(question, failures=(*question.failures, (part, code)))
    return answer(failed, FittedProfile())


def _space_of(scope: Scope) -> UUID | None:
    if isinstance(scope.space, UUID):
        return scope.space
    if scope.space.name == "ALL":
        raise InvalidInputError(
            "Recall looks at one space, or at what belongs to none.",
            field="space",
            value="all",
            hint="Name a space; lists can show all of them.",
        )
    return None


def _code(error: BaseException) -> str:
    """An error's stable code; another's type. Never its words, which may be the person's."""
    return error.code if isinstance(error, RemembrancerError) else type(error).__name__


def _warn(part: Part, error: BaseException) -> None:
    """A line for the operator: what failed, as which error, and where in the code. No words."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    at = "" if place is None else f"{place.tb_frame.f_code.co_qualname}:{place.tb_lineno}"
    _LOG.warning("recall.degraded", part=part.value, code=_code(error), at=at)
