"""The demonstration: what `make run` shows."""

from __future__ import annotations

from pathlib import Path

from remembrancer.cli import demo
from tests.cli.conftest import Shell


def test_the_demo_asks_and_explains_and_leaves_nothing(empty: Shell):
    result = empty.ran("demo")
    assert result.exit_code == 0, result.output
    for question in demo.QUESTIONS:
        assert f"Asked: {question}" in result.stdout
    assert len(demo.QUESTIONS) == 3
    assert "Left out" in result.stdout
    assert "[-Mondays-]{+Tuesdays+}" in result.stdout
    assert "In March 2026: I swim on Mondays." in result.stdout
    assert "the chain is whole" in result.stdout
    assert not empty.data.exists()


def test_the_demo_for_programs_touches_no_other_store(empty: Shell, tmp_path: Path):
    empty.environment["REMEMBRANCER_DATABASE_URL"] = "postgresql://nobody@127.0.0.1:9/none"
    found = empty.json("demo")
    assert found["imported"] == 159
    assert [each["query"] for each in found["recalls"]] == [*demo.QUESTIONS, demo.GREETING]
    assert not empty.data.exists()
