"""Importing a conversation, and deleting it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

CONVERSATION = {
    "source": "diary",
    "id": "c-1",
    "title": "Kitchen",
    "messages": [
        {"speaker": "Ines", "at": "2026-03-01T18:05:00Z", "text": "Wei is allergic to peanuts."},
        {"role": "assistant", "at": "2026-03-01T18:05:20Z", "text": "Noted: no peanuts."},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "conversation.json"
    place.write_text(json.dumps(CONVERSATION))
    return place


def test_import_stores_messages_as_evidence_once(either: Shell, file: Path):
    dry = either.json("import", str(file), "--me", "Ines", "--dry-run")
    assert dry == {
        "import_id": None, "chats": [], "new": 2, "known": 0, "pending": 0, "dry_run": True,
    }  # fmt: skip
    assert either.json("chats")["chats"] == []
    done = either.json("import", str(file), "--me", "Ines")
    assert set(done) == set(dry)
    assert (done["new"], done["known"], done["pending"], done["dry_run"]) == (2, 0, 0, False)
    assert done["import_id"] is not None
    assert either.json("list")["memories"] == []
    again = either.json("import", str(file), "--me", "Ines")
    assert (again["new"], again["known"], again["import_id"]) == (0, 2, None)
    found = either.json("recall", "Is Wei allergic to peanuts?")["entries"]
    assert found[0]["content"] == "Wei is allergic to peanuts."
    assert (found[0]["kind"], found[0]["at"]) == ("message", "2026-03-01T18:05:00Z")


def test_import_says_what_it_did(shell: Shell, file: Path):
    assert "2 messages would be stored" in shell.ran("import", str(file), "--dry-run").stdout
    assert shell.ran("import", str(file)).stdout.startswith("Stored 2 messages; 0 were known.")
    said = shell.ran("chats").stdout
    assert "Kitchen · 2 messages" in said


def test_import_without_vectors_leaves_them_pending(shell: Shell, file: Path):
    result = shell.ran("import", str(file), "--no-vectors", "--space", "Home")
    assert "2 without a vector yet" in result.stderr
    assert shell.json("chats")["chats"][0]["space"] == "Home"
    assert shell.json("reindex", "--pending")["people"][0]["vectors"] == 2


def test_import_reads_standard_input(shell: Shell):
    assert shell.json("import", "-", stdin=json.dumps(CONVERSATION))["new"] == 2


def test_what_cant_be_read_is_said_with_its_place(shell: Shell, file: Path, tmp_path: Path):
    problem = shell.json("import", str(tmp_path / "nowhere.json"), code=1)
    assert (problem["code"], problem["field"]) == ("invalid", "file")
    file.write_text(
        json.dumps({"messages": [{"role": "user", "at": "2026-03-01T18:05", "text": "x"}]})
    )
    assert shell.json("import", str(file), code=1)["field"] == "messages[0].at"
    file.write_text("{")
    assert shell.json("import", str(file), code=1)["field"] == "file"
    assert shell.json("chats")["chats"] == []


def test_E2_deleting_a_chat_keeps_or_removes_what_rests_on_it(shell: Shell, file: Path):
    chat = shell.json("import", str(file), "--me", "Ines")["chats"][0]
    made = shell.json(
        "add", "Wei can't eat peanuts.", "--as-agent", "h", "--chat", chat,
        "--quote", "Wei is allergic to peanuts.",
    )  # fmt: skip
    kept = shell.add("Mango is a cat.")
    assert shell.ran("chat", "delete", chat).exit_code == 2
    report = shell.json("chat", "delete", chat, "--choice", "remove")
    assert set(report) == {
        "chats", "messages", "kept", "demoted", "removed", "proposals_expired",
    }  # fmt: skip
    assert (report["messages"], report["removed"]) == (2, [made["id"]])
    assert [each["id"] for each in shell.json("list")["memories"]] == [kept]
    assert shell.json("chat", "delete", chat, "--choice", "keep", code=1)["code"] == "not_found"


def test_deleting_says_what_became_of_it(shell: Shell, file: Path):
    chat = shell.json("import", str(file))["chats"][0]
    said = shell.ran("chat", "delete", chat, "--choice", "keep").stdout
    assert said.startswith("Deleted 2 messages.")


def test_history_shows_what_a_memory_rests_on(shell: Shell, file: Path):
    chat = shell.json("import", str(file), "--me", "Ines")["chats"][0]
    made = shell.add(
        "Wei can't eat peanuts.", "--as-agent", "h", "--chat", chat,
        "--quote", "Wei is allergic to peanuts.",
    )  # fmt: skip
    said = shell.ran("history", made).stdout
    assert "“Wei is allergic to peanuts.”" in said
    assert "message " in said
    shell.json("chat", "delete", chat, "--choice", "keep")
    assert "evidence deleted" in shell.ran("history", made).stdout
    waiting = shell.ran("review").stdout
    assert "Wei can't eat peanuts." in waiting


def test_recall_labels_who_said_it(shell: Shell, file: Path):
    shell.json("import", str(file), "--me", "Ines")
    said = shell.ran("recall", "Is Wei allergic to peanuts?", "--explain").stdout
    assert "you said, 2026-03-01 18:05" in said
    assert "1 line of past chats" in said or "lines of past chats" in said
