"""Accounts, whose memory is meant, and the person's rule about machines."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shell


def test_user_add_list_remove(empty: Shell):
    made = empty.json("user", "add", "Ada@Example.org", "--zone", "Europe/Berlin")
    assert set(made) == {"user_id", "email", "role", "zone", "created_at"}
    assert (made["email"], made["role"], made["zone"]) == (
        "ada@example.org", "admin", "Europe/Berlin",
    )  # fmt: skip
    assert empty.json("user", "add", "ben@example.org")["role"] == "member"
    assert empty.json("user", "add", "cy@example.org", "--admin")["role"] == "admin"
    assert empty.json("user", "add", "ben@example.org", code=1)["code"] == "conflict"
    assert empty.json("user", "add", "dan", "--zone", "Mars/Base", code=1)["field"] == "zone"
    empty.json("add", "Mango is a cat.", "--user", "ben@example.org")
    removed = empty.json("user", "remove", "ben@example.org")
    assert set(removed) == {"user_id", "removed_at", "removed_by", "events", "last_hash"}
    assert removed["events"] == 1
    emails = [each["email"] for each in empty.json("user", "list")["users"]]
    assert emails == ["ada@example.org", "cy@example.org"]
    assert "ada@example.org" in empty.ran("user", "list").stdout
    assert empty.json("user", "remove", "ben@example.org", code=1)["code"] == "not_found"


def test_X5_user_remove_asks_a_person(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("remembrancer.cli.session.Session.asks", lambda _self: True)
    assert shell.ran("user", "remove", "ada@example.org", stdin="n\n").exit_code == 130
    said = shell.ran("user", "remove", "ada@example.org", stdin="y\n")
    assert "Removed ada@example.org." in said.stdout
    assert shell.ran("user", "list").stdout == "No accounts.\n"


def test_a_password_comes_from_standard_input_and_is_kept_as_argon2(empty: Shell):
    made = empty.ran("user", "add", "ada", "--password-stdin", stdin="correct horse\n")
    assert made.exit_code == 0
    assert "horse" not in made.output
    stored = b"".join(each.read_bytes() for each in empty.data.glob("system.db*"))
    assert b"$argon2id$" in stored
    assert b"horse" not in stored
    problem = empty.json("user", "add", "ben", "--password-stdin", stdin="\n", code=1)
    assert problem["field"] == "password"
    assert len(empty.json("user", "list")["users"]) == 1


def test_without_an_account_the_way_out_is_said(empty: Shell):
    result = empty.ran("list")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "There is no account yet. `remembrancer user add EMAIL` makes one.\n"
    assert empty.json("list", code=1)["code"] == "not_found"


def test_the_only_account_is_meant_and_of_several_one_must_be_named(shell: Shell):
    shell.add("Mango is a cat.")
    shell.json("user", "add", "ben@example.org")
    assert shell.json("list", code=1)["field"] == "user"
    assert "--user EMAIL" in shell.ran("list").stderr
    assert len(shell.json("list", "--user", "ada@example.org")["memories"]) == 1
    shell.environment["REMEMBRANCER_USER"] = "ben@example.org"
    assert shell.json("list")["memories"] == []
    assert len(shell.json("list", "--user", "ada@example.org")["memories"]) == 1
    problem = shell.json("list", "--user", "cy@example.org", code=1)
    assert (problem["code"], problem["value"]) == ("not_found", "cy@example.org")
    assert "remembrancer user add" in problem["hint"]


def test_policy_shows_and_sets_the_rule(shell: Shell):
    assert shell.json("policy") == {"machine_writes": "accept_quotes"}
    assert shell.json("policy", "accept_all") == {"machine_writes": "accept_all"}
    made = shell.json("add", "Ada wants a boat.", "--as-agent", "helper")
    assert made["status"] == "created"
    assert "is accepted" in shell.ran("policy").stdout
    shell.json("policy", "off")
    assert shell.ran("add", "Ada has a kite.", "--as-agent", "helper").exit_code == 1
    problem = shell.json("policy", "maybe", code=1)
    assert problem["code"] == "invalid"
    refused = shell.json("policy", "accept_all", "--as-agent", "helper", code=1)
    assert refused["code"] == "refused"
    assert shell.json("policy") == {"machine_writes": "off"}


def test_times_are_shown_in_the_persons_zone(empty: Shell):
    empty.json("user", "add", "mei", "--zone", "Asia/Shanghai")
    empty.json("add", "Mei lives in Chengdu.", "--valid-from", "2026-01-29")
    assert "true since 2026-01-29" in empty.ran("list").stdout
    assert empty.json("list")["memories"][0]["valid_from"] == "2026-01-28T16:00:00Z"
