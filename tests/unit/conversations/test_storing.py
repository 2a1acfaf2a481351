"""Storing is idempotent by content, keeps the tree, and withholds what was forgotten."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from uuid import uuid4

import pytest

from remembrancer import clock, tombstones
from remembrancer.conversations import repository
from remembrancer.conversations.models import AuthoredBy, Conversation, IncomingMessage, Role
from remembrancer.conversations.planning import plan
from remembrancer.conversations.storing import MessageVectors, missing, to_embed
from remembrancer.conversations.words import embedded_words, made_from
from remembrancer.errors import InvalidInputError

HOURS = 3600 * clock.SECOND


def said(text, at, role=Role.USER, **more):
    return IncomingMessage(role, text, at * HOURS, **more)


@pytest.mark.parametrize("external_id", ["", "c-1"])
def test_a_second_import_stores_only_what_is_new(person, talk, external_id):
    first = talk("u: Hello", "a: Hi", "u: I live in Leipzig", external_id=external_id)
    longer = talk("u: Hello", "a: Hi", "u: I live in Leipzig", "a: Nice", external_id=external_id)
    stored = person.store(first)
    assert (stored.created, len(stored.new), stored.known, stored.more) == (True, 3, 0, False)
    again = person.store(first)
    assert (again.chat_id, again.created, again.new, again.known) == (stored.chat_id, False, (), 3)
    more = person.store(longer)
    assert (more.chat_id, len(more.new), more.known) == (stored.chat_id, 1, 3)
    assert [each.text for each in person.messages(stored.chat_id)] == [
        "Hello", "Hi", "I live in Leipzig", "Nice",
    ]  # fmt: skip


def test_the_same_words_said_twice_are_two_messages(person, talk):
    stored = person.store(talk("u: Yes", "u: Yes", start=0, external_id="c"))
    both = replace(talk("u: No"), messages=(said("No", 1), said("No", 1)))
    assert len(stored.new) == 2
    assert len(person.store(both).new) == 2


def test_other_sources_and_ids_are_other_chats(person, talk):
    one = person.store(talk("u: Hello", external_id="a"))
    two = person.store(talk("u: Hello", external_id="b"))
    three = person.store(replace(talk("u: Hello", external_id="a"), source="elsewhere"))
    assert len({one.chat_id, two.chat_id, three.chat_id}) == 3
    found = person.read(lambda unit: repository.find_chat(unit, "test", "b"))
    assert found is not None
    assert (found.id, found.messages) == (two.chat_id, 1)


def test_nothing_new_moves_no_index(person, talk):
    person.store(talk("u: Hello"))
    before = person.write(lambda _, held: held.touch_index())
    person.store(talk("u: Hello"))
    assert person.write(lambda _, held: held.touch_index()) == before + 1


def test_S1_another_person_has_none_of_it(person, other, talk):
    stored = person.store(talk("u: Hello"))
    assert len(person.messages(stored.chat_id)) == 1
    assert other.messages(stored.chat_id) == []
    assert other.read(lambda unit: repository.chat(unit, stored.chat_id)) is None
    assert other.store(talk("u: Hello")).created


def test_who_wrote_a_message(person, talk):
    mine = person.store(talk("u: Hello", "a: Hi", external_id="1"))
    theirs = person.store(talk("u: Hello", "a: Hi", external_id="2"), AuthoredBy.IMPORTER)
    assert [each.authored_by for each in person.messages(mine.chat_id)] == ["person", "model"]
    assert [each.authored_by for each in person.messages(theirs.chat_id)] == ["importer"] * 2


def test_sessions_begin_after_four_hours_or_where_a_label_says_so(person):
    times = [said(f"m{index}", at) for index, at in enumerate((1, 5, 9.5, 10))]
    stored = person.store(Conversation("test", tuple(times)))
    assert [each.session for each in person.messages(stored.chat_id)] == [0, 0, 1, 1]
    labels = [said(f"m{at}", at, session=label) for at, label in ((1, "a"), (2, "b"), (90, "b"))]
    stored = person.store(Conversation("labelled", tuple(labels)))
    assert [each.session for each in person.messages(stored.chat_id)] == [0, 1, 1]


def test_a_chat_is_continued(person, talk):
    first = person.store(talk("u: Hello", external_id="c", continues=True))
    next_one = talk(
        "u: More", "a: Fine", start=2_000 * clock.SECOND, external_id="c", continues=True
    )
    more = person.store(next_one)
    assert (more.chat_id, len(more.new)) == (first.chat_id, 2)
    retried = person.store(next_one)
    assert (retried.new, retried.known) == ((), 2)
    messages = person.messages(first.chat_id)
    assert [each.text for each in messages] == ["Hello", "More", "Fine"]
    assert [each.parent_id for each in messages] == [None, messages[0].id, messages[1].id]
    with pytest.raises(InvalidInputError, match="needs an id"):
        person.store(talk("u: x", continues=True))


def test_C1_an_edited_branch_is_left_behind(person):
    told = (
        said("I like tea", 1, id="1"),
        said("Noted", 1.1, Role.ASSISTANT, id="2"),
        said("I like coffee", 2, id="3", parent=""),
        said("Noted!", 2.1, Role.ASSISTANT, id="4"),
    )
    before = person.store(Conversation("test", told[:2], external_id="c"))
    after = person.store(Conversation("test", told, external_id="c"))
    assert set(after.edited_away) == {each.id for each in before.new}
    assert [each.live for each in person.messages(before.chat_id)] == [False, False, True, True]
    regenerated = said("So be it", 3, Role.ASSISTANT, parent=str(after.new[0].id))
    once_more = Conversation("test", (regenerated,), external_id="c", continues=True)
    assert person.store(once_more).edited_away == (after.new[1].id,)
    live = [each.text for each in person.messages(before.chat_id) if each.live]
    assert live == ["I like coffee", "So be it"]
    last = person.read(lambda unit: repository.last_message(unit, before.chat_id))
    assert last.text == "So be it"


def test_S2_a_parent_of_another_chat_is_refused(person, talk):
    elsewhere = person.store(talk("u: Hello", external_id="a"))
    reply = IncomingMessage(Role.USER, "Hi", 5, parent=str(elsewhere.new[0].id))
    for parent in (str(elsewhere.new[0].id), str(uuid4())):
        conversation = Conversation("test", (replace(reply, parent=parent),), external_id="b")
        with pytest.raises(InvalidInputError, match="no message of this chat"):
            person.store(conversation)
    own = Conversation("test", (reply,), external_id="a", continues=True)
    assert len(person.store(own).new) == 1


def test_a_long_conversation_is_stored_in_units(person):
    told = tuple(said(f"Message number {index}", index / 10) for index in range(450))
    conversation = Conversation("test", told)
    sizes = []
    while True:
        stored = person.store(conversation)
        sizes.append((len(stored.new), stored.known))
        if not stored.more:
            break
    assert sizes == [(200, 0), (200, 200), (50, 400)]
    messages = person.messages(stored.chat_id)
    assert [each.position for each in messages] == list(range(450))
    assert all(after.parent_id == before.id for before, after in pairwise(messages))
    assert {each.session for each in messages} == {0}


def test_vectors_are_made_from_a_message_with_the_one_before_it(person):
    told = (
        said("Do you ski?", 1, Role.OTHER, speaker="Wei"),
        said("Never again", 1.1, speaker="Ines"),
        said("A new day", 30),
        said("?!", 30.1),
    )
    planned = plan(Conversation("test", told), AuthoredBy.PERSON)
    words = person.read(lambda unit: to_embed(unit, planned))
    assert [text for _, text in words] == [
        "Wei: Do you ski?",
        "Wei: Do you ski?\nInes: Never again",
        "A new day",
    ]
    vectors = MessageVectors(1, {made: b"\0\0" for made, _ in words[:2]})
    stored = person.store(planned.conversation, vectors=vectors)
    assert [each.pending for each in stored.new] == [False, False, True, False]
    assert person.pending() == [stored.new[2].id]
    assert person.pending(space=2) == [each.id for each in stored.new[:3]]
    assert person.read(lambda unit: to_embed(unit, planned)) == []


def test_words_take_the_end_of_a_long_answer():
    words = embedded_words("word " * 200 + "at last", "Thanks")
    assert words.endswith("at last\nThanks")
    assert words.startswith("word ")
    assert len(words) <= 410
    assert embedded_words("Hi", " ") == ""
    assert len(made_from(words)) == 16


@pytest.mark.parametrize("kind", list(tombstones.Kind))
def test_X1_what_was_forgotten_is_withheld_when_it_is_stored(person, talk, kind):
    stone = person.entomb("I live in Leipzig", kind)
    conversation = talk("u: Hello. I l\u200bive in Leipzig, you know. I sing.", "a: A fine town")
    planned = plan(conversation, AuthoredBy.PERSON)
    words = person.read(lambda unit: to_embed(unit, planned))
    assert person.read(lambda unit: missing(unit, planned)) == [0, 1]
    assert "Leipzig" not in " ".join(text for _, text in words)
    with_it = made_from(embedded_words("", conversation.messages[0].text))
    stored = person.store(conversation, vectors=MessageVectors(1, {with_it: b"\0\0"}))
    assert stored.new[0].pending
    assert person.visible(stored.chat_id) == ["Hello. I sing.", "A fine town"]
    ((message, *_),) = (person.messages(stored.chat_id),)
    assert message.text == conversation.messages[0].text
    spans = person.read(lambda unit: repository.withheld_spans(unit, [message.id]))
    assert [each.tombstone_id for each in spans] == [stone]


def test_E1_a_quote_counts_in_the_persons_own_words_alone(person, talk):
    chat = person.store(talk("u: I live  in Leipzig.", "a: You play the harp.")).chat_id
    foreign = person.store(talk("u: I own a boat", external_id="x"), AuthoredBy.IMPORTER).chat_id

    def found(quote, **where):
        return person.read(lambda unit: repository.user_said(unit, quote, **where))

    message = found("live in Leipzig")
    assert message.text == "I live  in Leipzig."
    assert found("live in Leipzig", chat_id=chat, message_id=message.id) == message
    assert found("live in Leipzig", chat_id=foreign) is None
    assert found("live in Leipzig", chat_id=foreign, message_id=message.id) is None
    assert found("live in Leipzig", message_id=uuid4()) is None
    assert found("Live in Leipzig") is None
    assert found("You play the harp") is None
    assert found("I own a boat") is None
    person.forget("I live in Leipzig")
    assert found("live in Leipzig") is None


def test_V2_no_quote_spans_what_is_withheld(person, talk):
    chat = person.store(talk("u: I sing. I live in Leipzig. I dance.")).chat_id
    person.forget("I live in Leipzig")
    assert person.visible(chat) == ["I sing. I dance."]
    assert person.read(lambda unit: repository.user_said(unit, "I sing. I dance")) is None
    assert person.read(lambda unit: repository.user_said(unit, "I dance")) is not None


def test_S7_messages_follow_their_chats_space(person, talk):
    def make(unit, held):
        space = uuid4()
        repository.insert_space(unit, space, "work", held.touch_index())
        return space

    space = person.write(make)
    stored = person.store(talk("u: Hello"), space_id=space)
    assert person.read(lambda unit: repository.find_space(unit, "work")).id == space
    assert person.read(lambda unit: repository.find_space(unit, "home")) is None
    assert [each.name for each in person.read(repository.list_spaces)] == ["work"]
    assert person.read(lambda unit: repository.space_exists(unit, space))
    assert not person.read(lambda unit: repository.space_exists(unit, uuid4()))
    (chat,) = person.read(repository.list_chats)
    assert chat.space_id == space
    person.write(
        lambda unit, held: repository.move_chat(unit, stored.chat_id, None, held.touch_index())
    )
    assert person.read(lambda unit: repository.chat(unit, stored.chat_id)).space_id is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": ""}, "source"),
        ({"messages": ()}, "messages"),
        ({"title": "a\nb"}, "title"),
        ({"messages": (IncomingMessage(Role.USER, "\0", 1),)}, "messages[0].text"),
        ({"messages": (IncomingMessage(Role.OTHER, "Hi", 1),)}, "messages[0].speaker"),
        ({"messages": (IncomingMessage(Role.USER, "Hi", clock.MAX),)}, "messages[0].at"),
    ],
)
def test_W5_what_is_wrong_is_refused_and_nothing_stored(person, talk, change, field):
    with pytest.raises(InvalidInputError) as caught:
        person.store(replace(talk("u: Hello"), **change))
    assert caught.value.field == field
    person.write(lambda _, held: held.touch_index())
    assert person.read(repository.list_chats) == []
