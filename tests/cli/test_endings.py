"""How commands end: exit codes, and errors in both modes."""

from __future__ import annotations

import pytest

from remembrancer.cli.commands import without_debug
from tests.cli.conftest import Shell

UNKNOWN = "01999999-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    "words",
    [
        ("history", UNKNOWN),
        ("correct", UNKNOWN, "x", "--was-wrong"),
        ("retract", UNKNOWN, "--was-wrong"),
        ("archive", UNKNOWN),
        ("move", UNKNOWN, "--path", "a"),
        ("pin", UNKNOWN),
        ("forget", UNKNOWN),
        ("review", "approve", UNKNOWN),
        ("review", "reject", UNKNOWN),
    ],
)
def test_an_unknown_id_ends_in_1(shell: Shell, words: tuple[str, ...]):
    result = shell.ran(*words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert UNKNOWN in result.stderr
    assert shell.json(*words, code=1)["code"] == "not_found"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("add", ""), "content"),
        (("add", "", "--space", "New"), "content"),
        (("add", "x", "--path", "a/../b"), "path"),
        (("add", "x", "--type", "fact"), "type"),
        (("add", "x", "--valid-from", "2026-01-01T12:00"), "valid_from"),
        (("list", "--type", "fact"), "type"),
        (("list", "--state", "lost"), "trust"),
        (("list", "--limit", "-1"), "limit"),
        (("list", "--known-at", "yesterday"), "known_at"),
        (("recall", "x", "--valid-at", "soon"), "valid_at"),
        (("history", "nonsense"), "id"),
    ],
)
def test_W5_bad_input_names_the_field_and_stores_nothing(
    shell: Shell, words: tuple[str, ...], field: str
):
    result = shell.ran(*words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    problem = shell.json(*words, code=1)
    assert problem["code"] == "invalid"
    assert problem["field"].startswith(field)
    assert shell.json("events")["events"] == []


@pytest.mark.parametrize(
    "words",
    [("add",), ("nonsense",), ("list", "--nonsense"), ("recall", "x", "--k", "many"), ("user",)],
)
def test_wrong_use_ends_in_2(shell: Shell, words: tuple[str, ...]):
    if words == ("user",):
        assert shell.ran("user", "nonsense").exit_code == 2
        return
    result = shell.ran(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert "--help" in result.stderr
    problem = shell.json(*words, code=2)
    assert problem["code"] == "usage"
    assert problem["message"]


def test_an_internal_error_is_one_line_and_a_traceback_on_demand(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("all\nwrong")

    monkeypatch.setattr("remembrancer.library.person.PersonalMemory.list", broken)
    result = shell.ran("list")
    assert result.exit_code == 1
    said = "Internal error: ZeroDivisionError at remembrancer."
    assert result.stderr.startswith(said)
    assert result.stderr.endswith(" Run it with --debug for the words and the traceback.\n")
    assert len(result.stderr.splitlines()) == 1
    assert "wrong" not in result.stderr, "an exception's words may be a memory's"
    assert shell.json("list", code=1)["code"] == "internal"
    assert isinstance(shell.ran("list", "--debug").exception, ZeroDivisionError)
    assert shell.ran("--debug", "list").exception is not None


def test_debug_shows_where_a_refusal_came_from(shell: Shell):
    result = shell.ran("history", UNKNOWN, "--debug")
    assert type(result.exception).__name__ == "NotFoundError"
    assert without_debug(["add", "--", "--debug"]) == (["add", "--", "--debug"], False)


def test_an_interrupt_ends_in_130(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("remembrancer.library.person.PersonalMemory.list", interrupted)
    result = shell.ran("list")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    assert shell.json("list", code=130)["code"] == "interrupted"


def test_a_configuration_that_is_wrong_is_named(shell: Shell):
    (shell.data / "remembrancer.toml").write_text("embeder = 'local'\n")
    problem = shell.json("list", code=1)
    assert (problem["code"], problem["field"]) == ("configuration", "embeder")
    (shell.data / "remembrancer.toml").unlink()
    shell.environment["REMEMBRANCER_EMBEDDER"] = "magic"
    assert shell.json("list", code=1)["code"] == "configuration"


@pytest.mark.parametrize("url", ["mysql://x/y", "no url at all"])
def test_a_database_url_that_is_none_is_named(shell: Shell, url: str):
    shell.url = url
    problem = shell.json("list", code=1)
    assert (problem["code"], problem["field"]) == ("configuration", "database_url")


def test_a_folder_that_cant_be_made_is_named(shell: Shell):
    place = shell.data / "file"
    place.write_text("")
    shell.data = place / "below"
    assert shell.json("list", code=1)["code"] == "store_unavailable"


def test_help_and_version(empty: Shell):
    from typer.testing import CliRunner

    from remembrancer.cli.main import app

    said = CliRunner().invoke(app, ["--version"])
    assert said.exit_code == 0
    assert said.stdout.startswith("remembrancer 0.")
    for words in (["--help"], ["review", "--help"], ["add", "-h"]):
        found = CliRunner().invoke(app, words)
        assert found.exit_code == 0
        assert "Usage:" in found.stdout
