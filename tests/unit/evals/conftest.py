"""A set in LoCoMo's form, small enough to count by hand. Nobody in it exists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def turn(number: str, speaker: str, text: str, caption: str | None = None) -> dict[str, Any]:
    said: dict[str, Any] = {"dia_id": number, "speaker": speaker, "text": text}
    return said if caption is None else {**said, "blip_caption": caption}


def asks(text: str, category: int, *evidence: str) -> dict[str, Any]:
    return {"question": text, "category": category, "evidence": list(evidence)}


HARBOUR = {
    "sample_id": "harbour",
    "conversation": {
        "speaker_a": "Orla",
        "speaker_b": "Bram",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "Orla", "My sister bought a red canoe in Galway."),
            turn("D1:2", "Bram", "I started pottery classes on Mondays."),
            turn("D1:3", "Orla", "Look at this!", "a bowl of cherries on a table"),
            turn("D1:04", "Bram", "Have a good evening then."),
        ],
        "session_2_date_time": "12:05 am on 25 December, 2023",
        "session_2": [
            turn("D2:1", "Bram", "The pottery kiln exploded last week."),
            turn("D2:2", "Orla", "We painted the canoe yellow."),
        ],
        "session_3_date_time": "9:00 am on 1 January, 2024",
        "session_10_date_time": "9:00 am on 2 January, 2024",
        "session_10": [turn("D10:1", "Orla", "Happy new year from Galway!")],
        "session_11": [],
    },
    "qa": [
        asks("Which vessel did Orla's sister buy?", 4, "D01:01"),
        asks("What colours did the canoe have?", 1, "D1:1", "D02:002"),
        asks("What happened to the pottery kiln?", 2, "D2:1; D9:17", "D", "D:3:4"),
        asks("What was in the bowl in the photo?", 5, "D1:3"),
        asks("What does Bram dream of?", 3, "D9:99"),
        asks("What is never said?", 3),
        {"question": "Without a word about evidence?", "category": 5},
    ],
}
GARDEN = {
    "conversation": {
        "session_1_date_time": "6:07 pm on 13 January, 2023",
        "session_1": [
            turn("D1:1", "Ines", "The apricot tree died in the frost."),
            turn("D1:2", "Wei", "Then plant a quince instead."),
        ],
    },
    "qa": [asks("Why did the apricot tree die?", 4, "D1:1")],
}
CORRECTIONS = [
    {"question_id": "locomo_0_qa0", "correct_evidence": ["D2:2"]},
    {"question_id": "locomo_0_qa1", "correct_evidence": []},
    {"question_id": "locomo_0_qa5", "correct_evidence": ["D10:1"]},
    {"question_id": "locomo_1_qa0", "correct_evidence": ["D1:2"]},
]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The set's file; the corrections beside it."""
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps([HARBOUR, GARDEN]), encoding="utf-8")
    (tmp_path / "audit_errors.json").write_text(json.dumps(CORRECTIONS), encoding="utf-8")
    return path
