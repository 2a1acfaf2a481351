"""E2: deleting or editing away a source reaches all that rests on it, and nothing else."""

from __future__ import annotations

from uuid import UUID

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Conversation, Role
from remembrancer.errors import NotFoundError
from remembrancer.events.kinds import Kind
from remembrancer.index import repository as vectors
from remembrancer.memory.models import Trust
from remembrancer.memory.orphaning import Choice, Deleted
from tests.acceptance.forgetting import add_quoted, delete_message, engine_of, mine, said, word
from tests.acceptance.resting import (
    Source,
    given_to,
    imported,
    recalled_all,
    sentences,
    told,
    unresolved,
)
from tests.support.everywhere import Traces, found_in_files, found_in_rows
from tests.support.stores import Place

SCOPES = ("message", "chat", "import")


def _delete(
    store: SyncRemembrancer,
    ada: SyncPersonalMemory,
    scope: str,
    choice: Choice,
    ids: tuple[Source, list[UUID], UUID | None],
) -> Deleted:
    source, messages, import_id = ids
    if scope == "message":
        return delete_message(store, ada, messages[0], choice)
    if scope == "chat":
        return ada.delete_chat(source.chat_id, choice=choice)
    assert import_id is not None
    return ada.delete_import(import_id, choice=choice)


@pytest.mark.parametrize("choice", Choice)
@pytest.mark.parametrize("scope", SCOPES)
def test_E2_deleting_a_source_reaches_all_that_was_derived_from_it(
    place: Place, store: SyncRemembrancer, ada: SyncPersonalMemory, scope: str, choice: Choice
) -> None:
    ids = imported(store, ada) if scope == "import" else (*told(ada, "gone"), None)
    source = ids[0]
    sibling, _ = told(ada, "sibling")
    assert source.active in given_to(ada, f"boat {source.token}")
    report = _delete(store, ada, scope, choice, ids)
    first, second = sentences(source.token)
    traces = Traces((), (f"{first} {second}",), (first, second))
    assert found_in_rows(place, traces) == set()
    assert found_in_files(place, traces) == set()

    assert source.state(source.confirmed) == Trust.CONFIRMED
    (evidence,) = ada.history(source.confirmed).evidence
    assert evidence.deleted
    assert evidence.quote is None
    open_ = {each.id: each for each in ada.proposals()}
    assert source.proposal not in open_
    assert source.proposal in {each.id for each in ada.proposals("expired")}
    assert report.messages == 1
    assert report.proposals_expired == 1
    assert report.kept >= (source.confirmed,)
    if choice is Choice.KEEP:
        assert source.state(source.active) == Trust.CANDIDATE
        assert source.state(source.candidate) == Trust.CANDIDATE
        assert {each.target_id for each in open_.values()} >= {source.active, source.candidate}
        assert report.demoted == (source.active,)
        assert report.removed == ()
    else:
        assert source.state(source.active) is None
        assert source.state(source.candidate) is None
        assert ada.history(source.active).forgotten
        assert set(report.removed) == {source.active, source.candidate}
        assert source.token not in repr([ada.history(source.active), open_])
        assert ada.as_agent("scribe").add(f"Ada sails with {source.token} often.").id is not None
    assert not given_to(ada, f"boat {source.token} sails") & {source.active, source.candidate}

    assert sibling.state(sibling.candidate) == Trust.CANDIDATE
    assert sibling.state(sibling.active) == Trust.ACTIVE
    assert sibling.state(sibling.confirmed) == Trust.CONFIRMED
    assert sibling.proposal in open_
    assert open_[sibling.proposal].quote == sentences(sibling.token)[1]
    assert all(
        each.quote and not each.deleted
        for memory_id in sibling.derived
        for each in ada.history(memory_id).evidence
    )
    assert sibling.active in given_to(ada, f"boat {sibling.token}")
    assert ada.verify().damage == ()


def test_E2_what_rests_on_a_sibling_as_well_stays_as_it_was(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    source, messages = told(ada, "one")
    again = f"Yes, {sentences(source.token)[0]}"
    stored = ada.tell(mine(again, source="two", external_id="two"))
    twice = add_quoted(ada, f"Ada's boat is called {source.token}.", again)
    assert twice.status == "duplicate"
    assert twice.id == source.active
    report = delete_message(store, ada, messages[0], Choice.REMOVE)
    assert source.active in report.kept
    assert source.candidate in report.removed
    assert source.state(source.active) == Trust.ACTIVE
    report = delete_message(store, ada, stored.messages[0], Choice.REMOVE)
    assert report.removed == (source.active,)
    assert source.state(source.active) is None
    assert source.state(source.confirmed) == Trust.CONFIRMED


def test_E2_vectors_and_terms_made_with_a_message_go_with_it(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    token = word()
    stored = ada.tell(
        mine(
            f"I found {token} today.", "It was under the sofa.", "Lunch was late.", external_id="c"
        )
    )
    engine, scope = engine_of(store), ada._memory._scope
    space = engine.space()
    assert space is not None

    def present() -> set[UUID]:
        rows = engine.db.read_now(
            scope, lambda unit: vectors.vectors_of(unit, space, list(stored.messages))
        )
        return {each.document_id for each in rows}

    assert present() == set(stored.messages)
    delete_message(store, ada, stored.messages[0], Choice.KEEP)
    assert present() == {stored.messages[2]}
    assert not any(token in each.content for each in recalled_all(ada, token).entries)
    assert any("sofa" in each.content for each in recalled_all(ada, "under the sofa").entries)


def test_E2_there_is_nothing_to_delete_of_what_is_unknown(
    store: SyncRemembrancer, ada: SyncPersonalMemory, ben: SyncPersonalMemory
) -> None:
    source, messages = told(ben, "one")
    for call in (
        lambda: ada.delete_chat(source.chat_id),
        lambda: ada.delete_import(UUID(int=5)),
        lambda: delete_message(store, ada, messages[0], Choice.REMOVE),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert source.state(source.active) == Trust.ACTIVE
    assert ben.delete_chat(source.chat_id).messages == 1


def _edit(memory: SyncPersonalMemory, name: str, text: str) -> None:
    """Say the chat's first message anew: the one before is edited away."""
    memory.tell(Conversation(name, (said(Role.USER, text, 30, parent=""),), external_id=name))


def test_E2_what_rests_on_an_edited_away_message_goes_to_the_inbox(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    source, _ = told(ada, "one")
    sibling, _ = told(ada, "two")
    assert source.active in given_to(ada, f"boat {source.token}")
    _edit(ada, "one", "My boat has no name at all.")
    waiting = {(each.op.value, each.target_id) for each in ada.proposals()}
    assert waiting >= {
        ("add", source.candidate),
        ("add", source.active),
        ("retract", source.confirmed),
    }
    assert source.state(source.active) == Trust.CANDIDATE
    assert source.state(source.confirmed) == Trust.CONFIRMED
    assert sibling.state(sibling.active) == Trust.ACTIVE
    assert not {target for _, target in waiting} & {sibling.active, sibling.confirmed}
    recalled = recalled_all(ada, f"boat {source.token} {sibling.token} Voss name")
    given = {each.id for each in recalled.entries}
    assert source.active not in given
    assert sibling.active in given
    assert "no name at all" in recalled.recalled_block
    assert unresolved(store, ada, recalled) == []
    event = next(each for each in ada.events(limit=900) if each.kind is Kind.MEMORY_ORPHANED)
    assert (event.actor.kind.value, event.subject_id) == ("system", source.active)
    chosen = next(each for each in ada.proposals() if each.target_id == source.confirmed)
    assert ada.approve(chosen.id).status == "updated"
    assert source.confirmed not in given_to(ada, f"moors {source.token} Voss")
    assert ada.verify().damage == ()


def test_E2_an_edit_that_leaves_another_source_changes_nothing(ada: SyncPersonalMemory) -> None:
    source, _ = told(ada, "one")
    again = f"Yes, {sentences(source.token)[0]}"
    ada.tell(mine(again, source="two", external_id="two"))
    add_quoted(ada, f"Ada's boat is called {source.token}.", again)
    _edit(ada, "one", "My boat has no name at all.")
    assert source.state(source.active) == Trust.ACTIVE
    _edit(ada, "two", "Nor had it one before.")
    assert source.state(source.active) == Trust.CANDIDATE
