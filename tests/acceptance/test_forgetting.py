"""X1: after a forget the value is nowhere, whatever is done next; what stood beside it is there."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Conversation, Role
from tests.acceptance.forgetting import (
    Secret,
    complete,
    engine_of,
    everything_shown,
    import_all,
    mine,
    opened,
    rebuild,
    run,
    said,
    word,
)
from tests.support.everywhere import Found, Traces, found_in_files, found_in_rows
from tests.support.stores import Place, somebody

IN_THE_CHAT = {"messages"}
"""The one table in which a forgotten value may stand: what was said, readable in its chat."""


@pytest.fixture
def secret(store: SyncRemembrancer, ada: SyncPersonalMemory) -> Secret:
    return Secret(store, ada)


def _outside_the_chat(found: set[Found]) -> set[Found]:
    return {each for each in found if (each.table, each.column) != ("messages", "text")}


def test_X1_before_it_is_forgotten_the_search_finds_it(place: Place, secret: Secret) -> None:
    secret.tell()
    found = found_in_rows(place, secret.traces)
    columns = {(each.table, each.column) for each in found}
    assert columns >= {
        ("texts", "text"),
        ("texts", "fingerprint"),
        ("texts", "terms"),
        ("vectors", "vector"),
        ("messages", "text"),
        ("messages", "terms"),
        ("paths", "text"),
        ("memories", "meta"),
        ("evidence", "quote"),
        ("proposals", "text"),
        ("proposals", "quote"),
        ("proposals", "arguments"),
        ("tombstones", "text"),
        ("chats", "title"),
    }
    if place.kind == "sqlite":
        assert found_in_files(place, secret.traces) >= {"vector", "fingerprint", "terms"}
    recalled = secret.ada.recall(secret.query)
    assert secret.token in recalled.recalled_block


@pytest.mark.parametrize("redact", [False, True], ids=["withheld", "redacted"])
def test_X1_after_forgetting_it_is_in_no_column_and_no_byte(
    place: Place, secret: Secret, redact: bool, caplog: pytest.LogCaptureFixture, capfd: object
) -> None:
    caplog.set_level(logging.DEBUG)
    ids = secret.tell()
    careful = next(each for each in secret.ada.list() if "careful" in each.content)
    outcome = secret.ada.forget(ids[0], redact=redact)
    assert outcome.status == "forgotten"
    secret.ada.forget(careful.id, redact=redact)
    found = found_in_rows(place, secret.traces)
    if redact:
        assert found == set()
        assert found_in_files(place, secret.traces) == set()
    else:
        assert _outside_the_chat(found) == set()
        assert found_in_files(place, secret.traces) <= {
            f"token {secret.token}",
            f"token {secret.kind}",
        }
    shown = everything_shown(secret.ada, [*ids, careful.id], [secret.query, secret.value])
    assert secret.token not in shown
    assert secret.kind not in shown
    assert secret.sibling in shown
    assert secret.sibling in secret.ada.recall("What is Ada's cat called?").recalled_block
    assert secret.token not in caplog.text
    out, err = capfd.readouterr()  # type: ignore[attr-defined]
    assert secret.token not in out + err
    assert secret.ada.verify().damage == ()


@pytest.mark.parametrize("redact", [False, True], ids=["withheld", "redacted"])
def test_X1_nothing_that_follows_brings_it_back(place: Place, secret: Secret, redact: bool) -> None:
    ada, store = secret.ada, secret.store
    ids = secret.tell()
    careful = next(each for each in ada.list() if "careful" in each.content)
    ada.forget(ids[0], redact=redact)
    ada.forget(careful.id, redact=redact)
    rebuild(store, ada)
    told = ada.tell(secret.conversation())
    assert told.messages == ()
    import_all(store, ada, secret.conversation())
    agent = ada.as_agent("scribe")
    assert agent.add(secret.value, quote=secret.sentence).status == "refused"
    assert agent.add(secret.former).status == "refused"
    retried = agent.add(secret.former, idempotency_key=secret.former)
    assert retried.status == "forgotten"
    complete(store, ada)
    for again in (False, True):
        if again:
            restarted, ada = opened(place, ada.account.email)
            rebuild(restarted, ada)
        queries = [secret.query, secret.value, secret.sentence]
        shown = everything_shown(ada, [*ids, careful.id], queries)
        assert secret.token not in shown
        assert secret.kind not in shown
        found = found_in_rows(place, secret.traces)
        assert (found if redact else _outside_the_chat(found)) == set()
        assert secret.sibling in ada.recall("What is Ada's cat called?").recalled_block
        assert ada.verify().damage == ()
    restarted.close()


def test_X1_the_chat_stays_readable_around_what_is_withheld(secret: Secret) -> None:
    ids = secret.tell()
    engine = engine_of(secret.store)
    scope = secret.ada._memory._scope
    chat = secret.ada.chats()[0]
    secret.ada.forget(ids[0])
    messages = run(secret.store, engine.conversations.messages(scope, chat.id))
    assert [each.text for each in messages] == [
        each.text for each in secret.conversation().messages
    ]
    assert [each.visible.strip() for each in messages] == [
        "The weather is fine in Bergen today.",
        "I had soup.",
        "Understood. Enjoy the soup!",
        f"My cat is called {secret.sibling}.",
    ]
    recalled = secret.ada.recall("Did Ada have soup?")
    assert "I had soup." in recalled.recalled_block


def test_X1_redacting_takes_the_words_out_of_the_chat(secret: Secret) -> None:
    ids = secret.tell()
    engine = engine_of(secret.store)
    chat = secret.ada.chats()[0]
    secret.ada.forget(ids[0], redact=True)
    scope = secret.ada._memory._scope
    messages = run(secret.store, engine.conversations.messages(scope, chat.id))
    assert [each.text.strip() for each in messages] == [
        "The weather is fine in Bergen today.",
        "[…] I had soup.",
        "Understood. […] Enjoy the soup!",
        f"My cat is called {secret.sibling}.",
    ]


def test_X1_another_chat_that_says_it_later_is_withheld_from_the_start(
    place: Place, secret: Secret
) -> None:
    ids = secret.tell()
    secret.ada.forget(ids[0])
    told = Conversation(
        "elsewhere",
        (
            said(Role.USER, f"I wonder about Bergen. {secret.value.upper()} Is it cold?", 50),
            said(Role.ASSISTANT, "Rather.", 51),
        ),
    )
    import_all(secret.store, secret.ada, told)
    recalled = secret.ada.recall([secret.query, "Is it cold in Bergen, I wonder?"])
    assert secret.token not in recalled.recalled_block.lower()
    assert "Is it cold?" in recalled.recalled_block
    found = {(each.table, each.column) for each in found_in_rows(place, secret.traces)}
    assert ("messages", "text") in found
    assert ("messages", "terms") not in found


def test_X1_many_others_in_the_file_leave_no_bytes_behind(place: Place) -> None:
    """Pages are split and moved as a file grows; what was deleted must not stay in their gaps."""
    if place.kind != "sqlite":
        pytest.skip("The bytes of PostgreSQL go with VACUUM.")
    store = place.open()
    ada = somebody(store)
    kept, gone = [word() for _ in range(40)], [word() for _ in range(40)]
    made = {}
    for index, (stays, goes) in enumerate(zip(kept, gone, strict=True)):
        ada.add(f"Ada keeps the parcel {stays} in room {index}, on the shelf by the door.")
        made[goes] = ada.add(f"Ada hides the parcel {goes} in room {index}.", path=f"at/{goes}").id
    ada.tell(mine(*(f"The parcel {each} was heavy." for each in gone[:10]), external_id="c"))
    for each in gone:
        outcome = made[each]
        assert outcome is not None
        ada.forget(outcome)
    values = tuple(f"Ada hides the parcel {each} in room {at}." for at, each in enumerate(gone))
    traces = Traces(tuple(gone[10:]), values)
    assert found_in_rows(place, traces) == set()
    assert found_in_files(place, traces) == set()
    assert found_in_files(place, Traces(tuple(kept[:3]), ())) == {f"token {t}" for t in kept[:3]}
    store.close()


@pytest.fixture
def other_handle(place: Place, ada: SyncPersonalMemory) -> Iterator[SyncPersonalMemory]:
    """The same person in another process's stead, with an index of its own."""
    store, memory = opened(place, ada.account.email)
    yield memory
    store.close()


def test_X1_another_workers_index_lets_go_of_it(
    secret: Secret, other_handle: SyncPersonalMemory
) -> None:
    ids = secret.tell()
    assert secret.token in other_handle.recall(secret.query).recalled_block
    secret.ada.forget(ids[0])
    recalled = other_handle.recall(secret.query)
    assert secret.token not in recalled.recalled_block.replace("careful", "")
    assert ids[0] not in {each.id for each in recalled.entries}
    assert secret.sibling in other_handle.recall("What is Ada's cat called?").recalled_block


def test_X1_no_cache_of_this_process_keeps_it(secret: Secret) -> None:
    ids = secret.tell()
    engine = engine_of(secret.store)
    secret.ada.recall(secret.query)
    cache = engine.worker._waiting._cache
    assert len(cache) > 0
    assert secret.token not in repr(list(cache))
    assert engine.indexes.stats().entries == 1
    secret.ada.forget(ids[0])
    assert len(cache) == 0
    assert engine.indexes.stats().entries == 0
