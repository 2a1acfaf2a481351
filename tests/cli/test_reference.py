"""The reference page is what the program says of itself."""

from __future__ import annotations

from typer.main import get_command

from remembrancer.cli.main import app
from remembrancer.cli.reference import options, page, verbs, written
from tests.architecture.tree import TOP

PAGE = TOP / "docs" / "reference" / "cli.md"
AGAIN = "Run: .venv/bin/python -m remembrancer.cli.reference > docs/reference/cli.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(), AGAIN


def test_every_verb_and_option_is_on_it_with_a_meaning():
    text = PAGE.read_text("utf-8")
    known = dict(verbs(get_command(app)))
    assert {"add", "recall", "review approve", "user add", "eval recall", "doctor"} <= set(known)
    for name, command in known.items():
        assert f"## `{name}" in text, AGAIN
        assert command.help
        for each in options(command):
            assert written(each).replace("|", "\\|") in text, AGAIN
            assert each.help, f"{name} {written(each)} says nothing"


def test_every_verb_has_the_common_options():
    for name, command in verbs(get_command(app)):
        flags = {flag for each in command.params for flag in each.opts}
        assert {"--user", "--data", "--database-url", "--json"} <= flags, name


def test_reads_take_both_times_and_writes_an_agent():
    flags = {
        name: {flag for each in command.params for flag in each.opts}
        for name, command in verbs(get_command(app))
    }
    for name in ("recall", "list", "history"):
        assert {"--valid-at", "--known-at"} <= flags[name]
    for name in (
        "add", "correct", "retract", "move", "pin", "confirm", "dispute", "archive", "reject",
        "forget", "undo", "import", "clear", "review approve", "review reject", "chat delete",
    ):  # fmt: skip
        assert "--as-agent" in flags[name], name
    assert "--as-agent" not in flags["list"]


def test_the_json_forms_are_documented():
    text = (TOP / "docs" / "reference" / "cli-json.md").read_text("utf-8")
    for name, _ in verbs(get_command(app)):
        assert f"`{name}`" in text, name
