"""`eval negative`: what recall gives where it should give nothing, and what its floor costs.

The project's own people are stored in a throwaway store, each as a person of their own; every
question of `cases/negative.jsonl` is put to recall as a turn would put it, and each relevant one a
second time without the floor. So whatever stands between a score and a prompt is measured: masks,
duplicates, k and the budgets. What is fitted to these cases, and how, is `calibration`'s.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final
from uuid import UUID

import numpy as np

from remembrancer import clock
from remembrancer.conversations.models import AuthoredBy, Conversation, IncomingMessage, Role
from remembrancer.embeddings.base import Embedder
from remembrancer.errors import InvalidInputError, RemembrancerError
from remembrancer.evals.figures import BASELESS, calibration_error
from remembrancer.evals.people import TOP, Case, Person, load_cases, load_people, read_lines
from remembrancer.evals.recall import Progress, check_vectors
from remembrancer.library.engine import Engine
from remembrancer.memory.models import Add, Status
from remembrancer.memory.service import Request as Write
from remembrancer.recall.models import Recall, Request
from remembrancer.scope import Actor, ActorKind, Scope

HALVES: Final = ("report", "tune", "all")
KINDS: Final = ("relevant", *BASELESS, "near_miss")
FIRST_CHAT: Final = clock.parse("2025-01-06T09:00:00Z")
"""When the first message of the first chat was said; chats are a day apart, messages a minute."""
DAY: Final = 86_400 * clock.SECOND
MINUTE: Final = 60 * clock.SECOND


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question was given. Ids are the cases' own."""

    case: Case
    half: str
    given: tuple[str, ...]
    without_floor: tuple[str, ...]
    """The same question without the floor; empty unless something is expected."""
    judged: tuple[tuple[float, bool], ...]
    """Relevance of the ten best candidates, and whether each was expected."""


@dataclass(frozen=True, slots=True)
class NegativeFigures:
    """Figures of one group of questions; shares 0…1, None where the group has no such question."""

    n: int
    baseless: int
    near_miss: int
    relevant: int
    false_injection: float | None
    """Of the baseless questions: given anything at all."""
    near_miss_given: float | None
    """Of those that ask about the person, and nothing was remembered: given anything at all."""
    hit5: float | None
    """Of the relevant ones: something expected is among the first five entries given."""
    hit5_without_floor: float | None
    hit5_lost: float | None
    """What the floor loses: the difference of the two."""
    given: float | None
    """Entries that a relevant question gets, of eight at most."""
    calibration_error: float | None
    """Expected calibration error of `relevance` over each question's ten best candidates."""

    def as_json(self) -> dict[str, object]:
        """Counts, and shares to four digits."""
        return {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True, slots=True)
class NegativeResult:
    """What `eval negative` measured, and each answer it was measured on."""

    overall: NegativeFigures
    halves: Mapping[str, NegativeFigures]
    languages: Mapping[str, NegativeFigures]
    """By the language of the question."""
    kinds: Mapping[str, NegativeFigures]
    answers: tuple[Answer, ...]

    def as_json(self) -> dict[str, object]:
        """The documented form of `eval negative --json`."""
        return {
            "overall": self.overall.as_json(),
            "halves": _all_json(self.halves),
            "languages": _all_json(self.languages),
            "kinds": _all_json(self.kinds),
        }


def run_negative(
    *,
    half: str = "all",
    people: Sequence[str] = (),
    embedder: Embedder | None = None,
    progress: Progress = lambda _what, _done, _total: None,
) -> NegativeResult:
    """Measure recall at its default settings on the project's own questions.

    `half` is `tune` (the people whose cases the numbers were fitted on), `report` or `all`;
    `people` picks some of those by id; `embedder` None is the local model. Raises
    `InvalidInputError` for a half or a person that isn't there.
    """
    chosen = _chosen(half, people)
    ids = {person.id for person in chosen}
    cases = [case for case in load_cases() if case.person in ids]
    with tempfile.TemporaryDirectory(prefix="remembrancer-eval-") as folder:
        engine = Engine(Path(folder), embedder=embedder)
        try:
            answers = asyncio.run(_run(engine, chosen, cases, progress))
        finally:
            engine.close()
    return result(answers)


def result(answers: Sequence[Answer]) -> NegativeResult:
    """The figures of all answers, and of each half, language and kind there is."""
    return NegativeResult(
        overall=measured(answers),
        halves=_grouped(answers, ("tune", "report"), lambda each: each.half),
        languages=_grouped(
            answers,
            sorted({each.case.language for each in answers}),
            lambda each: each.case.language,
        ),
        kinds=_grouped(answers, KINDS, lambda each: each.case.kind),
        answers=tuple(answers),
    )


def measured(answers: Sequence[Answer]) -> NegativeFigures:
    """The figures of one group."""
    baseless = [each for each in answers if each.case.kind in BASELESS]
    near = [each for each in answers if each.case.kind == "near_miss"]
    relevant = [each for each in answers if each.case.kind == "relevant"]
    hit5 = _share([_hit(each.case, each.given) for each in relevant])
    before = _share([_hit(each.case, each.without_floor) for each in relevant])
    judged = [pair for each in answers for pair in each.judged]
    error = calibration_error(
        np.array([relevance for relevance, _ in judged]),
        np.array([truth for _, truth in judged], dtype=np.float64),
    )
    return NegativeFigures(
        n=len(answers),
        baseless=len(baseless),
        near_miss=len(near),
        relevant=len(relevant),
        false_injection=_share([bool(each.given) for each in baseless]),
        near_miss_given=_share([bool(each.given) for each in near]),
        hit5=hit5,
        hit5_without_floor=before,
        hit5_lost=None if hit5 is None or before is None else before - hit5,
        given=fmean(len(each.given) for each in relevant) if relevant else None,
        calibration_error=error if judged else None,
    )


def _grouped(
    answers: Sequence[Answer], names: Sequence[str], name_of: Callable[[Answer], str]
) -> dict[str, NegativeFigures]:
    groups = {name: [each for each in answers if name_of(each) == name] for name in names}
    return {name: measured(group) for name, group in groups.items() if group}


def _hit(case: Case, ids: Sequence[str]) -> bool:
    return not set(case.expects).isdisjoint(ids[:5])


def _share(hits: Sequence[bool]) -> float | None:
    return fmean(hits) if hits else None


def _all_json(groups: Mapping[str, NegativeFigures]) -> dict[str, object]:
    return {name: figures.as_json() for name, figures in groups.items()}


def _chosen(half: str, people: Sequence[str]) -> list[Person]:
    if half not in HALVES:
        raise InvalidInputError(
            f"There is no half {half[:60]!r}.",
            field="half",
            value=half[:60],
            limit=", ".join(HALVES),
        )
    there = [person for person in load_people() if half in ("all", person.half)]
    unknown = sorted(set(people) - {person.id for person in there})
    if unknown:
        raise InvalidInputError(
            f"There is no person {unknown[0][:60]!r} in that half.",
            field="people",
            value=unknown[0][:60],
            limit=", ".join(person.id for person in there),
        )
    return [person for person in there if not people or person.id in people]


async def _run(
    engine: Engine, people: Sequence[Person], cases: Sequence[Case], progress: Progress
) -> list[Answer]:
    answers: list[Answer] = []
    for number, person in enumerate(people, start=1):
        scope, ids = await _store(engine, person)
        progress("storing people", number, len(people))
        for case in (case for case in cases if case.person == person.id):
            answers.append(await _answer(engine, scope, case, person.half, ids))
            progress("asking questions", len(answers), len(cases))
    return answers


async def _store(engine: Engine, person: Person) -> tuple[Scope, dict[UUID, str]]:
    """One person's memories and chats in a store, and which stored id is which document."""
    account = engine.accounts.add(person.id)
    scope = engine.accounts.scope(account)
    actor = Actor(ActorKind.PERSON, account.email, "eval")
    documents = read_lines(f"people/{person.id}.jsonl")[1:]
    memories = [each for each in documents if each["kind"] == "memory"]
    adds = tuple(Add(each["text"]) for each in memories)
    outcomes = await engine.memory.apply(scope, Write(adds, actor, atomic=True, wait=600.0))
    check_vectors(engine, sum(each.pending for each in outcomes))
    ids: dict[UUID, str] = {}
    for memory, outcome in zip(memories, outcomes, strict=True):
        assert outcome.status is Status.CREATED, memory["id"]
        assert outcome.id is not None
        ids[outcome.id] = memory["id"]
    chats: dict[str, list[Mapping[str, Any]]] = {}
    for each in documents:
        if each["kind"] == "message":
            chats.setdefault(each["chat"], []).append(each)
    for day, (name, messages) in enumerate(chats.items()):
        conversation = _conversation(name, messages, FIRST_CHAT + day * DAY)
        kept = await engine.conversations.store(scope, actor, conversation, AuthoredBy.PERSON)
        check_vectors(engine, kept.pending)
        ids |= dict(zip(kept.messages, [each["id"] for each in messages], strict=True))
    return scope, ids


def _conversation(
    name: str, messages: Sequence[Mapping[str, Any]], began: clock.Instant
) -> Conversation:
    return Conversation(
        "eval",
        tuple(
            IncomingMessage(
                Role(each["role"]), each["text"], began + place * MINUTE, speaker=each["speaker"]
            )
            for place, each in enumerate(messages)
        ),
        external_id=name,
    )


async def _answer(
    engine: Engine, scope: Scope, case: Case, half: str, ids: Mapping[UUID, str]
) -> Answer:
    recall = await _recall(engine, scope, Request(case.text))
    without: tuple[str, ...] = ()
    if case.expects:
        whole = await _recall(engine, scope, Request(case.text, floor=False))
        without = tuple(ids[each.id] for each in whole.entries)
    return Answer(
        case=case,
        half=half,
        given=tuple(ids[each.id] for each in recall.entries),
        without_floor=without,
        judged=tuple(
            (each.relevance, ids[each.id] in case.expects) for each in recall.trace.fused[:TOP]
        ),
    )


async def _recall(engine: Engine, scope: Scope, request: Request) -> Recall:
    """Raises `RemembrancerError` for one that failed in part: it would be another's figures."""
    found = await engine.recall.recall(scope, request)
    if found.degraded:
        raise RemembrancerError(
            f"Recall was degraded while it was measured: {', '.join(found.degraded)}.",
            field="recall",
            hint="`remembrancer doctor` says what is missing.",
        )
    return found
