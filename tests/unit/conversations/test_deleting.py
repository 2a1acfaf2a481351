"""Deleting reaches rows, spans and vectors, and leaves its siblings alone."""

from __future__ import annotations

from uuid import uuid4

import pytest
from sqlalchemy import func, select

from remembrancer.conversations import deleting, repository, source
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.conversations.tables import withheld
from remembrancer.index.tables import vectors

TALK = ("u: Hello. I live in Leipzig.", "a: Nice.", "u: I sing.")


def rows(person, table):
    return person.read(lambda unit: unit.scalar(select(func.count()).select_from(table)))


@pytest.fixture
def chats(person, talk):
    """Two alike, one of an import, with vectors and a withheld sentence each."""
    imported = uuid4()
    gone = person.store(talk(*TALK, external_id="gone"), import_id=imported)
    kept = person.store(talk(*TALK, external_id="kept"))
    person.forget("I live in Leipzig")
    assert person.embed() == 6
    assert (rows(person, vectors), rows(person, withheld)) == (6, 2)
    return gone, kept, imported


@pytest.mark.parametrize("whole", ["chat", "import"])
def test_E2_a_chat_or_an_import_goes_with_all_it_has(person, chats, whole):
    gone, kept, imported = chats
    removed = person.write(
        lambda unit, _: (
            deleting.delete_chat(unit, gone.chat_id)
            if whole == "chat"
            else deleting.delete_import(unit, imported)
        )
    )
    assert removed.chat_ids == (gone.chat_id,)
    assert set(removed.message_ids) == {each.id for each in gone.new}
    assert person.messages(gone.chat_id) == []
    assert (rows(person, vectors), rows(person, withheld)) == (3, 1)
    assert person.visible(kept.chat_id) == ["Hello. ", "Nice.", "I sing."]
    assert person.read(source.count) == 3


def test_E2_a_message_goes_and_the_next_follows_the_one_before(person, chats):
    gone, kept, _ = chats
    first, second, third = (each.id for each in gone.new)
    removed = person.write(
        lambda unit, held: deleting.delete_message(unit, second, index_seq=held.touch_index())
    )
    assert (removed.message_ids, removed.remake) == ((second,), (third,))
    left = person.messages(gone.chat_id)
    assert [(each.id, each.parent_id) for each in left] == [(first, None), (third, first)]
    assert person.pending() == [third]
    assert len(person.messages(kept.chat_id)) == 3
    assert rows(person, withheld) == 2
    again = person.write(
        lambda unit, held: deleting.delete_message(unit, first, index_seq=held.touch_index())
    )
    assert again.message_ids == (first,)
    assert rows(person, withheld) == 1


def test_deleting_the_newest_branch_brings_the_other_back(person):
    told = (
        IncomingMessage(Role.USER, "Tea?", 1, id="1"),
        IncomingMessage(Role.ASSISTANT, "Green", 2, id="2"),
        IncomingMessage(Role.ASSISTANT, "Black", 3, parent="1"),
    )
    stored = person.store(Conversation("test", told))
    assert [each.live for each in person.messages(stored.chat_id)] == [True, False, True]
    person.write(
        lambda unit, held: deleting.delete_message(
            unit, stored.new[2].id, index_seq=held.touch_index()
        )
    )
    assert [each.live for each in person.messages(stored.chat_id)] == [True, True]


def test_S2_what_is_anothers_is_not_there(person, other, chats):
    gone, _, imported = chats
    nothing = deleting.Removed()
    assert other.write(lambda unit, _: deleting.delete_chat(unit, gone.chat_id)) == nothing
    assert other.write(lambda unit, _: deleting.delete_import(unit, imported)) == nothing
    message = gone.new[0].id
    assert nothing == other.write(
        lambda unit, held: deleting.delete_message(unit, message, index_seq=held.touch_index())
    )
    assert len(person.messages(gone.chat_id)) == 3
    assert person.read(lambda unit: repository.find_message(unit, message)) is not None
