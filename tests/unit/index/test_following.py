"""Views of a person's index, as the store changes under them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from remembrancer.conversations.tables import messages
from remembrancer.events.log import read_head
from remembrancer.ids import new_id
from remembrancer.index import repository
from remembrancer.index.changes import Changes, TextRow
from remembrancer.index.indexes import PersonalIndexes, Source
from remembrancer.memory.tables import texts, versions
from tests.support import sources
from tests.support.people import newcomer
from tests.support.sources import CONVERSATIONS, SOURCES
from tests.unit.index.asking import dense, embed, ids, lexical, remember, say, terms, vector


def test_a_person_without_anything_has_an_empty_view(person):
    view = person.view()
    assert (view.seq, view.size, len(view.versions), len(view.messages.ids)) == (0, 0, 0, 0)
    assert view.lexical({1: 1}).scores.shape == view.dense(vector(1)).shape == (0,)
    remember(person, "green tea")
    assert person.view().size == 1


def test_a_version_is_in_the_table_as_it_was_given(person):
    space = new_id()
    given = remember(
        person, "green tea", path="food/drink", space_id=space, trust="candidate", type="user",
        valid_from=3, valid_to=9, recorded_from=4, recorded_to=8,
    )  # fmt: skip
    plain = remember(person, "black tea")
    view = person.view()
    table = view.versions
    at = {id_: place for place, id_ in enumerate(ids(table))}
    place, other = at[given.version_id], at[plain.version_id]
    assert table.memory_ids[place] == given.memory_id
    assert (view.paths[table.path[place]], view.spaces[table.space[place]]) == ("food/drink", space)
    assert (table.path[other], table.space[other]) == (-1, -1)
    assert (table.trust[place], table.trust[other]) == (0, 2)
    assert (table.type[place], table.type[other]) == (1, 0)
    times = (table.valid_from, table.valid_to, table.recorded_from, table.recorded_to)
    assert [int(column[place]) for column in times] == [3, 9, 4, 8]


def test_a_message_is_in_the_table_as_it_was_given(person):
    chat, space = new_id(), new_id()
    one = say(
        person, "my sister paints", chat, space_id=space, speaker="Ada", position=4, said_at=9
    )
    two = say(person, "and sings", chat, space_id=space, session=1, role="other", live=False)
    elsewhere = say(person, "hello", role="assistant")
    view = person.view()
    table = view.messages
    at = {id_: place for place, id_ in enumerate(ids(table))}
    first, second, third = (at[each.message_id] for each in (one, two, elsewhere))
    assert [view.chats[table.chat[place]] for place in (first, second)] == [chat, chat]
    assert view.spaces[table.space[first]] == space
    assert (table.space[third], table.speaker[third]) == (-1, -1)
    assert view.speakers[table.speaker[first]] == "Ada"
    assert len({int(table.session[place]) for place in (first, second, third)}) == 3
    assert [int(table.role[place]) for place in (first, second, third)] == [0, 2, 1]
    assert [bool(table.live[place]) for place in (first, second)] == [True, False]
    assert (int(table.position[first]), int(table.said_at[first])) == (4, 9)


def test_R10_a_view_sees_what_was_just_written_through_any_index(person):
    elsewhere = PersonalIndexes(SOURCES, budget_bytes=1 << 30)
    assert lexical(person.view(), "tea") == lexical(person.view(of=elsewhere), "tea") == {}
    tea = remember(person, "green tea", seed=1)
    for view in (person.view(), person.view(of=elsewhere)):
        assert set(lexical(view, "tea")) == {tea.version_id}
        assert dense(view, 1)[tea.version_id] == pytest.approx(1, abs=1e-3)
        assert view.seq == person.read(read_head).index_seq
    assert person.indexes.stats().loads == 1


def test_an_unchanged_store_gives_the_same_view(person):
    remember(person, "green tea")
    first = person.view()
    assert person.view() is first
    remember(person, "black tea")
    assert person.view() is not first


def test_an_old_view_stays_as_it_was(person):
    tea = remember(person, "green tea", seed=1)
    old = person.view()
    remember(person, "tea with milk", seed=2)
    person.write(sources.change, texts, tea.text_id, terms=b"")
    person.write(sources.change, versions, tea.version_id, recorded_to=50)
    person.write(repository.drop_vectors, [tea.text_id])
    new = person.view()
    assert (old.size, len(old.versions), list(old.pending)) == (1, 1, [False])
    assert set(lexical(old, "tea")) == set(dense(old, 1)) == {tea.version_id}
    assert old.versions.recorded_to[0] != 50
    assert len(lexical(new, "tea")) == 1
    assert tea.version_id not in {*lexical(new, "tea"), *dense(new, 1)}
    with pytest.raises(ValueError, match="read-only"):
        old.versions.trust[0] = 0
    with pytest.raises(FrozenInstanceError):
        old.seq = 5


def test_closing_a_version_changes_it_in_place(person):
    tea = remember(person, "green tea")
    assert len(person.view().versions) == 1
    person.write(sources.change, versions, tea.version_id, recorded_to=77)
    table = person.view().versions
    assert (len(table), int(table.recorded_to[0])) == (1, 77)


def test_R6_a_forgotten_text_is_found_no_more_but_its_neighbour_is(person):
    tea, coffee = remember(person, "green tea", seed=1), remember(person, "tea or coffee", seed=2)
    assert set(lexical(person.view(), "tea")) == {tea.version_id, coffee.version_id}
    person.write(repository.drop_vectors, [tea.text_id])
    person.write(sources.change, texts, tea.text_id, terms=b"")
    view = person.view()
    assert set(lexical(view, "tea")) == set(dense(view, 1)) == {coffee.version_id}
    assert int(view.live_documents.sum()) == 1


def test_a_text_with_new_terms_takes_its_versions_along(person):
    tea, other = remember(person, "green tea", seed=1), remember(person, "red wine")
    person.view()
    person.write(sources.change, texts, tea.text_id, terms=terms("white coffee"))
    view = person.view()
    assert lexical(view, "tea") == {}
    assert set(lexical(view, "coffee")) == {tea.version_id}
    assert set(lexical(view, "wine")) == {other.version_id}
    assert set(dense(view, 1)) == {tea.version_id}


def test_a_message_indexed_anew_loses_what_was_withheld(person):
    message = say(person, "my sister lives in Oslo")
    say(person, "Oslo is cold")
    person.view()
    person.write(sources.change, messages, message.message_id, terms=terms("my sister"))
    view = person.view()
    assert message.message_id not in lexical(view, "Oslo")
    assert len(lexical(view, "Oslo")) == 1
    assert set(lexical(view, "sister")) == {message.message_id}
    assert len(view.messages) == 2


def test_a_row_that_only_moved_keeps_its_document_and_vector(person):
    message = say(person, "my sister paints")
    embed(person, message.message_id, 3)
    before = person.view()
    person.write(sources.change, messages, message.message_id, live=0)
    view = person.view()
    assert not view.messages.live[0]
    assert (view.size, dense(view, 3)) == (before.size, dense(before, 3))


def test_W8_a_completed_vector_ends_pending(person):
    tea = remember(person, "green tea")
    assert person.view().pending.tolist() == [True]
    assert set(lexical(person.view(), "tea")) == {tea.version_id}
    embed(person, tea.text_id, 1)
    view = person.view()
    assert view.pending.tolist() == [False]
    assert set(dense(view, 1)) == {tea.version_id}


def test_a_dropped_vector_is_gone_with_the_touch_of_its_row(person):
    tea, other = remember(person, "green tea", seed=1), remember(person, "red wine", seed=2)
    assert len(dense(person.view(), 1)) == 2
    person.write(repository.drop_vectors, [tea.text_id])
    person.write(sources.change, texts, tea.text_id, terms=terms("green tea"))
    assert set(dense(person.view(), 1)) == {other.version_id}
    assert set(lexical(person.view(), "tea")) == {tea.version_id}


def test_embedding_spaces_never_mix(person):
    tea = remember(person, "green tea", seed=1)
    embed(person, tea.text_id, 2, space=2)
    assert dense(person.view(1), 1)[tea.version_id] == pytest.approx(1, abs=1e-3)
    assert dense(person.view(2), 2)[tea.version_id] == pytest.approx(1, abs=1e-3)
    assert dense(person.view(2), 1)[tea.version_id] < 0.9
    without = person.view(None)
    assert without.pending.all()
    assert set(lexical(without, "tea")) == {tea.version_id}


def test_E2_a_deleted_message_is_seen_to_be_gone(person):
    gone, stays = say(person, "the sea is blue"), say(person, "the sea is cold")
    assert len(lexical(person.view(), "sea")) == 2
    person.write(sources.remove, messages, gone.message_id)
    view = person.view()
    assert ids(view.messages) == [stays.message_id]
    assert set(lexical(view, "sea")) == {stays.message_id}
    assert person.indexes.stats().loads == 2


def test_a_deletion_and_an_addition_in_one_step_are_both_seen(person):
    gone = say(person, "the sea is blue")
    person.view()
    person.write(sources.remove, messages, gone.message_id)
    fresh = say(person, "the sea is cold")
    assert ids(person.view().messages) == [fresh.message_id]


def test_a_source_may_name_what_is_gone(person):
    gone, stays = say(person, "the sea is blue"), say(person, "the sea is cold")

    def changes(unit, after):
        known = CONVERSATIONS.changes(unit, after)
        return known._replace(gone=[gone.message_id]) if after >= 0 else known

    indexes = PersonalIndexes([Source(changes, CONVERSATIONS.count)], budget_bytes=1 << 30)
    assert len(lexical(person.view(of=indexes), "sea")) == 2
    person.write(sources.remove, messages, gone.message_id)
    view = person.view(of=indexes)
    assert set(lexical(view, "sea")) == {stays.message_id}
    assert view.messages.live.tolist() == [id_ != gone.message_id for id_ in ids(view.messages)]
    assert indexes.stats().loads == 1


def test_a_version_read_before_its_text_finds_it_the_next_time(person):
    tea = sources.version(new_id(), new_id(), new_id())
    steps = [
        Changes(versions=[tea]),
        Changes(texts=[TextRow(tea.text_id, terms("green tea"))], versions=[tea]),
    ]
    indexes = PersonalIndexes([Source(lambda *_: steps.pop(0))], budget_bytes=1 << 30)
    early = person.view(of=indexes)
    assert lexical(early, "tea") == {}
    assert not early.live_documents[early.versions.document[0]]
    person.write(sources.touch)
    assert set(lexical(person.view(of=indexes), "tea")) == {tea.version_id}


def test_E3_a_fresh_load_gives_the_same_scores(person):
    words = ["green tea", "black tea", "tea and milk", "the sea", "sea salt", "my sister"]
    kept = [remember(person, text, seed=seed) for seed, text in enumerate(words)]
    person.view()
    said = [say(person, text) for text in words]
    person.view()
    person.write(sources.change, texts, kept[0].text_id, terms=terms("green coffee"))
    person.write(sources.change, texts, kept[1].text_id, terms=b"")
    person.write(sources.change, messages, said[2].message_id, terms=terms("tea"))
    grown = person.view()
    fresh = person.view(of=PersonalIndexes(SOURCES, budget_bytes=1 << 30))
    for question in ("tea", "green sea", "milk with coffee"):
        assert lexical(grown, question) == lexical(fresh, question) != {}
    assert dense(grown, 3) == dense(fresh, 3) != {}


def test_S5_another_persons_documents_change_nothing(person, database):
    for text in ("green tea", "black tea", "the sea"):
        remember(person, text, seed=1)
    before = person.view()
    other = newcomer(database)
    many = [TextRow(new_id(), terms(f"green tea {number}")) for number in range(2000)]
    database.write_now(other, lambda unit: sources.add_texts(unit, many))
    theirs = database.read_now(other, lambda unit: person.indexes.view(unit, 1))
    fresh = person.view(of=PersonalIndexes(SOURCES, budget_bytes=1 << 30))
    assert theirs.size == 2000
    assert person.view() is before
    assert lexical(fresh, "green tea") == lexical(before, "green tea") != {}
