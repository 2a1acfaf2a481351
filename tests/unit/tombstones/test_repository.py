"""Tombstones bind machines: found in every disguise, and nothing of a forgotten text is kept."""

from __future__ import annotations

import pytest
from sqlalchemy import event, select

from remembrancer import tombstones
from remembrancer.errors import InvalidInputError
from remembrancer.scope import Actor, ActorKind
from remembrancer.tombstones import Kind, tables

HERE = "I live in Plagwitz, Leipzig"
AGENT = Actor(ActorKind.MODEL, "helpful", "mcp")


def entomb(person, text, kind=Kind.FORGOTTEN):
    return person.write(lambda unit, seq: tombstones.make(unit, kind, text, event_seq=seq))


def found(person, text):
    return [each.id for each in person.read(lambda unit: tombstones.live_match(unit, text))]


def same(person, text):
    return [each.id for each in person.read(lambda unit: tombstones.equal(unit, text))]


@pytest.mark.parametrize(
    "text",
    [
        HERE,
        "i LIVE in plagwitz leipzig.",
        "I l\u200bive in Plagwitz, Lei\u00adpzig",
        "I live in Plаgwitz, Leipzig",
        "Ｉ ｌｉｖｅ in Plagwitz, Leipzig",
        "As I said: I live in Plagwitz, Leipzig, since 2014.",
    ],
)
def test_X2_a_value_is_found_in_every_disguise(person, text):
    stone = entomb(person, HERE)
    assert found(person, text) == [stone]
    assert found(person, "I live in Rotterdam, Delfshaven") == []


def test_X2_equal_asks_for_the_value_alone(person):
    stone = entomb(person, HERE)
    assert same(person, HERE.upper()) == [stone]
    assert same(person, f"Well, {HERE}") == []


def test_X2_a_short_value_only_when_equal(person):
    stone = entomb(person, "likes jazz")
    assert found(person, "Likes jazz!") == [stone]
    assert found(person, "She likes jazz at night") == []
    cat = entomb(person, "我不再吃肉了")
    assert found(person, "她说我不再吃肉了，真的") == [cat]
    assert found(person, "她说我不再吃鱼了，真的") == []


def test_X2_a_text_of_many_thousand_words(person):
    stone = entomb(person, HERE)
    filler = " ".join(f"word{index}" for index in range(3_000))
    assert found(person, f"{filler} {HERE} {filler}") == [stone]
    assert found(person, filler) == []


def test_X3_a_lifted_one_is_not_found_until_it_is_put_back(person):
    stone = entomb(person, HERE)
    person.write(lambda unit, seq: tombstones.lift(unit, [stone], seq))
    assert found(person, HERE) == []
    assert person.read(lambda unit: tombstones.get(unit, stone)).lifted
    person.write(lambda unit, _: tombstones.unlift(unit, [stone]))
    assert found(person, HERE) == [stone]


def test_X1_nothing_of_a_forgotten_text_is_kept(person):
    rejected = entomb(person, HERE, Kind.REJECTED)
    longer = entomb(person, f"{HERE} with Mango", Kind.REFUTED)
    other = entomb(person, "I play the harp", Kind.REFUTED)
    stones = {each.id: each for each in person.read(tombstones.list_all)}
    assert stones[rejected].text == HERE
    forgotten = entomb(person, HERE.upper())
    stones = {each.id: each for each in person.read(tombstones.list_all)}
    assert [stones[each].text for each in (forgotten, rejected, longer)] == [None] * 3
    assert stones[other].text == "I play the harp"
    again = entomb(person, f"Yes, {HERE}.", Kind.REJECTED)
    assert person.read(lambda unit: tombstones.get(unit, again)).text is None


def test_X4_rejected_and_refuted_bind_and_keep_their_words(person):
    rejected = entomb(person, HERE, Kind.REJECTED)
    refuted = entomb(person, "I play the harp", Kind.REFUTED)
    assert found(person, HERE) == [rejected]
    assert found(person, "I play the harp") == [refuted]
    kinds = [each.kind for each in person.read(tombstones.list_all)]
    assert kinds == [Kind.REFUTED, Kind.REJECTED]


def test_X2_attempts_are_counted_without_text(person):
    stone = entomb(person, HERE)
    other = entomb(person, "I play the harp")
    person.write(lambda unit, seq: tombstones.record_attempt(unit, stone, AGENT, seq))
    person.write(lambda unit, seq: tombstones.record_attempt(unit, stone, AGENT, seq))
    tries = person.read(lambda unit: tombstones.attempts_of(unit, stone))
    assert [each.actor for each in tries] == [AGENT, AGENT]
    assert tries[0].attempted_at <= tries[1].attempted_at
    assert person.read(lambda unit: tombstones.get(unit, stone)).attempts == 2
    assert person.read(lambda unit: tombstones.get(unit, other)).attempts == 0


def test_digests_are_keyed_per_person(person, other):
    mine, theirs = entomb(person, HERE), entomb(other, HERE)
    assert found(person, HERE) == [mine]
    assert found(other, HERE) == [theirs]

    def digests(one):
        return one.read(lambda unit: unit.scalar(select(tables.tombstones.c.digest)))

    assert len(digests(person)) == 16
    assert digests(person) != digests(other)


def test_the_key_is_made_once_and_not_shown(person):
    first = person.write(lambda unit, _: tombstones.ensure_key(unit))
    assert person.write(lambda unit, _: tombstones.ensure_key(unit)) == first
    assert len(first.secret) == 32
    assert "secret" not in repr(first)


def test_a_value_needs_something_visible(person):
    with pytest.raises(InvalidInputError, match="needs a value"):
        entomb(person, " \u200b ")
    assert person.read(tombstones.list_all) == []


def test_one_statement_when_there_is_none_and_two_at_most(person):
    def statements(work):
        seen = []

        def whole(unit):
            def note(connection, cursor, statement, *rest):
                seen.append(statement)

            event.listen(unit.connection, "before_cursor_execute", note)
            work(unit)
            event.remove(unit.connection, "before_cursor_execute", note)

        person.read(whole)
        return len(seen)

    person.write(lambda *_: None)
    assert statements(lambda unit: tombstones.live_match(unit, HERE)) == 1
    assert statements(tombstones.scanner) == 1
    entomb(person, HERE)
    assert statements(lambda unit: tombstones.live_match(unit, HERE)) == 2
