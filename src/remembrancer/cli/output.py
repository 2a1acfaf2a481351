"""Printing: words for people, objects for programs, and nothing that could drive a terminal.

What people stored is printed literally: no markup is read in it, and control characters and
overrides of writing direction become visible escapes. Lines are wrapped on a terminal only, and
nothing is ever cut.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Json: TypeAlias = Mapping[str, object]

# C0 but tab and line feed, DEL, C1, line and paragraph separators, overrides and isolates.
_ACTIVE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What JSON allows raw and a terminal may still act upon.
_ACTIVE_IN_JSON: Final = re.compile(
    "[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str) -> str:
    """The text with active characters as visible escapes: `\\x1b`, `\\u202e`."""
    return _ACTIVE.sub(lambda found: _escape(found.group()), text)


def one_line(text: str) -> str:
    """`plain`, on one line."""
    return plain(" ".join(text.split()))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def as_json(value: Json) -> str:
    """One line of JSON. Characters a terminal acts upon are escaped; other scripts are readable."""
    written = json.dumps(value, ensure_ascii=False, default=str)
    return _ACTIVE_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", written)


class Output:
    """Where a verb writes. `quiet` words and progress are for people only."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    @cached_property
    def console(self) -> Console:
        """Standard output, for people."""
        return _console(sys.stdout)

    def json(self, value: Json) -> None:
        """One object on standard output."""
        sys.stdout.write(as_json(value) + "\n")

    def answer(self, value: Json, say: Callable[[], None]) -> None:
        """The object for programs, or the words for people."""
        if self.as_json:
            self.json(value)
        else:
            say()

    def line(self, *parts: str | tuple[str, str], indent: int = 0) -> None:
        """One line of words; a pair is words and their style."""
        self.text(styled(*parts), indent=indent)

    def text(self, text: Text, *, indent: int = 0) -> None:
        """A text, whole. On a terminal it wraps, hanging under its indent."""
        from rich.padding import Padding

        if self.console.is_terminal:
            self.console.print(Padding(text, (0, 0, 0, indent), expand=False))
            return
        pad = " " * indent
        for line in text.split("\n", allow_blank=True):
            self.console.print(pad, line, sep="", soft_wrap=True)

    def table(self, rows: list[list[str]], *, heads: list[str]) -> None:
        """Columns under heads, for short values; the last column wraps on a terminal."""
        from rich.table import Table

        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="dim",
            show_header=any(heads),
        )
        for head in heads:
            last = head == heads[-1]
            table.add_column(head, overflow="fold", no_wrap=not last)
        for row in rows:
            table.add_row(*(styled(each) for each in row))
        width = None if self.console.is_terminal else 10_000
        self.console.print(table, width=width)

    def notice(self, words: str) -> None:
        """One line on standard error, for people: what is degraded, or still to come."""
        if not self.as_json:
            self.aside(words)

    def aside(self, words: str) -> None:
        """One line on standard error, also beside JSON."""
        sys.stdout.flush()
        sys.stderr.write(one_line(words) + "\n")

    def error(self, problem: Json) -> None:
        """An error: an object on standard output, or one line on standard error."""
        if self.as_json:
            self.json(problem)
            return
        hint = problem.get("hint")
        self.aside(f"{problem['message']} {hint}" if hint else str(problem["message"]))

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """A bar on standard error while something long runs; nothing off a terminal."""
        if self.as_json or not sys.stderr.isatty():
            yield lambda _step: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=_console(sys.stderr), transient=True) as shown:
            task = shown.add_task(label, total=total)
            yield lambda step: shown.advance(task, step)


def styled(*parts: str | tuple[str, str]) -> Text:
    """Words as they stand, neutralised; a pair is words and their style. No markup is read."""
    from rich.text import Text

    text = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        text.append(plain(words), style)
    return text


def _console(stream: IO[str]) -> Console:
    from rich.console import Console

    settings: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    return Console(file=stream, **settings)
