"""The reference page of every verb, written from the program itself.

`python -m remembrancer.cli.reference > docs/reference/cli.md` makes it; a test holds it to that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from typer.main import get_command

from remembrancer.cli.main import app

HEAD: Final = """# The command line

`remembrancer VERB …`. This page is written by `python -m remembrancer.cli.reference`; what `--json`
answers is described in [cli-json.md](cli-json.md).

## Every verb has

| option | meaning |
|---|---|
| `--user EMAIL` | whose memory; without it `REMEMBRANCER_USER`, else the only account there is |
| `--data DIR` | the data folder of SQLite files |
| `--database-url URL` | PostgreSQL instead of files |
| `--json` | one object for programs on standard output |
| `--help`, `-h` | what the verb does |
| `--debug` | tracebacks instead of one line |

`verify`, `doctor` and `reindex` go over everybody unless `--user` is given. `migrate`, `user …`,
`eval …` and `demo` accept `--user` and don't look at it. Verbs that write also have:

| option | meaning |
|---|---|
| `--as-agent NAME` | write as a machine of that name, within the person's `policy` |

Times are dates (`2026-05-01`: midnight in the person's zone; as an end, the whole day) or RFC 3339
with an offset. A time without an offset is refused. What begins with `-` stands after a bare `--`.

## Exit codes

| code | meaning |
|---|---|
| 0 | done; also for a duplicate, a candidate, and a recall or list with nothing in it |
| 1 | refused, unknown id, stale version, damage found, or another error |
| 2 | the command line wasn't understood |
| 130 | interrupted |

An error is one line on standard error; with `--json` one object with a stable `code` on standard
output. What is degraded, or still to come, is said on standard error.
"""
_COMMON: Final = frozenset({"user", "data", "database_url", "json", "as_agent", "help", "debug"})


def verbs(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command under this one by its full name; groups that do something too."""
    for name, each in command.commands.items():
        full = f"{path} {name}".strip()
        if hasattr(each, "commands"):
            if each.invoke_without_command:
                yield full, each
            yield from verbs(each, full)
        else:
            yield full, each


def options(command: Any) -> list[Any]:
    """A verb's own arguments and options."""
    return [each for each in command.params if each.name not in _COMMON]


def written(parameter: Any) -> str:
    """How a parameter is written: `ID`, `--path PATH`, `--off`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    flags = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return flags if parameter.is_flag else f"{flags} {parameter.metavar}"


def page() -> str:
    """The whole page, as Markdown."""
    parts = [HEAD]
    for name, command in verbs(get_command(app)):
        words = (command.help or "").strip().replace("\n", " ")
        shown = options(command)
        arguments = [each for each in shown if each.param_type_name == "argument"]
        usage = " ".join(
            [name, *(written(a) if a.required else f"[{written(a)}]" for a in arguments)]
        )
        parts.append(f"\n## `{usage}`\n\n{words}\n")
        if shown:
            parts.append("\n| | |\n|---|---|\n")
            parts += [f"| `{_cell(written(each))}` | {_cell(_help(each))} |\n" for each in shown]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _help(parameter: Any) -> str:
    needed = parameter.required and parameter.param_type_name != "argument"
    return f"{parameter.help or ''}{' Needed.' if needed else ''}"


if __name__ == "__main__":
    sys.stdout.write(page())
