"""The options every verb has, added to each verb's own.

`verb` registers a function whose first parameter is a `Session`; the rest of its parameters are
its own arguments and options, as typer reads them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec

import typer

from remembrancer.cli.session import Given, Session

P = ParamSpec("P")

SpaceName = Annotated[str | None, typer.Option("--space", metavar="NAME", help="In this space.")]
TypeName = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="user (standing profile) or context (recalled)."),
]
PathName = Annotated[
    str | None, typer.Option("--path", metavar="PATH", help="Where it stands, like work/atlas.")
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]
Expected = Annotated[
    int | None,
    typer.Option("--expected-version", metavar="N", help="Refuse if it is at another version."),
]
WasWrong = Annotated[bool, typer.Option("--was-wrong", help="It was never so.")]
ChangedAt = Annotated[
    str | None, typer.Option("--changed-at", metavar="T", help="The world changed then.")
]
ValidAt = Annotated[
    str | None, typer.Option("--valid-at", metavar="T", help="What was true in the world then.")
]
KnownAt = Annotated[
    str | None, typer.Option("--known-at", metavar="T", help="What this store believed then.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


class For(Enum):
    """Whom a verb is for, which decides its common options."""

    READ = "read"
    """A person's memory, to look at."""
    WRITE = "write"
    """A person's memory, to change: `--as-agent` too."""
    EVERYBODY = "everybody"
    """One person with `--user`, else all."""
    STORE = "store"
    """The installation; `--user` is accepted and means nothing."""


_USER: Final[Mapping[For, str]] = {
    For.READ: "Whose memory.",
    For.WRITE: "Whose memory.",
    For.EVERYBODY: "Only this person; everybody without it.",
    For.STORE: "",
}


@dataclass(frozen=True, slots=True)
class _Common:
    name: str
    annotation: Any
    default: object


def _common(audience: For) -> list[_Common]:
    user = typer.Option(
        "--user", metavar="EMAIL", help=_USER[audience], hidden=audience is For.STORE
    )
    found = [
        _Common("user", Annotated[str | None, user], None),
        _Common(
            "data",
            Annotated[
                Path | None,
                typer.Option("--data", metavar="DIR", help="The data folder of SQLite files."),
            ],
            None,
        ),
        _Common(
            "database_url",
            Annotated[
                str | None,
                typer.Option("--database-url", metavar="URL", help="PostgreSQL instead of files."),
            ],
            None,
        ),
        _Common(
            "json", Annotated[bool, typer.Option("--json", help="An object for programs.")], False
        ),
    ]
    if audience is For.WRITE:
        agent = typer.Option("--as-agent", metavar="NAME", help="Write as a machine of that name.")
        found.append(_Common("as_agent", Annotated[str | None, agent], None))
    return found


def verb(
    app: typer.Typer, name: str, audience: For, **settings: Any
) -> Callable[[Callable[Concatenate[Session, P], int | None]], Callable[..., int | None]]:
    """Register a verb. Its function returns an exit code, or None for 0."""

    def register(
        function: Callable[Concatenate[Session, P], int | None],
    ) -> Callable[..., int | None]:
        wrapper = _wrap(function, audience)
        return app.command(name, **settings)(wrapper)

    return register


def group_verb(
    app: typer.Typer, audience: For
) -> Callable[[Callable[[Session], int | None]], Callable[..., int | None]]:
    """What a group does when no verb of it is named. Its options hold for its verbs as well."""

    def register(function: Callable[[Session], int | None]) -> Callable[..., int | None]:
        wrapper = _wrap(function, audience)
        return app.callback(invoke_without_command=True)(wrapper)

    return register


def _wrap(
    function: Callable[Concatenate[Session, P], int | None], audience: For
) -> Callable[..., int | None]:
    common = _common(audience)
    run: Callable[..., int | None] = function
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

    def wrapper(context: typer.Context, **values: Any) -> int | None:
        given = {each.name: values.pop(each.name) for each in common}
        above = context.parent.obj if context.parent is not None else None
        merged = {**given, **{n: v for n, v in (above or {}).items() if not given.get(n)}}
        if context.invoked_subcommand is not None:
            context.obj = merged
            return None
        with Session(Given(**merged)) as session:
            return run(session, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(each.replace(kind=keyword) for each in own),
        *(
            inspect.Parameter(each.name, keyword, default=each.default, annotation=each.annotation)
            for each in common
        ),
    ]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
    wrapper.__name__, wrapper.__doc__ = function.__name__, function.__doc__
    wrapper.__module__ = function.__module__
    return wrapper
