"""Every way a command ends: exit codes, one-line errors, and the same as JSON.

0 done; 1 the library refused it, an unknown id, a stale version, damage, or an internal error;
2 the command line wasn't understood; 130 interrupted. With `--json` an error is one object on
standard output with a stable `code`; otherwise it is one line on standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final, cast

import typer
from typer.core import TyperGroup

from remembrancer.cli.output import Output, one_line
from remembrancer.errors import RemembrancerError

DONE: Final = 0
REFUSED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130

# Typer carries its own copy of click in newer releases: the class is found by its descendant.
_USAGE: Final = cast(type[Exception], typer.BadParameter.__mro__[1])


class WrongUseError(Exception):
    """Options that exclude or need each other. The message is one line."""


def before_dashes(args: Sequence[str]) -> Sequence[str]:
    """The arguments in which options are looked for: those before a bare `--`."""
    return args[: args.index("--")] if "--" in args else args


def without_debug(args: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without `--debug`, which may stand anywhere, and whether it was there."""
    options = list(before_dashes(args))
    kept = [each for each in options if each != "--debug"]
    return kept + list(args[len(options) :]), len(kept) < len(options)


class Commands(TyperGroup):
    """The root group: runs a verb and turns whatever happens into an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Never returns: ends in `SystemExit`."""
        given, debug = without_debug(sys.argv[1:] if args is None else args)
        out = Output(as_json="--json" in before_dashes(given))
        extra["standalone_mode"] = False
        try:
            code = super().main(given, **extra)
        except _USAGE as error:
            sys.exit(_wrong_use(out, error))
        except WrongUseError as error:
            out.error({"code": "usage", "message": str(error)})
            sys.exit(WRONG_USE)
        except RemembrancerError as error:
            if debug:
                raise
            out.error(error.as_dict())
            sys.exit(REFUSED)
        except typer.Abort:
            out.error({"code": "interrupted", "message": "Interrupted."})
            sys.exit(INTERRUPTED)
        except Exception as error:
            if debug:
                raise
            out.error(_internal(error))
            sys.exit(REFUSED)
        if code == INTERRUPTED:
            out.error({"code": "interrupted", "message": "Interrupted."})
        sys.exit(code or DONE)


def _wrong_use(out: Output, error: Exception) -> int:
    context = getattr(error, "ctx", None)
    path = "remembrancer" if context is None else context.command_path
    said = one_line(getattr(error, "format_message", error.__str__)())
    problem: dict[str, object] = {"code": "usage", "message": said}
    problem["hint"] = f"See `{path} --help`."
    out.error(problem)
    return WRONG_USE


def _internal(error: Exception) -> dict[str, object]:
    return {
        "code": "internal",
        "message": f"Internal error: {type(error).__name__} at {_place(error)}.",
        "hint": "Run it with --debug for the words and the traceback.",
    }


def _place(error: Exception) -> str:
    """`module:line` of the innermost frame of this program's. No words: they may be a memory's."""
    found = "?"
    step = error.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", "?"))
        if found == "?" or module.partition(".")[0] == "remembrancer":
            found = f"{module}:{step.tb_lineno}"
        step = step.tb_next
    return found
