"""Sizes, names and blind excepts. Raising a budget needs a decision record."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGE, name_of, python_files, tree_of

FILE_LINES = 400
FUNCTION_LINES = 50
VAGUE_NAME = re.compile(r"^(utils?|helpers?|managers?|handlers?)$|_v\d+$|_(utils?|helpers?)$")
BLIND = {"Exception", "BaseException"}
STATED_REASON = re.compile(r"# noqa: BLE001\W+\w.{7,}")
SPEAKS = ("cli", "evals")
"""Packages whose business is to print."""


def long_functions(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.lineno}: {node.name} has {lines} lines"


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def blind_excepts(source: str) -> Iterator[str]:
    """Handlers of everything that neither re-raise nor say why on their line."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ExceptHandler) or not _caught(node) & BLIND:
            continue
        raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
        if not raises and not STATED_REASON.search(lines[node.lineno - 1]):
            yield f"{node.lineno}: blind except"


def prints(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield f"{node.lineno}: print"


def _found(check, paths: list[Path]) -> list[str]:
    return [f"{name_of(path)}:{line}" for path in paths for line in check(path.read_text("utf-8"))]


def test_files_are_within_the_budget():
    counted = {name_of(path): len(path.read_bytes().splitlines()) for path in python_files()}
    assert counted
    assert {name: lines for name, lines in counted.items() if lines > FILE_LINES} == {}


def test_functions_are_within_the_budget():
    assert _found(long_functions, python_files()) == []


def test_no_blind_except():
    assert _found(blind_excepts, python_files()) == []


def test_only_the_command_line_and_the_evals_print():
    quiet = [
        path
        for path in python_files(PACKAGE)
        if path.relative_to(PACKAGE).with_suffix("").parts[0] not in SPEAKS
    ]
    assert quiet
    assert _found(prints, quiet) == []


def test_modules_are_named_by_what_they_hold():
    vague = [
        name_of(path)
        for path in python_files()
        if any(VAGUE_NAME.search(part) for part in path.relative_to(PACKAGE.parents[1]).parts[:-1])
        or VAGUE_NAME.search(path.stem)
    ]
    assert vague == []


def test_every_module_says_what_it_is_for():
    silent = [
        name_of(path)
        for path in python_files(PACKAGE)
        if path.read_text("utf-8").strip() and not ast.get_docstring(tree_of(path))
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (long_functions, "def f():\n" + "    x = 1\n" * FUNCTION_LINES),
        (blind_excepts, "try:\n    f()\nexcept Exception:\n    pass\n"),
        (blind_excepts, "try:\n    f()\nexcept (OSError, BaseException):\n    pass\n"),
        (blind_excepts, "try:\n    f()\nexcept:  # noqa: BLE001\n    pass\n"),
        (prints, "print(1)\n"),
    ],
)
def test_the_checks_find_what_they_look_for(check, source):
    assert len(list(check(source))) == 1


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (long_functions, "def f():\n" + "    x = 1\n" * (FUNCTION_LINES - 1)),
        (blind_excepts, "try:\n    f()\nexcept Exception:\n    g()\n    raise\n"),
        (
            blind_excepts,
            "try:\n    f()\nexcept Exception:  # noqa: BLE001 - sinks raise anything\n    g()\n",
        ),
        (blind_excepts, "try:\n    f()\nexcept OSError:\n    pass\n"),
        (prints, "console.print(1)\n"),
    ],
)
def test_the_checks_pass_what_is_right(check, source):
    assert list(check(source)) == []
