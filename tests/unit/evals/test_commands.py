"""`eval recall` and `eval negative` as they are typed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

from remembrancer.cli import evaluating
from remembrancer.cli.main import app
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.evals import negative, recall
from remembrancer.evals.people import load_cases, load_people
from remembrancer.library.engine import Engine


class Shell:
    """Types `eval` commands."""

    def ran(self, *words: str) -> Any:
        return CliRunner().invoke(app, ["eval", *words], env={"COLUMNS": "80"})

    def json(self, *words: str, code: int = 0) -> Any:
        result = self.ran(*words, "--json")
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell whose evaluations use the test embedder, and which logs as the program does."""
    structlog.configure(logger_factory=lambda *_: structlog.WriteLogger(sys.stderr))

    def engine(folder: Path, embedder: None) -> Engine:
        return Engine(folder, embedder=TrigramEmbedder())

    monkeypatch.setattr(recall, "Engine", engine)
    monkeypatch.setattr(negative, "Engine", engine)
    yield Shell()
    structlog.reset_defaults()


def test_eval_recall_answers_in_its_documented_form(shell: Shell, tiny: Path) -> None:
    found = shell.json("recall", str(tiny))
    assert set(found) == {"overall", "categories"}
    assert found["overall"]["turn"]["n"] == 5
    assert set(found["categories"]) == {"1", "2", "4", "5"}
    assert set(found["overall"]["session"]["recall"]) == {"2", "5", "10", "25", "50"}


def test_eval_recall_has_a_table_for_each_level_by_category(shell: Shell, tiny: Path) -> None:
    said = shell.ran("recall", str(tiny)).stdout
    lines = [line.split() for line in said.splitlines()]
    assert lines[0] == ["Recall", "by", "turn,", "%"]
    assert lines[1] == ["questions", "@5", "@10", "@25", "@50", "hit10", "ndcg10", "category"]
    assert [line[-1] for line in lines[2:7]] == [
        "all",
        "multi-hop",
        "temporal",
        "single-hop",
        "adversarial",
    ]
    assert [line[0] for line in lines[2:7]] == ["5", "1", "1", "2", "1"]
    assert "Recall by session, %" in said
    assert lines[8][1:3] == ["@2", "@5"]
    assert lines[2][2] == "100.0", "of ten turns at most, ten hold every answer"


def test_eval_recall_takes_corrections_and_some_conversations(shell: Shell, tiny: Path) -> None:
    one = shell.json("recall", str(tiny), "--conversations", "1")
    assert one["overall"]["turn"]["n"] == 1
    assert one["overall"]["turn"]["ndcg10"] == 1.0
    audited = shell.json("recall", str(tiny), "--conversations", "1", "--audited")
    assert 0.0 < audited["overall"]["turn"]["ndcg10"] < 1.0


def test_what_is_not_there_is_said_in_one_line(shell: Shell, tiny: Path, tmp_path: Path) -> None:
    for words, field in (
        ((str(tmp_path / "nowhere.json"),), "dataset"),
        ((str(tiny), "--conversations", "one"), "conversations"),
        ((str(tiny), "--conversations", "7"), "conversations"),
    ):
        result = shell.ran("recall", *words)
        assert result.exit_code == 1
        assert len(result.stderr.splitlines()) == 1
        assert shell.json("recall", *words, code=1)["field"] == field
    assert shell.ran("negative", "--half", "both").exit_code == 2


def test_eval_negative_in_both_forms(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [each for each in load_people() if each.id == "es-remedios"]
    monkeypatch.setattr(negative, "load_people", lambda: people)
    monkeypatch.setattr(negative, "load_cases", lambda: load_cases()[::3])
    found = shell.json("negative", "--half", "tune")
    assert set(found) == {"overall", "halves", "languages", "kinds"}
    assert found["overall"]["n"] == found["halves"]["tune"]["n"] > 20
    assert found["kinds"]["greeting"]["hit5"] is None
    rows = [line.split() for line in shell.ran("negative").stdout.splitlines()]
    named = {row[-1]: row for row in rows if row and row[0].isdigit()}
    assert list(named) == ["all", "tune", *found["languages"], *found["kinds"]]
    assert named["all"][0] == str(found["overall"]["n"])
    assert named["greeting"].count("—") >= 4, "what it has no question of is no zero"
    assert f"{100 * found['overall']['hit5']:.1f}" in named["all"]


def test_each_stage_has_a_bar_that_grows_to_its_end() -> None:
    bars: list[tuple[str, int, list[int]]] = []

    @contextmanager
    def progress(label: str, total: int) -> Iterator[Any]:
        steps: list[int] = []
        bars.append((label, total, steps))
        yield steps.append
        steps.append(0)  # closed

    session: Any = SimpleNamespace(out=SimpleNamespace(progress=progress))
    with evaluating._steps(session) as step:
        step("storing", 2, 5)
        step("storing", 5, 5)
        step("asking", 1, 3)
        step("asking", 3, 3)
    assert bars == [("storing", 5, [2, 3, 0]), ("asking", 3, [1, 2, 0])]
