"""W1: saying the same thing again, by the whole table of duplicates."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from uuid import uuid4

import pytest

from remembrancer import SyncPersonalMemory, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.errors import DuplicateError
from remembrancer.memory.models import Outcome

VALUE = "Ada lives in Zürich with two cats."

SAME = {
    "again": VALUE,
    "case": VALUE.upper(),
    "white space": "  Ada  lives\tin Zürich with\ntwo cats. ",
    "no full stop": VALUE.rstrip("."),
    "another full stop": VALUE.rstrip(".") + "。",
    "exclamation": VALUE.rstrip(".") + "!",
    "full-width letters": "Ａｄａ lives in Zürich with two cats．",
    "NFD": unicodedata.normalize("NFD", VALUE),
    "zero-width characters": "Ada\u200b lives in Zürich\u2060 with two cats.",
}
OTHER = {
    "another number": "Ada lives in Zürich with three cats.",
    "another letter": "Ada lives in Zurich with two cats.",
    "a question": VALUE.rstrip(".") + "?",
    "another order": "Two cats live in Zürich with Ada.",
    "digits aren't letters": "Ada lives in Zürich with tw0 cats.",
}


def say(memory: SyncPersonalMemory, words: str, *, at: int | None = None) -> None:
    """The person writes it in a chat of its own."""
    said = clock.now() if at is None else at
    told = Conversation("test", (IncomingMessage(Role.USER, words, said),), str(uuid4()))
    memory.tell(told)


def trust(memory: SyncPersonalMemory, made: Outcome) -> str:
    assert made.id is not None
    found = memory.get(made.id)
    assert found is not None
    return found.trust.value


def contents(memory: SyncPersonalMemory) -> list[str]:
    states = ("candidate", "active", "confirmed", "disputed", "archived", "rejected")
    return [each.content for each in memory.list(trust=states)]


def kinds(memory: SyncPersonalMemory) -> list[str]:
    return [each.kind.value for each in memory.events()]


def test_W1_the_same_again_is_a_duplicate_with_the_existing_id(ada: SyncPersonalMemory) -> None:
    first = ada.add(VALUE)
    before = ada.events()
    for name, value in SAME.items():
        again = ada.add(value, type="user", path="home")
        assert (again.status, again.id, again.version) == ("duplicate", first.id, 1), name
    assert ada.events() == before, "a duplicate of a confirmed memory changes nothing"
    for name, value in OTHER.items():
        assert ada.add(value).status == "created", name
    assert len(contents(ada)) == 1 + len(OTHER)


def test_W1_type_and_path_of_what_is_there_stay(ada: SyncPersonalMemory) -> None:
    first = ada.add(VALUE, path="home/pets")
    ada.add(VALUE, type="user", path="elsewhere")
    found = ada.get(first.id)
    assert (found.type, found.path) == ("context", "home/pets")


def test_W1_another_person_s_same_value_is_theirs_alone(
    ada: SyncPersonalMemory, ben: SyncPersonalMemory
) -> None:
    first = ada.add(VALUE)
    other = ben.add(VALUE)
    assert other.status == "created"
    assert other.id != first.id


class Existing:
    """Ways to bring one value into each row of the table."""

    @staticmethod
    def candidate(ada: SyncPersonalMemory) -> Outcome:
        made = ada.as_agent("scout").add(VALUE)
        assert (made.status, trust(ada, made)) == ("candidate", "candidate")
        return made

    @staticmethod
    def active(ada: SyncPersonalMemory) -> Outcome:
        say(ada, f"Hello. {VALUE}")
        made = ada.as_agent("scout").add(VALUE, quote=VALUE)
        assert (made.status, trust(ada, made)) == ("created", "active")
        return made

    @staticmethod
    def confirmed(ada: SyncPersonalMemory) -> Outcome:
        return ada.add(VALUE)

    @staticmethod
    def disputed(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.dispute(made.id)
        return made

    @staticmethod
    def archived(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.archive(made.id)
        return made

    @staticmethod
    def rejected(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.reject(made.id)
        return made

    @staticmethod
    def refuted(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.correct(made.id, "Ada lives in Bern and keeps no animals.", was_wrong=True)
        return made

    @staticmethod
    def retracted(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.retract(made.id, was_wrong=True)
        return made

    @staticmethod
    def forgotten(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.forget(made.id)
        return made

    @staticmethod
    def superseded(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE, valid_from="2020-01-01")
        ada.correct(made.id, "Ada lives in Bern and keeps no animals.", changed_at="2020-01-01")
        return made

    @staticmethod
    def changed(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.correct(made.id, "Ada lives in Bern and keeps no animals.", changed_at="2020-01-01")
        return made

    @staticmethod
    def expired(ada: SyncPersonalMemory) -> Outcome:
        return ada.add(VALUE, valid_to="2020-01-01")

    @staticmethod
    def ended(ada: SyncPersonalMemory) -> Outcome:
        made = ada.add(VALUE)
        ada.retract(made.id, ended_at="2020-01-01")
        return made


LIVE = ("candidate", "active", "confirmed", "disputed", "archived")
ENTOMBED = ("rejected", "refuted", "retracted", "forgotten")
FORMER = ("superseded", "changed", "expired", "ended")


def bring(ada: SyncPersonalMemory, row: str) -> Outcome:
    way: Callable[[SyncPersonalMemory], Outcome] = getattr(Existing, row)
    return way(ada)


@pytest.mark.parametrize("row", LIVE)
def test_W1_a_person_adds_what_is_there(ada: SyncPersonalMemory, row: str) -> None:
    there = bring(ada, row)
    again = ada.add(VALUE)
    assert (again.status, again.id) == ("duplicate", there.id)
    assert trust(ada, there) == "confirmed"
    assert ada.proposals() == []
    assert contents(ada) == [VALUE]
    assert again.version == ada.get(there.id).version


@pytest.mark.parametrize("row", LIVE)
def test_W1_a_machine_adds_what_is_there(ada: SyncPersonalMemory, row: str) -> None:
    there = bring(ada, row)
    before, evidence = trust(ada, there), len(ada.history(there.id).evidence)
    say(ada, f"As I said: {VALUE}")
    again = ada.as_agent("scout").add(VALUE, quote=VALUE)
    assert (again.status, again.id) == ("duplicate", there.id)
    assert trust(ada, there) == before
    gained = len(ada.history(there.id).evidence) - evidence
    assert gained == (row in {"active", "confirmed"})
    assert (
        kinds(ada)[-1] == "memory.corroborated"
        if gained
        else "memory.corroborated" not in kinds(ada)
    )
    assert ada.as_agent("scout").add(VALUE, quote=VALUE).version == again.version, "once each"


@pytest.mark.parametrize("row", ENTOMBED)
def test_W1_a_person_adds_what_is_tombstoned(ada: SyncPersonalMemory, row: str) -> None:
    there = bring(ada, row)
    assert [each.lifted for each in ada.tombstones()] == [False]
    again = ada.add(VALUE)
    assert again.status == "created"
    assert again.id != there.id
    assert trust(ada, again) == "confirmed"
    assert [each.lifted for each in ada.tombstones()] == [True]
    assert ada.events()[-1].payload.lifted == (ada.tombstones()[0].id,)
    assert ada.history(there.id).versions, "what was rejected stays in the record"
    assert ada.as_agent("scout").add(VALUE).status == "duplicate", "and machines may say it again"


@pytest.mark.parametrize("row", ENTOMBED)
def test_W1_a_machine_adds_what_is_tombstoned(ada: SyncPersonalMemory, row: str) -> None:
    bring(ada, row)
    agent, before = ada.as_agent("scout"), contents(ada)
    say(ada, "Something else entirely.")
    for count, value in enumerate(SAME.values(), 1):
        again = agent.add(value)
        assert (again.status, again.code, again.id) == ("refused", "tombstoned", None)
        assert [each.attempts for each in ada.tombstones()] == [count]
        assert kinds(ada)[-1] == "memory.refused"
    assert contents(ada) == before
    assert agent.add("Ada plays the viola.").status == "candidate"


@pytest.mark.parametrize("row", FORMER)
def test_W1_a_person_adds_what_was_so_formerly(ada: SyncPersonalMemory, row: str) -> None:
    there = bring(ada, row)
    again = ada.add(VALUE)
    assert again.status == "created"
    assert again.id != there.id
    assert trust(ada, again) == "confirmed"


@pytest.mark.parametrize("row", FORMER)
def test_W1_a_machine_adds_what_was_so_formerly(ada: SyncPersonalMemory, row: str) -> None:
    agent = ada.as_agent("scout")
    say(ada, f"Long ago: {VALUE}", at=clock.parse("2010-01-01"))
    there = bring(ada, row)
    for older in (agent.add(VALUE), agent.add(VALUE, quote=VALUE)):
        assert (older.status, older.id) == ("duplicate", there.id)
    say(ada, f"Again, since today: {VALUE}", at=clock.now() + clock.SECOND)
    newer = agent.add(VALUE, quote=VALUE)
    assert newer.status == "candidate"
    assert newer.id != there.id


def test_W1_a_duplicate_is_one_of_overlapping_times(ada: SyncPersonalMemory) -> None:
    first = ada.add(VALUE, valid_from="2030-01-01", valid_to="2030-12-31")
    inside = ada.add(VALUE, valid_from="2030-06-01", valid_to="2031-06-01")
    assert (inside.status, inside.id) == ("duplicate", first.id)
    assert ada.add(VALUE, valid_from="2031-01-01", valid_to="2031-12-31").status == "created"


def test_W1_a_duplicate_is_one_of_the_same_space_or_of_none(ada: SyncPersonalMemory) -> None:
    work, home = ada.in_space("work"), ada.in_space("home")
    at_work = work.add(VALUE)
    assert home.add(VALUE).status == "created", "another space is another place"
    assert ada.add(VALUE).status == "created", "a line for everywhere is more than one of a space"
    everywhere = ada.add("Ada is left-handed.")
    twin = work.add("Ada is left-handed.")
    assert (twin.status, twin.id) == ("duplicate", everywhere.id)
    again = work.add(VALUE)
    assert (again.status, again.id) == ("duplicate", at_work.id)


@pytest.mark.parametrize("row", ["active", "confirmed", "candidate", "archived"])
def test_W1_no_correction_makes_two_memories_say_the_same(
    ada: SyncPersonalMemory, row: str
) -> None:
    there = bring(ada, row)
    other = ada.add("Ada lives by the sea.")
    with pytest.raises(DuplicateError) as caught:
        ada.correct(other.id, VALUE, was_wrong=True)
    assert caught.value.value == str(there.id)
    skipped = ada.as_agent("scout").correct(other.id, VALUE, was_wrong=True)
    assert (skipped.status, skipped.code, skipped.id) == ("skipped", "duplicate_of", there.id)
    assert ada.get(other.id).content == "Ada lives by the sea."
    assert ada.correct(other.id, "Ada lives in the hills.").status == "updated"


def test_W1_an_undo_makes_no_two_memories_say_the_same(ada: SyncPersonalMemory) -> None:
    first = ada.add(VALUE)
    moved = ada.correct(first.id, "Ada lives in Bern and keeps no animals.")
    second = ada.add(VALUE)
    assert second.status == "created"
    with pytest.raises(DuplicateError) as caught:
        ada.undo(moved.event)
    assert caught.value.value == str(second.id)
    ada.archive(second.id)
    ada.undo()
    ada.undo(second.event)
    assert ada.undo(moved.event).status == "updated"
    assert ada.get(first.id).content == VALUE
