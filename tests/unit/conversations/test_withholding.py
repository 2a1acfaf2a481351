"""Forgetting reaches the messages: withheld, given back, redacted; nothing comes back by import."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from remembrancer import tombstones
from remembrancer.conversations import redacting, repository, source, withholding
from remembrancer.conversations.sieve import Sieve
from remembrancer.conversations.tables import chats, messages
from remembrancer.text.analyse import term_hash, unpack_terms
from remembrancer.text.normalise import matches
from remembrancer.text.spans import sentence_spans_with

HERE = "I live in Leipzig"
TALK = (
    "u: Hello. I live in Leipzig now. I sing.",
    "a: Leipzig is fine.",
    "u: As I said: I l\u200bive in Lеipzig!",
    "u: I live in Rotterdam.",
)


def terms(person, message_id):
    statement = select(messages.c.terms).where(messages.c.id == message_id)
    return set(unpack_terms(person.read(lambda unit: unit.scalar(statement)))[0].tolist())


def has(person, message_id, word):
    return term_hash(word) in terms(person, message_id)


def test_X1_every_sentence_that_says_it_is_withheld(person, talk):
    chat = person.store(talk(*TALK)).chat_id
    first, second, third, fourth = person.messages(chat)
    assert has(person, first.id, "leipzig")
    _, changed = person.forget(HERE)
    assert person.visible(chat) == [
        "Hello. I sing.",
        "Leipzig is fine.",
        "",
        "I live in Rotterdam.",
    ]
    assert [each.text for each in person.messages(chat)] == [line[3:] for line in TALK]
    assert set(changed) == {first.id, second.id, third.id, fourth.id}
    assert not has(person, first.id, "leipzig")
    assert has(person, first.id, "sing")
    assert terms(person, third.id) == set()
    assert has(person, fourth.id, "rotterdam")


def test_X1_vectors_made_with_it_go_in_the_same_commit(person, talk):
    stored = person.store(talk("u: Hi", "u: I live in Leipzig.", "a: Nice.", "u: I sing."))
    ids = [each.id for each in stored.new]
    assert person.embed() == 4
    _, changed = person.forget(HERE)
    assert changed == [ids[1], ids[2]]
    assert person.pending() == [ids[2]]
    assert person.embed() == 1
    assert person.pending() == []


def test_X1_the_sentence_with_the_quote_is_withheld_in_its_message_only(person, talk):
    chat = person.store(talk("u: My home is Leipzig. I sing.", "u: My home is Leipzig.")).chat_id
    message = person.messages(chat)[0]
    person.forget(HERE, quotes=[(message.id, "home is Leipzig"), (message.id, "not there")])
    assert person.visible(chat) == ["I sing.", "My home is Leipzig."]


def test_X1_reimport_brings_nothing_back(person, talk):
    chat = person.store(talk(*TALK)).chat_id
    person.forget(HERE)
    hidden = person.visible(chat)
    assert person.store(talk(*TALK)).new == ()
    copy = person.store(talk(*TALK, external_id="copy")).chat_id
    assert person.visible(copy) == hidden
    assert "I sing." in hidden[0]


def test_X3_lifting_gives_back_what_nothing_else_withholds(person, talk):
    chat = person.store(talk("u: I live in Leipzig.", "u: I live in Leipzig and sing.")).chat_id
    stone, _ = person.forget(HERE)
    person.forget("I live in Leipzig and sing")
    assert person.visible(chat) == ["", ""]
    changed = person.write(
        lambda unit, held: withholding.unwithhold(unit, [stone], held.touch_index())
    )
    assert person.visible(chat) == ["I live in Leipzig.", ""]
    first, second = person.messages(chat)
    assert set(changed) == {first.id, second.id}
    assert has(person, first.id, "leipzig")
    assert terms(person, second.id) == set()


def test_withholding_twice_for_one_tombstone_changes_nothing(person, talk):
    chat = person.store(talk(*TALK)).chat_id
    stone, _ = person.forget(HERE)

    def again(unit, held):
        return withholding.withhold(
            unit, tombstone_id=stone, value=HERE, event_seq=1, index_seq=held.touch_index()
        )

    assert person.write(again) == []
    assert person.visible(chat)[0] == "Hello. I sing."


def test_S1_another_persons_messages_are_untouched(person, other, talk):
    mine, theirs = person.store(talk(*TALK)).chat_id, other.store(talk(*TALK)).chat_id
    person.forget(HERE)
    assert person.visible(mine) != person.visible(theirs)
    assert other.visible(theirs) == [line[3:] for line in TALK]


def test_the_index_is_told(person, talk):
    def rows(after):
        found = person.read(lambda unit: source.changes(unit, after)).messages
        return {bytes(row[0]) if isinstance(row[0], bytes) else row[0].bytes: row for row in found}

    stored = person.store(talk(*TALK))
    person.embed()
    before = person.write(lambda _, held: held.touch_index())
    assert len(rows(0)) == 4
    assert person.read(source.count) == 4
    assert rows(before) == {}
    person.forget("I live in Rotterdam")
    assert set(rows(before)) == {stored.new[3].id.bytes}
    assert rows(before)[stored.new[3].id.bytes][-1] == b""


def redact(person, chat, value):
    def work(unit, held):
        spans = {
            each.id: sentence_spans_with(each.text, value)
            for each in repository.chat_messages(unit, chat)
        }
        spans = {message_id: found for message_id, found in spans.items() if found}
        return redacting.redact(unit, spans, index_seq=held.touch_index())

    return person.write(work)


def test_X1_redacted_words_are_gone_for_good(person, talk):
    conversation = talk(*TALK)
    stored = person.store(conversation)
    person.forget(HERE)
    changed = redact(person, stored.chat_id, HERE)
    assert set(changed) == {each.id for each in stored.new}
    texts = [each.text for each in person.messages(stored.chat_id)]
    assert texts == ["Hello. […] I sing.", "Leipzig is fine.", "[…]", "I live in Rotterdam."]
    assert person.visible(stored.chat_id) == texts
    again = person.store(conversation)
    assert (again.chat_id, again.new, again.known) == (stored.chat_id, (), 4)


def test_X1_no_digest_derives_from_redacted_words(person, talk):
    def digests():
        rows = person.read(
            lambda unit: unit.all(select(messages.c.digest).order_by(messages.c.position))
        )
        return [row.digest for row in rows]

    conversation = talk(*TALK)
    chat = person.store(conversation).chat_id
    before = digests()
    name = person.read(lambda unit: unit.scalar(select(chats.c.external_id)))
    assert before[0].hex() in name
    redact(person, chat, HERE)
    assert not set(before) & set(digests())
    assert before[0].hex() not in person.read(lambda unit: unit.scalar(select(chats.c.external_id)))
    redact(person, chat, "I live in Rotterdam")
    assert person.store(conversation).new == ()


def test_what_else_is_withheld_stays_withheld(person, talk):
    chat = person.store(talk("u: I live in Leipzig. I own a boat. I sing. I own a boat.")).chat_id
    stone, _ = person.forget("I own a boat")
    redact(person, chat, HERE)
    assert person.visible(chat) == ["[…] I sing. "]
    person.write(lambda unit, held: withholding.unwithhold(unit, [stone], held.touch_index()))
    assert person.visible(chat) == ["[…] I own a boat. I sing. I own a boat."]


def test_a_span_is_cut_around_what_was_redacted(person, talk):
    assert redacting.outside((0, 10), [(2, 4), (8, 12)]) == [(0, 2), (4, 8)]
    assert redacting.outside((3, 4), [(2, 5)]) == []
    chat = person.store(talk("u: One two three. Four.")).chat_id
    (message,) = person.messages(chat)
    nothing = person.write(
        lambda unit, held: redacting.redact(
            unit, {message.id: [(5, 5)]}, index_seq=held.touch_index()
        )
    )
    assert nothing == [message.id]
    assert person.visible(chat) == ["One two three. Four."]


VALUES = st.sampled_from(
    [HERE, "я живу в Москве", "我现在住在北京市", "½ Tasse Öl", "café au lait ok", "👍"]
)
DISGUISES = st.lists(
    st.sampled_from(
        [
            str.upper,
            lambda text: text.replace("i", "і"),
            lambda text: text.replace("e", "e\u200b"),
            lambda text: text.replace("o", "\u03bf"),
            lambda text: text.replace("a", "а\u0301"),
            lambda text: text.replace(" ", " , "),
            lambda text: text.replace("住", " 住-"),
            lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
        ]
    ),
    max_size=3,
)


@given(VALUES, DISGUISES, st.sampled_from(["", "So: ", "Mоin. ", "好，", "x"]))
def test_X2_the_sieve_lets_through_all_that_says_it(value, disguises, before):
    text = value
    for disguise in disguises:
        text = disguise(text)
    text = before + text
    if matches(text, value):
        assert Sieve(value).passes(text)


@pytest.mark.parametrize("text", ["I live in Rotterdam", "Ich lebe in Köln", "我喜欢茶", ""])
def test_the_sieve_holds_back_what_is_hopeless(text):
    assert not Sieve(HERE).passes(text)
    assert not Sieve("\u200b").passes(text)


def test_a_value_with_no_messages(person):
    stone, changed = person.forget(HERE)
    assert changed == []
    assert person.read(lambda unit: tombstones.get(unit, stone)) is not None


def test_a_tombstone_back_in_force_withholds_again(person, talk):
    chat = person.store(talk(*TALK)).chat_id
    stone, _ = person.forget(HERE)
    hidden = person.visible(chat)

    def lift(unit, held):
        tombstones.lift(unit, [stone], 1)
        withholding.unwithhold(unit, [stone], held.touch_index())

    def unlift(unit, held):
        tombstones.unlift(unit, [stone])
        return withholding.withhold_again(unit, [stone], event_seq=1, index_seq=held.touch_index())

    person.write(lift)
    assert person.visible(chat)[0] == TALK[0][3:]
    assert person.write(unlift)
    assert person.visible(chat) == hidden


def test_X1_a_title_that_says_it_is_taken_away(person, talk):
    person.store(talk("u: Hello", external_id="a", title="Where I live: I live in Leipzig"))
    person.store(talk("u: Hello", external_id="b", title="Singing"))
    person.write(lambda unit, _: redacting.clear_titles(unit, [HERE]))
    assert [each.title for each in person.read(repository.list_chats)] == ["", "Singing"]


def test_ids_of_the_sources_stay_when_digests_are_keyed(person, talk):
    names = ("c-1", "first:", "first:" + "zz" * 16)
    for name in names:
        redact(person, person.store(talk(*TALK, external_id=name)).chat_id, HERE)
    assert {each.external_id for each in person.read(repository.list_chats)} == set(names)
