"""Committed files hold no path of a machine and no address of a package registry."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.architecture.tree import TOP, files, name_of

# Written in parts, so that this file passes its own check.
_HOME = "/" + "root"
_TOP = "/" + "work"
MACHINE_PATH = re.compile(
    rf"(?<![\w.~-])({_HOME}(/|\b)|{_TOP}/(main|shared|\.)|/{'home'}/\w|/{'Users'}/\w|/opt/(pypi|wheels))"
)
TEMPORARY = re.compile(r"(?<![\w.~-])/tmp/\w")
REGISTRY = re.compile(
    r"python" + r"hosted\.org|pypi\.(org|io)|registry\.npm|npmjs\.(com|org)|deb\.debian",
    re.IGNORECASE,
)
LOCK_ADDRESS = re.compile(r"://|--(extra-)?index-url|--find-links|^-f ", re.MULTILINE)


def machine_words(name: str, text: str) -> Iterator[str]:
    patterns = [MACHINE_PATH, REGISTRY]
    if name.endswith(".md"):
        patterns.append(TEMPORARY)
    if name.startswith("requirements/"):
        patterns.append(LOCK_ADDRESS)
    for pattern in patterns:
        yield from (match.group() for match in pattern.finditer(text))


def _texts() -> Iterator[tuple[str, str]]:
    for path in files():
        data = path.read_bytes()
        if b"\0" not in data[:8192]:
            yield name_of(path), data.decode("utf-8", errors="replace")


def test_no_committed_file_names_a_machine_or_a_registry():
    found = {name: hits for name, text in _texts() if (hits := list(machine_words(name, text)))}
    assert found == {}


def test_the_whole_tree_is_looked_at():
    seen = {name for name, _ in _texts()}
    assert {"Makefile", "pyproject.toml", "requirements/dev.txt", ".ci/run"} <= seen
    assert (TOP / "requirements" / "dev.txt").read_text("utf-8").count("--hash=sha256:") > 50


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", f"see {_HOME}/x"),
        ("src/a.py", f'open("{_TOP}/shared/x")'),
        ("docs/a.md", "cd /" + "tmp/x"),
        ("a.toml", "https://" + "pypi" + ".org/simple"),
        ("a.lock", "https://files.python" + "hosted.org/packages"),
        ("requirements/dev.txt", "a @ https://example.org/a.whl"),
    ],
)
def test_each_kind_is_seen(name, text):
    assert list(machine_words(name, text))


@pytest.mark.parametrize("text", ["/work/projects/atlas", "the root/leaf", "a pypi package", "~/x"])
def test_ordinary_words_pass(text):
    assert list(machine_words("docs/a.md", text)) == []
