"""`eval recall`: how well recall ranks, over a public set, through the real index.

Each conversation is stored in a throwaway store as one person's, each question asked there; the
ranking is taken before floor and assembly. Counted as the set's paper counts it (see `metrics`).
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from remembrancer.conversations.models import AuthoredBy
from remembrancer.embeddings.base import Embedder
from remembrancer.embeddings.factory import NoEmbedder
from remembrancer.errors import EmbedderUnavailableError, InvalidInputError
from remembrancer.evals import locomo
from remembrancer.evals.locomo import Sample
from remembrancer.evals.metrics import (
    SESSION_CUTS,
    TURN_CUTS,
    Figures,
    Ranking,
    figures,
    sessions_of,
)
from remembrancer.library.engine import Engine
from remembrancer.recall.models import Request
from remembrancer.scope import Actor, ActorKind

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Level:
    """Figures of one group of questions, by turn and by session."""

    turn: Figures
    session: Figures

    def as_json(self) -> dict[str, object]:
        return {"turn": self.turn.as_json(), "session": self.session.as_json()}


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What `eval recall` measured."""

    overall: Level
    categories: tuple[tuple[str, Level], ...]
    conversations: int
    seconds_storing: float
    seconds_asking: float

    def as_json(self) -> dict[str, object]:
        """The documented form of `eval recall --json`."""
        return {
            "overall": self.overall.as_json(),
            "categories": {name: level.as_json() for name, level in self.categories},
        }


def _level(turns: Sequence[Ranking]) -> Level:
    by_session = [
        Ranking(
            sessions_of(each.ranked),
            frozenset(turn.partition(":")[0] for turn in each.relevant),
            each.category,
        )
        for each in turns
    ]
    return Level(figures(turns, TURN_CUTS), figures(by_session, SESSION_CUTS))


async def _run(
    engine: Engine, samples: Sequence[Sample], progress: Progress
) -> tuple[list[Ranking], float, float]:
    actor = Actor(ActorKind.IMPORTER, "eval", "eval")
    rankings: list[Ranking] = []
    storing = asking = 0.0
    total = sum(len(each.turns) for each in samples)
    asked = sum(len(each.questions) for each in samples)
    stored = 0
    for sample in samples:
        account = engine.accounts.add(f"locomo-{sample.id}")
        scope = engine.accounts.scope(account)
        began = time.perf_counter()

        def advance(count: int) -> None:
            nonlocal stored
            stored += count
            progress("storing turns", stored, total)

        kept = await engine.conversations.store(
            scope, actor, sample.conversation, AuthoredBy.IMPORTER, progress=advance
        )
        check_vectors(engine, kept.pending)
        turn_of = dict(zip(kept.messages, sample.turns, strict=True))
        storing += time.perf_counter() - began
        began = time.perf_counter()
        for question in sample.questions:
            ranked = await engine.recall.ranking(scope, Request(question.text))
            rankings.append(
                Ranking([turn_of[each.id] for each in ranked], question.turns, question.category)
            )
            progress("asking questions", len(rankings), asked)
        asking += time.perf_counter() - began
    return rankings, storing, asking


def check_vectors(engine: Engine, pending: int) -> None:
    """Raises `EmbedderUnavailableError` when texts that should have a vector have none.

    Recall would go on by words alone, and its figures would be of something else.
    """
    if pending and not isinstance(engine.embedder, NoEmbedder):
        raise EmbedderUnavailableError(
            f"{pending} texts got no vector, so there is nothing to measure.",
            field="embedder",
            value=pending,
            hint="`remembrancer doctor` says what is missing.",
        )


def _picked(samples: Sequence[Sample], numbers: Sequence[int]) -> Sequence[Sample]:
    wrong = [each for each in numbers if not 0 <= each < len(samples)]
    if wrong:
        raise InvalidInputError(
            f"There is no conversation {wrong[0]}.",
            field="conversations",
            value=wrong[0],
            limit=f"0…{len(samples) - 1}",
        )
    return [samples[each] for each in dict.fromkeys(numbers)] if numbers else samples


def run_recall(
    dataset: Path,
    *,
    audited: bool = False,
    conversations: Sequence[int] = (),
    embedder: Embedder | None = None,
    progress: Progress = lambda _what, _done, _total: None,
) -> RecallResult:
    """Measure recall on LoCoMo.

    `audited` takes the corrected evidence; `conversations` picks some by number, from 0;
    `embedder` None is the local model. Raises `ConfigurationError` for a file that is missing or
    is something else, and `InvalidInputError` for a number there is no conversation of.
    """
    samples = _picked(locomo.load(dataset, audited=audited), conversations)
    with tempfile.TemporaryDirectory(prefix="remembrancer-eval-") as folder:
        engine = Engine(Path(folder), embedder=embedder)
        try:
            rankings, storing, asking = asyncio.run(_run(engine, samples, progress))
        finally:
            engine.close()
    names = sorted({each.category for each in rankings})
    return RecallResult(
        overall=_level(rankings),
        categories=tuple(
            (name, _level([each for each in rankings if each.category == name])) for name in names
        ),
        conversations=len(samples),
        seconds_storing=storing,
        seconds_asking=asking,
    )
