"""LoCoMo as conversations to store and questions to ask. Reads the published file; copies nothing.

The set: ten long conversations of two speakers in dated sessions; questions name the turns that
answer them. Neither speaker owns the memory, so both are third persons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from remembrancer.clock import SECOND, Instant, from_datetime
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.errors import ConfigurationError

_EVIDENCE: Final = re.compile(r"D(\d+):(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)$")
_WHEN: Final = "%I:%M %p on %d %B, %Y"
_MALFORMED: Final = (AttributeError, KeyError, TypeError, ValueError)
"""What reading a file of another form ends in."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category (1…5), and the turns that answer it, such as `D1:3`."""

    text: str
    category: str
    turns: frozenset[str]

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions of those turns, such as `D1`."""
        return frozenset(turn.partition(":")[0] for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Sample:
    """One conversation. `turns` are the ids of its messages, in order."""

    id: str
    conversation: Conversation
    turns: tuple[str, ...]
    questions: tuple[Question, ...]


def load(path: Path, *, audited: bool = False) -> list[Sample]:
    """Every conversation with its questions that have evidence.

    `audited` takes the corrected evidence of `audit_errors.json` beside the file. Raises
    `ConfigurationError` when a file is missing or is something else.
    """
    corrected = _corrections(path.with_name("audit_errors.json")) if audited else {}
    raw = _read(path)
    try:
        samples = [_sample(index, each, corrected) for index, each in enumerate(raw)]
    except _MALFORMED:
        samples = []
    if not samples:
        raise ConfigurationError(
            f"{path} is not in LoCoMo's form.", field="dataset", hint="Give locomo10.json."
        )
    return samples


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(
            f"The data set {path} is missing.",
            field="dataset",
            hint="Give its path, or set REMEMBRANCER_EVAL_DATA.",
        ) from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{path} can't be read: {type(error).__name__}.", field="dataset"
        ) from None


def _corrections(path: Path) -> Mapping[str, list[str]]:
    raw = _read(path)
    try:
        return {
            each["question_id"]: each["correct_evidence"]
            for each in raw
            if each.get("correct_evidence")
        }
    except _MALFORMED:
        raise ConfigurationError(f"{path} is not a list of corrections.", field="dataset") from None


def _sample(index: int, raw: Mapping[str, Any], corrected: Mapping[str, list[str]]) -> Sample:
    turns: list[str] = []
    messages: list[IncomingMessage] = []
    for number, began, session in _sessions(raw["conversation"]):
        for place, turn in enumerate(session):
            turns.append(_turn_id(turn["dia_id"]))
            messages.append(
                IncomingMessage(
                    Role.OTHER,
                    _text(turn),
                    began + place * SECOND,
                    speaker=turn["speaker"],
                    session=f"D{number}",
                )
            )
    known = frozenset(turns)
    questions = []
    for place, each in enumerate(raw["qa"]):
        cited = corrected.get(f"locomo_{index}_qa{place}", each.get("evidence", []))
        evidence = frozenset(_ids(cited)) & known
        if evidence:
            questions.append(Question(each["question"], str(each["category"]), evidence))
    sample = str(raw.get("sample_id", index))
    conversation = Conversation("locomo", tuple(messages), external_id=sample)
    return Sample(sample, conversation, tuple(turns), tuple(questions))


def _sessions(
    conversation: Mapping[str, Any],
) -> Iterator[tuple[int, Instant, list[Mapping[str, str]]]]:
    numbers = sorted(
        int(found[1])
        for name, value in conversation.items()
        if (found := _SESSION.match(name)) and value
    )
    for number in numbers:
        written = conversation[f"session_{number}_date_time"]
        began = datetime.strptime(written, _WHEN).replace(tzinfo=UTC)
        yield number, from_datetime(began), conversation[f"session_{number}"]


def _text(turn: Mapping[str, str]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [photo: {caption}]".strip() if caption else turn["text"]


def _ids(cited: object) -> Iterator[str]:
    for number, place in _EVIDENCE.findall(json.dumps(cited)):
        yield f"D{int(number)}:{int(place)}"


def _turn_id(written: str) -> str:
    (found,) = _ids(written)
    return found
