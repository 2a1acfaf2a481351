"""The queue: what waits, approving and rejecting it."""

from __future__ import annotations

from tests.cli.conftest import Shell

PROPOSAL = {
    "id", "op", "target", "other", "base_version", "content", "arguments", "quote", "chat",
    "message", "state", "created_by", "created_at",
}  # fmt: skip


def propose(shell: Shell, text: str) -> tuple[str, str]:
    """A candidate's id and its proposal's."""
    made = shell.add(text, "--as-agent", "helper")
    waiting = shell.json("review")["proposals"]
    return made, next(each["id"] for each in waiting if each["target"] == made)


def test_what_waits_is_listed_with_who_proposed_it(either: Shell):
    made, _ = propose(either, "Ada wants a boat.")
    found = either.json("review")["proposals"]
    assert set(found[0]) == PROPOSAL
    assert (found[0]["op"], found[0]["target"], found[0]["state"]) == ("add", made, "open")
    said = either.ran("review").stdout
    assert "Remember?" in said
    assert "Ada wants a boat." in said
    assert "model:helper" in said


def test_V6_approve_makes_it_confirmed(either: Shell):
    made, proposal = propose(either, "Ada wants a boat.")
    done = either.json("review", "approve", proposal)
    assert (done["status"], done["id"]) == ("updated", made)
    assert either.json("list")["memories"][0]["trust"] == "confirmed"
    assert either.json("review")["proposals"] == []
    assert "Nothing waits for you." in either.ran("review").stdout
    assert either.json("review", "approve", proposal, code=1)["code"] == "conflict"


def test_X4_reject_is_remembered(either: Shell):
    _, proposal = propose(either, "Ada wants a boat.")
    either.json("review", "reject", proposal)
    assert either.json("list")["memories"] == []
    again = either.json("add", "ada wants a boat", "--as-agent", "helper", code=1)
    assert again["status"] == "refused"
    states = [
        each["id"] for each in either.json("review", "list", "--state", "rejected")["proposals"]
    ]
    assert states == [proposal]


def test_a_proposed_correction_is_given_its_meaning(shell: Shell):
    made = shell.add("I live in Leipzig.")
    proposed = shell.json(
        "correct", made, "I live in Rotterdam.", "--changed-at", "2026-01-01", "--as-agent", "h"
    )
    assert proposed["status"] == "proposed"
    said = shell.ran("review").stdout
    assert "Correct to?" in said
    assert "now: I live in Leipzig." in said
    shell.json("review", "approve", proposed["proposal"], "--changed-at", "2026-01-29")
    assert shell.json("list", "--valid-at", "2026-01-15")["memories"][0]["content"].endswith(
        "Leipzig."
    )
    assert shell.json("list")["memories"][0]["content"].endswith("Rotterdam.")


def test_options_before_the_verb_hold_for_it(shell: Shell):
    shell.json("user", "add", "ben@example.org")
    made = shell.json("add", "Ada wants a boat.", "--as-agent", "h", "--user", "ada@example.org")
    waiting = shell.json("review", "--user", "ada@example.org")["proposals"]
    done = shell.ran("review", "--user", "ada@example.org", "approve", waiting[0]["id"])
    assert done.exit_code == 0, done.output
    assert made["id"] in done.stdout


def test_an_expired_proposal_of_a_forgotten_memory_is_shown_without_words(either: Shell):
    made, proposal = propose(either, "Ada wants a boat.")
    assert "Ada wants a boat." in either.ran("review").stdout
    either.json("forget", made, "--yes")
    (found,) = either.json("review", "list", "--state", "expired")["proposals"]
    assert (found["id"], found["target"], found["content"]) == (proposal, made, None)
    said = either.ran("review", "list", "--state", "expired")
    assert said.exit_code == 0, said.output
    assert "Forgotten" in said.stdout
    assert proposal in said.stdout
    assert "boat" not in said.output


def test_wrong_use(shell: Shell):
    assert shell.ran("review", "list", "--state", "lost").exit_code == 2
    both = ("review", "approve", "x", "--was-wrong", "--changed-at", "2026-01-01")
    assert shell.ran(*both).exit_code == 2
    assert shell.json("review", "approve", "x", code=1)["code"] == "invalid"
