"""Writing: what each verb does, what it says, and its JSON form."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from tests.cli.conftest import Shell

OUTCOME = {"id", "status", "version", "event", "vector", "proposal", "code", "detail"}


def test_add_answers_in_its_documented_form(either: Shell):
    made = either.json("add", "Mina lives in Lyon.")
    assert set(made) == {"id", "status", "version", "vector"}
    assert str(UUID(made["id"])) == made["id"]
    assert (made["status"], made["version"], made["vector"]) == ("created", 1, "ready")
    listed = either.json("list")["memories"]
    assert [(each["content"], each["type"]) for each in listed] == [
        ("Mina lives in Lyon.", "context")
    ]


def test_W1_a_duplicate_is_done_with_the_known_id(either: Shell):
    first = either.add("Mina lives in Lyon.")
    again = either.json("add", "mina lives in  LYON")
    assert again == {"id": first, "status": "duplicate", "version": 1, "vector": "ready"}
    assert either.json("add", "Mina lives in Lille.")["status"] == "created"


def test_T2_correct_changed_at_keeps_the_past(either: Shell):
    made = either.add("I live in Leipzig.")
    done = either.json("correct", made, "I live in Rotterdam.", "--changed-at", "2026-01-29")
    assert set(done) == OUTCOME
    assert (done["status"], done["version"]) == ("updated", 2)
    assert either.json("list")["memories"][0]["content"] == "I live in Rotterdam."
    before = either.json("list", "--valid-at", "2026-01-28")["memories"]
    assert [each["content"] for each in before] == ["I live in Leipzig."]


def test_T1_was_wrong_replaces_for_all_valid_time(shell: Shell):
    made = shell.add("Mina lives in Lyon.")
    known = shell.json("list")["memories"][0]["recorded_from"]
    shell.json("correct", made, "Mina lives in Lille.", "--was-wrong")
    assert shell.json("list", "--valid-at", "1990-01-01")["memories"][0]["content"].endswith(
        "Lille."
    )
    assert shell.json("list", "--known-at", known)["memories"][0]["content"].endswith("Lyon.")


def test_W10_a_stale_version_is_refused_with_the_current_one(either: Shell):
    made = either.add("I live in Leipzig.")
    either.json("correct", made, "I live in Rotterdam.", "--was-wrong")
    stale = ("correct", made, "I live in Delft.", "--was-wrong", "--expected-version", "1")
    problem = either.json(*stale, code=1)
    assert (problem["code"], problem["limit"]) == ("stale_version", 2)
    assert either.json("list")["memories"][0]["content"] == "I live in Rotterdam."
    either.json(*stale[:-1], "2")


@pytest.mark.parametrize("words", [(), ("--was-wrong", "--changed-at", "2026-01-01")])
def test_correct_needs_one_meaning(shell: Shell, words: tuple[str, ...]):
    made = shell.add("I live in Leipzig.")
    result = shell.ran("correct", made, "I live in Delft.", *words)
    assert result.exit_code == 2
    assert "--was-wrong or --changed-at" in result.stderr
    assert shell.json("correct", made, "I live in Delft.", *words, code=2)["code"] == "usage"
    assert shell.json("list")["memories"][0]["version"] == 1


def test_retract_leaves_nothing_in_its_place(shell: Shell):
    wrong = shell.add("I have a sister.")
    ended = shell.add("I work at Vogt.")
    shell.json("retract", wrong, "--was-wrong")
    shell.json("retract", ended, "--ended-at", "2026-01-23")
    assert shell.json("list", "--valid-at", "2026-05-01")["memories"] == []
    on_the_last_day = shell.json("list", "--valid-at", "2026-01-23T12:00:00Z")["memories"]
    assert [each["id"] for each in on_the_last_day] == [ended]
    assert shell.ran("retract", ended).exit_code == 2


def test_move_changes_what_is_given_and_no_more(shell: Shell):
    made = shell.add("The flat is in Delfshaven.", "--path", "home/flat", "--type", "user")
    shell.json("move", made, "--path", "home")
    moved = shell.json("list")["memories"][0]
    assert (moved["path"], moved["type"]) == ("home", "user")
    shell.json("move", made, "--space", "Rotterdam")
    assert shell.json("list", "--space", "Rotterdam")["memories"][0]["space"] == "Rotterdam"
    shell.json("move", made, "--leave-space", "--path", "")
    moved = shell.json("list")["memories"][0]
    assert (moved["path"], moved["space"]) == ("", None)
    assert shell.ran("move", made).exit_code == 2
    assert shell.ran("move", made, "--space", "x", "--leave-space").exit_code == 2


@pytest.mark.parametrize(
    ("verb", "trust"), [("dispute", "disputed"), ("archive", "archived"), ("reject", "rejected")]
)
def test_decisions_and_back(shell: Shell, verb: str, trust: str):
    made = shell.add("Mango is a cat.")
    assert shell.json(verb, made)["status"] == "updated"
    listed = shell.json("list", "--state", trust)["memories"]
    assert [each["trust"] for each in listed] == [trust]
    assert shell.json("confirm", made)["version"] == 3
    assert shell.json("list")["memories"][0]["trust"] == "confirmed"


def test_pin_orders_the_profile(shell: Shell):
    first = shell.add("I am vegan.", "--type", "user")
    second = shell.add("I drink one coffee a day.", "--type", "user")
    shell.json("pin", first, "--rank", "1")
    shell.json("pin", second)
    profile = shell.json("recall", "What do I drink?")["profile"]
    assert [each["id"] for each in profile] == [second, first]
    shell.json("pin", second, "--off")
    assert shell.json("list")["memories"][1]["pin"] is None
    assert shell.ran("pin", first, "--off", "--rank", "1").exit_code == 2


def test_X1_forget_removes_the_words_and_never_asks_a_script(either: Shell):
    made = either.add("My PIN is four nines.")
    kept = either.add("Mango is a cat.")
    done = either.json("forget", made)
    assert done["status"] == "forgotten"
    assert [each["id"] for each in either.json("list")["memories"]] == [kept]
    history = either.json("history", made)
    assert history["forgotten"]
    assert {each["content"] for each in history["versions"]} == {None}


def test_forget_asks_a_person_and_takes_no_for_an_answer(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    made = shell.add("My PIN is four nines.")
    monkeypatch.setattr("remembrancer.cli.session.Session.asks", lambda _self: True)
    result = shell.ran("forget", made, stdin="n\n")
    assert "My PIN is four nines." in result.stdout
    assert "can't be brought back" in result.stderr
    assert result.exit_code == 130
    assert len(shell.json("list")["memories"]) == 1
    assert shell.ran("forget", made, stdin="y\n").exit_code == 0
    assert shell.json("list")["memories"] == []


def test_undo_the_last_change_and_one_event(shell: Shell):
    made = shell.add("Mango is a cat.")
    archived = shell.json("archive", made)
    assert shell.json("undo")["status"] == "updated"
    assert shell.json("list")["memories"][0]["trust"] == "confirmed"
    problem = shell.json("undo", str(archived["event"]), code=1)
    assert problem["code"] == "conflict"
    assert shell.json("undo", "999", code=1)["code"] == "not_found"


def test_clear_needs_a_yes_and_says_how_many(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    shell.add("Mango is a cat.")
    assert shell.ran("clear").exit_code == 2
    monkeypatch.setattr("remembrancer.cli.session.Session.asks", lambda _self: True)
    assert shell.ran("clear", stdin="n\n").exit_code == 130
    assert len(shell.json("list")["memories"]) == 1
    assert shell.json("clear", "--yes") == {"forgotten": 1}
    assert shell.json("list")["memories"] == []


def test_the_text_may_come_from_standard_input(shell: Shell):
    shell.json("add", "-", stdin="two\nlines\n")
    assert shell.json("list")["memories"][0]["content"] == "two\nlines"


def test_a_text_that_looks_like_an_option_stands_after_two_dashes(shell: Shell):
    shell.json("add", "--path", "odd", "--", "--json")
    found = shell.json("list")["memories"][0]
    assert (found["content"], found["path"]) == ("--json", "odd")


def test_valid_time_and_meta_are_kept(shell: Shell):
    shell.json(
        "add", "Dutch class", "--valid-from", "2026-02-11", "--valid-to", "2026-04-12",
        "--meta", '{"source": "diary"}',
    )  # fmt: skip
    shell.add("Mandarin class")
    found = shell.json("list", "--meta", '{"source": "diary"}')["memories"]
    assert [(each["valid_from"], each["valid_to"]) for each in found] == [
        ("2026-02-11T00:00:00Z", "2026-04-13T00:00:00Z")
    ]
    assert shell.ran("add", "x", "--meta", "[1]").exit_code == 2
    assert shell.ran("add", "x", "--meta", "{").exit_code == 2


def test_W2_an_idempotency_key_has_one_effect(shell: Shell):
    first = shell.json("add", "Mango is a cat.", "--idempotency-key", "k1")
    assert shell.json("add", "Mango is a cat.", "--idempotency-key", "k1") == first
    problem = shell.json("add", "Mango is a dog.", "--idempotency-key", "k1", code=1)
    assert problem["code"] == "idempotency_key_reused"


def test_W6_an_agent_proposes_and_a_person_decides(either: Shell):
    made = either.json("add", "Ada wants a boat.", "--as-agent", "helper")
    assert made["status"] == "candidate"
    assert either.json("recall", "Does Ada want a boat?")["entries"] == []
    mine = either.add("Ada has a kite.")
    proposed = either.json("forget", mine, "--as-agent", "helper")
    assert proposed["status"] == "proposed"
    assert proposed["proposal"] is not None
    assert {each["id"] for each in either.json("list")["memories"]} == {made["id"], mine}


def test_X2_a_forgotten_value_is_refused_to_an_agent_with_exit_code_1(either: Shell):
    either.json("forget", either.add("My PIN is four nines."))
    refused = either.json("add", "my pin is FOUR nines", "--as-agent", "helper", code=1)
    assert refused == {"id": None, "status": "refused", "version": None, "vector": None}
    said = either.ran("add", "My PIN is four nines.", "--as-agent", "helper")
    assert (said.exit_code, said.stdout) == (1, "")
    assert said.stderr.startswith("Refused: ")
    assert either.json("add", "My cat is four.", "--as-agent", "helper")["status"] == "candidate"
    assert either.json("tombstones")["tombstones"][0]["attempts"] == 2


def test_a_quote_in_the_persons_own_message_makes_an_active_memory(shell: Shell, tmp_path):
    text = "We adopted Mango in March."
    assert shell.ran("add", "Mango came.", "--message", str(uuid4())).exit_code == 2
    made = shell.json("add", "Mango came in March.", "--as-agent", "h", "--quote", text)
    assert made["status"] == "candidate"


def test_people_are_told_what_happened(shell: Shell):
    said = shell.ran("add", "Mango is a cat.")
    assert said.stdout.startswith("Remembered. · ")
    assert shell.ran("add", "Mango is a cat.").stdout.startswith("Known already. · ")
    proposed = shell.ran("add", "Ada wants a boat.", "--as-agent", "helper").stdout
    assert "remembrancer review approve " in proposed
