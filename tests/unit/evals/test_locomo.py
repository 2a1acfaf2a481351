"""LoCoMo's file as conversations to store and questions to ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer import clock
from remembrancer.conversations.models import Role
from remembrancer.errors import ConfigurationError
from remembrancer.evals import locomo


def test_turns_are_messages_in_dated_sessions(tiny: Path) -> None:
    harbour, garden = locomo.load(tiny)
    assert (harbour.id, garden.id) == ("harbour", "1")
    assert harbour.turns == ("D1:1", "D1:2", "D1:3", "D1:4", "D2:1", "D2:2", "D10:1")
    messages = harbour.conversation.messages
    assert [each.session for each in messages] == ["D1"] * 4 + ["D2"] * 2 + ["D10"]
    assert {each.role for each in messages} == {Role.OTHER}, "neither speaker is the owner"
    assert [each.speaker for each in messages[:2]] == ["Orla", "Bram"]
    assert messages[0].said_at == clock.parse("2023-05-08T13:56:00Z")
    assert messages[1].said_at == clock.parse("2023-05-08T13:56:01Z")
    assert messages[4].said_at == clock.parse("2023-12-25T00:05:00Z")


def test_a_photo_is_its_words_and_its_caption(tiny: Path) -> None:
    messages = locomo.load(tiny)[0].conversation.messages
    assert messages[2].text == "Look at this! [photo: a bowl of cherries on a table]"
    assert messages[3].text == "Have a good evening then."


def test_evidence_is_read_by_its_numbers_and_unknown_turns_are_dropped(tiny: Path) -> None:
    questions = {each.text: each for each in locomo.load(tiny)[0].questions}
    assert questions["Which vessel did Orla's sister buy?"].turns == {"D1:1"}
    assert questions["What colours did the canoe have?"].turns == {"D1:1", "D2:2"}
    assert questions["What colours did the canoe have?"].sessions == {"D1", "D2"}
    assert questions["What happened to the pottery kiln?"].turns == {"D2:1"}
    assert [each.category for each in questions.values()] == ["4", "1", "2", "5"]


def test_a_question_without_evidence_that_exists_is_not_asked(tiny: Path) -> None:
    texts = {each.text for each in locomo.load(tiny)[0].questions}
    assert "What was in the bowl in the photo?" in texts
    assert not texts & {
        "What does Bram dream of?",
        "What is never said?",
        "Without a word about evidence?",
    }


def test_audited_takes_the_corrected_evidence(tiny: Path) -> None:
    harbour, garden = locomo.load(tiny, audited=True)
    turns = {each.text: each.turns for each in harbour.questions}
    assert turns["Which vessel did Orla's sister buy?"] == {"D2:2"}
    assert turns["What colours did the canoe have?"] == {"D1:1", "D2:2"}, "no correction is given"
    assert turns["What is never said?"] == {"D10:1"}
    assert garden.questions[0].turns == {"D1:2"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.json is missing") as raised:
        locomo.load(tmp_path / "nowhere.json")
    assert raised.value.field == "dataset"
    assert "REMEMBRANCER_EVAL_DATA" in str(raised.value)


def test_missing_corrections_are_named_only_when_they_are_asked_for(tiny: Path) -> None:
    tiny.with_name("audit_errors.json").unlink()
    assert len(locomo.load(tiny)) == 2
    with pytest.raises(ConfigurationError, match=r"audit_errors\.json is missing"):
        locomo.load(tiny, audited=True)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{", "can't be read: JSONDecodeError"),
        ("[]", "is not in LoCoMo's form"),
        ("3", "is not in LoCoMo's form"),
        ('{"conversation": 1}', "is not in LoCoMo's form"),
        ("[7]", "is not in LoCoMo's form"),
        ('[{"conversation": {}}]', "is not in LoCoMo's form"),
        (
            '[{"qa": [], "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", '
            '"session_1": [{"dia_id": "x", "text": "", "speaker": ""}]}}]',
            "is not in LoCoMo's form",
        ),
    ],
)
def test_another_file_is_refused_in_words(tmp_path: Path, written: str, words: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(written)
    with pytest.raises(ConfigurationError, match=words):
        locomo.load(path)


def test_corrections_of_another_form_are_refused_in_words(tiny: Path) -> None:
    tiny.with_name("audit_errors.json").write_text('[{"correct_evidence": ["D1:1"]}]')
    with pytest.raises(ConfigurationError, match=r"audit_errors\.json is not a list of corr"):
        locomo.load(tiny, audited=True)
