"""`remembrancer`: the root of the command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from remembrancer.cli import (
    care,
    demo,
    doctor,
    evaluating,
    memories,
    moving,
    people,
    reading,
    review,
)
from remembrancer.cli.commands import Commands
from remembrancer.cli.session import Session

app = typer.Typer(
    name="remembrancer",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="A long-term memory that keeps its record.",
    epilog="Times are dates (2026-05-01) or RFC 3339 with an offset. "
    "Settings: REMEMBRANCER_* variables, then remembrancer.toml; `doctor` shows them.",
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"remembrancer {version('remembrancer')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Tracebacks instead of one line; works anywhere.")
    ] = False,
) -> None:
    """A long-term memory that keeps its record."""


for _module in (memories, reading, review, moving, people, care, doctor, evaluating, demo):
    _module.register(app)


def run() -> None:
    """The program's entry."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is escaped, never an error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    Session.logs_to_stderr = True
    app(prog_name="remembrancer")
