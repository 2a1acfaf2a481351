"""A shell to type commands into: its own data folder, the deterministic test embedder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import structlog
from typer.main import get_command
from typer.testing import CliRunner

from remembrancer.cli.main import app

_built = cache(get_command)
"""Commands are built once: that takes longer than running most of them."""


@dataclass
class Shell:
    """Types commands; `ran` gives code and both streams, `json` the object of a done one."""

    data: Path
    url: str | None = None
    user: str | None = None
    environment: dict[str, str | None] = field(default_factory=dict)

    def ran(self, *words: str, stdin: str | bytes | None = None) -> Any:
        where = ["--data", str(self.data)]
        if self.url is not None:
            where += ["--database-url", self.url]
        if self.user is not None and "--user" not in words:
            where += ["--user", self.user]
        args = list(words)
        place = args.index("--") if "--" in args else len(args)
        args[place:place] = where
        return CliRunner().invoke(app, args, input=stdin, env=self.environment)

    def json(self, *words: str, code: int = 0, stdin: str | bytes | None = None) -> Any:
        place = words.index("--") if "--" in words else len(words)
        result = self.ran(*words[:place], "--json", *words[place:], stdin=stdin)
        assert result.exit_code == code, result.output
        assert len(result.stdout.splitlines()) == 1
        return json.loads(result.stdout)

    def add(self, text: str, *words: str) -> str:
        found = self.json("add", text, *words)
        return str(found["id"])


@pytest.fixture(autouse=True)
def as_the_program_has_it(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logs don't go to standard output, which holds answers only."""
    monkeypatch.setattr("typer.testing._get_command", _built)
    structlog.configure(logger_factory=lambda *_: structlog.WriteLogger(sys.stderr))
    yield
    structlog.reset_defaults()


def environment() -> dict[str, str | None]:
    return {
        "REMEMBRANCER_EMBEDDER": "trigram",
        "REMEMBRANCER_DATABASE_URL": None,
        "REMEMBRANCER_MIGRATION_URL": None,
        "REMEMBRANCER_USER": None,
        "REMEMBRANCER_DATA": None,
        "COLUMNS": "80",
    }


@pytest.fixture
def empty(tmp_path: Path) -> Shell:
    """SQLite, and nobody there yet."""
    return Shell(tmp_path / "data", environment=environment())


@pytest.fixture
def shell(empty: Shell) -> Shell:
    """SQLite, with one person."""
    assert empty.ran("user", "add", "ada@example.org").exit_code == 0
    return empty


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    """Either store, with a person of this test's own."""
    url = request.getfixturevalue("migrated")[1] if request.param == "postgresql" else None
    found = Shell(tmp_path / "data", url, environment=environment())
    name = f"ada-{uuid4().hex[:8]}@example.org"
    assert found.ran("user", "add", name).exit_code == 0
    found.user = name
    return found
