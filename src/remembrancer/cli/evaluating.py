"""Measuring recall: over a public set, and over the project's own questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.options import For, verb
from remembrancer.cli.session import Session
from remembrancer.errors import InvalidInputError

if TYPE_CHECKING:
    from remembrancer.evals.metrics import Figures
    from remembrancer.evals.negative import NegativeFigures
    from remembrancer.evals.recall import Level

Conversations = Annotated[
    str, typer.Option("--conversations", metavar="N,N", help="Only these, counted from 0.")
]

CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open", "4": "single-hop", "5": "adversarial"}
"""What the set calls its categories."""


class Half(StrEnum):
    """Which of the project's own people are asked."""

    TUNE = "tune"
    REPORT = "report"
    ALL = "all"


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    group = typer.Typer(help="Measure recall.", no_args_is_help=True)
    app.add_typer(group, name="eval")
    verb(group, "recall", For.STORE)(recall)
    verb(group, "negative", For.STORE)(negative)


@contextmanager
def _steps(session: Session) -> Iterator[Callable[[str, int, int], None]]:
    """A bar of progress on a terminal for each stage of what says (what, done, total)."""
    with ExitStack() as bar:
        stage, at = "", 0

        def idle(_step: int) -> None:
            """No stage has begun."""

        advance: Callable[[int], None] = idle

        def step(what: str, done: int, total: int) -> None:
            nonlocal stage, at, advance
            if what != stage:
                bar.close()
                stage, at = what, 0
                advance = bar.enter_context(session.out.progress(what, total))
            advance(done - at)
            at = done

        yield step


def _numbers(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",") if each.strip()]
    except ValueError:
        raise InvalidInputError(
            f"conversations {text[:60]!r} are no numbers.", field="conversations", value=text[:60]
        ) from None


def recall(
    session: Session,
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="The set's JSON file.")],
    audited: Annotated[
        bool,
        typer.Option(
            "--audited", help="Take the corrected evidence of audit_errors.json beside it."
        ),
    ] = False,
    conversations: Conversations = "",
) -> None:
    """Measure how well recall ranks, on LoCoMo, in a throwaway store."""
    from remembrancer.evals.recall import run_recall

    if not dataset.is_file():
        raise InvalidInputError(
            f"There is no file {dataset}.",
            field="dataset",
            value=str(dataset),
            hint="Give the path of locomo10.json.",
        )
    with _steps(session) as step:
        found = run_recall(
            dataset, audited=audited, conversations=_numbers(conversations), progress=step
        )

    def say() -> None:
        for name, level_of in (("turn", _by_turn), ("session", _by_session)):
            session.out.line((f"Recall by {name}, %", "bold"))
            rows = [_row("all", level_of(found.overall))]
            for number, level in found.categories:
                words = f"{number} {CATEGORIES.get(number, '')}".strip()
                rows.append(_row(words, level_of(level)))
            cuts = [f"@{k}" for k, _ in level_of(found.overall).recall]
            heads = ["questions", *cuts, "hit10", "ndcg10", "category"]
            session.out.table(rows, heads=heads)

    session.out.answer(found.as_json(), say)


def _by_turn(level: Level) -> Figures:
    return level.turn


def _by_session(level: Level) -> Figures:
    return level.session


def _row(name: str, figures: Figures) -> list[str]:
    shares = [*(share for _, share in figures.recall), figures.hit10, figures.ndcg10]
    return [str(figures.n), *(_percent(each) for each in shares), name]


def _percent(share: float | None) -> str:
    return "—" if share is None else f"{100 * share:.1f}"


def negative(
    session: Session,
    *,
    half: Annotated[
        Half,
        typer.Option("--half", metavar="tune|report|all", help="Which of the project's people."),
    ] = Half.ALL,
    person: Annotated[
        list[str] | None,
        typer.Option("--person", metavar="ID", help="Only this one of them; may be repeated."),
    ] = None,
) -> None:
    """Measure what is recalled where nothing should be, and what the floor costs."""
    from remembrancer.evals.negative import run_negative

    with _steps(session) as step:
        found = run_negative(half=half.value, people=person or (), progress=step)

    def say() -> None:
        groups = {"all": found.overall, **found.halves, **found.languages, **found.kinds}
        rows = [_negative_row(name, figures) for name, figures in groups.items()]
        heads = ["questions", "false", "near miss", "hit5", "lost", "given", "group"]
        session.out.line(("What recall gives, at its default settings; shares in %", "bold"))
        session.out.table(rows, heads=heads)

    session.out.answer(found.as_json(), say)


def _negative_row(name: str, figures: NegativeFigures) -> list[str]:
    shares = (
        figures.false_injection,
        figures.near_miss_given,
        figures.hit5,
        figures.hit5_lost,
    )
    given = "—" if figures.given is None else f"{figures.given:.1f}"
    return [str(figures.n), *(_percent(each) for each in shares), given, name]
