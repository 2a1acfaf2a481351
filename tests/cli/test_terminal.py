"""What people stored can't drive the terminal, and no markup is read in it."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from remembrancer.cli import output
from remembrancer.cli.output import Output, as_json, one_line, plain
from tests.cli.conftest import Shell

NASTY = "[bold red]Mina[/bold red] :smile: \x1b[2J\x1b]0;owned\x07 \u202egnitirw\u2066 end"


def test_markup_and_escapes_are_printed_literally(shell: Shell):
    made = shell.add("Mina [bold]lives[/bold] :smile: in Lyon [/] [link=x]y")
    for words in (("list",), ("history", made), ("recall", "Where does Mina live in Lyon?")):
        said = shell.ran(*words).stdout
        assert "Mina [bold]lives[/bold] :smile: in Lyon [/] [link=x]y" in said


def test_control_characters_become_visible(shell: Shell):
    text = "Lyon \u202egnol\u2066 \u2028 end"
    shell.json("add", text)
    said = shell.ran("list").stdout
    assert "Lyon \\u202egnol\\u2066 \\u2028 end" in said
    raw = shell.ran("list", "--json").stdout
    assert "\u202e" not in raw
    assert json.loads(raw)["memories"][0]["content"] == text


def test_plain_leaves_words_of_every_script_alone():
    for text in ("麻婆豆腐", "a\tb\nc", "שלום", "👩‍👩‍👧", "naïve"):
        assert plain(text) == text
    assert plain("\x1b[31m\x9b\x7f\r") == "\\x1b[31m\\x9b\\x7f\\x0d"
    assert one_line("a\n b\x00") == "a b\\x00"


def test_json_is_one_line_and_the_same_object():
    value = {"content": NASTY + "\x9b麻"}
    written = as_json(value)
    assert not any(each in written for each in "\x1b\x07\x9b\u202e\u2066\n")
    assert "麻" in written
    assert json.loads(written) == value


def test_on_a_terminal_lines_wrap_and_nothing_is_cut(monkeypatch: pytest.MonkeyPatch):
    stream = io.StringIO()
    monkeypatch.setattr(
        output, "_console",
        lambda _stream: Console(
            file=stream, force_terminal=True, width=40, markup=False, emoji=False,
            highlight=False, color_system=None,
        ),
    )  # fmt: skip
    out = Output(as_json=False)
    words = " ".join(f"word{number}" for number in range(40))
    out.line(words, indent=2)
    out.line(NASTY)
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= 40 for line in lines)
    shown = " ".join(stream.getvalue().split())
    assert words in shown
    assert "[bold red]Mina[/bold red] :smile:" in shown
    assert "\x1b" not in stream.getvalue()
    assert lines[1].startswith("  word")


def test_errors_are_neutralised_too(shell: Shell):
    result = shell.ran("history", "\x1b[2Jnonsense")
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert "nonsense" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_long_work_shows_a_bar_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def worked() -> str:
        with Output(as_json=False).progress("Reading", 3) as advance:
            advance(3)
        return capsys.readouterr().err

    assert worked() == ""
    stream = io.StringIO()
    shown = Console(file=stream, force_terminal=True, width=60)
    monkeypatch.setattr(output, "_console", lambda _stream: shown)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    worked()
    assert "Reading" in stream.getvalue()
    assert "3/3" in stream.getvalue()
