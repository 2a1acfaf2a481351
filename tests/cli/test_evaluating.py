"""`eval`: the documented forms, and tables for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from remembrancer.evals import negative
from tests.cli.conftest import Shell


def question(text: str, answer: str, turn: str, category: int) -> dict[str, object]:
    return {"question": text, "answer": answer, "evidence": [turn], "category": category}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A conversation of four turns in the form of LoCoMo, with two questions."""
    turns = [
        {"speaker": "Ines", "dia_id": "D1:1", "text": "I adopted an orange cat called Mango."},
        {"speaker": "Wei", "dia_id": "D1:2", "text": "I moved here from Chengdu."},
        {"speaker": "Ines", "dia_id": "D1:3", "text": "I draw flood maps for city councils."},
        {"speaker": "Wei", "dia_id": "D1:4", "text": "I translate novels at home."},
    ]
    sample = {
        "sample_id": "s-1",
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Wei",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
        "qa": [
            question("What is Ines's cat called?", "Mango", "D1:1", 4),
            question("Where did Wei move from?", "Chengdu", "D1:2", 1),
        ],
    }
    place = tmp_path / "locomo.json"
    place.write_text(json.dumps([sample]))
    return place


def test_eval_recall_answers_in_its_documented_form(empty: Shell, dataset: Path):
    found = empty.json("eval", "recall", str(dataset))
    assert set(found) == {"overall", "categories"}
    assert set(found["categories"]) == {"1", "4"}
    turn, session = found["overall"]["turn"], found["overall"]["session"]
    assert set(turn) == set(session) == {"recall", "hit10", "ndcg10", "n"}
    assert set(turn["recall"]) == {"5", "10", "25", "50"}
    assert set(session["recall"]) == {"2", "5", "10", "25", "50"}
    assert (turn["n"], turn["recall"]["5"]) == (2, 1.0)
    assert not empty.data.exists()


def test_eval_recall_for_people(empty: Shell, dataset: Path):
    said = empty.ran("eval", "recall", str(dataset), "--conversations", "0")
    assert said.exit_code == 0, said.output
    assert "@50" in said.stdout
    assert "4 single-hop" in said.stdout
    wrong = empty.json("eval", "recall", str(dataset), "--conversations", "one", code=1)
    assert wrong["field"] == "conversations"
    assert empty.json("eval", "recall", "nowhere.json", code=1)["field"] == "dataset"


def test_eval_negative_shows_its_figures(empty: Shell, monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []

    def measured(**options: Any) -> negative.NegativeResult:
        asked.append((options["half"], list(options["people"])))
        options["progress"]("asking", 1, 1)
        return negative.result(())

    monkeypatch.setattr(negative, "run_negative", measured)
    found = empty.json("eval", "negative", "--half", "report", "--person", "en-maren")
    assert {"overall", "halves", "languages", "kinds"} <= set(found)
    assert asked == [("report", ["en-maren"])]
    said = empty.ran("eval", "negative")
    assert said.exit_code == 0, said.output
    assert "false" in said.stdout
    assert empty.ran("eval", "negative", "--half", "some").exit_code == 2
