"""X5: removing an account removes everything of it; one system line stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.errors import NotFoundError, StoreUnavailableError
from remembrancer.scope import Scope
from tests.acceptance.forgetting import Secret, engine_of, opened
from tests.support.everywhere import found_in_files, found_in_rows, rows_of
from tests.support.stores import Place, somebody


@pytest.fixture
def secret(store: SyncRemembrancer, ada: SyncPersonalMemory) -> Secret:
    made = Secret(store, ada)
    made.tell()
    return made


def test_X5_nothing_but_one_system_line_stays(
    place: Place, store: SyncRemembrancer, ada: SyncPersonalMemory, secret: Secret
) -> None:
    ben = Secret(store, somebody(store, "ben"))
    ben.tell()
    user_id, email = ada.account.user_id, ada.account.email
    ada.forget(ada.list()[0].id)
    before = rows_of(place, user_id)
    assert before.keys() >= {
        "accounts",
        "chats",
        "events",
        "evidence",
        "head",
        "idempotency",
        "jobs",
        "keys",
        "memories",
        "messages",
        "paths",
        "proposals",
        "texts",
        "tombstones",
        "vectors",
        "versions",
        "withheld",
    }
    whole = ada.verify()
    others = rows_of(place, ben.ada.account.user_id)
    removal = store.remove_person(email)
    assert rows_of(place, user_id) == {"removed_accounts": 1}
    assert (removal.user_id, removal.removed_by) == (user_id, "person:operator")
    assert (removal.events, removal.last_hash) == (whole.events, whole.last_hash)
    assert found_in_rows(place, secret.traces) == set()
    assert found_in_files(place, secret.traces) == set()
    if place.kind == "sqlite":
        assert not list((place.data / "people").glob(f"{user_id}*"))
    assert rows_of(place, ben.ada.account.user_id) == others
    assert ben.sibling in ben.ada.recall("What is Ada's cat called?").recalled_block
    assert ben.ada.verify().damage == ()


def test_X5_a_handle_that_is_still_held_brings_nothing_back(
    place: Place, store: SyncRemembrancer, ada: SyncPersonalMemory, secret: Secret
) -> None:
    agent = ada.as_agent("scribe")
    ada.recall(secret.query)
    store.remove_person(ada.account.email)
    calls: tuple[Callable[[], object], ...] = (
        lambda: ada.add("Ada is back."),
        lambda: agent.add("Ada is back."),
        lambda: ada.tell(secret.conversation("other")),
    )
    if place.kind == "sqlite":
        calls += (ada.list, lambda: ada.recall(secret.query))
    else:
        assert ada.list() == []
        assert ada.recall(secret.query).entries == ()
    for call in calls:
        with pytest.raises(NotFoundError):
            call()
    assert rows_of(place, ada.account.user_id) == {"removed_accounts": 1}
    with pytest.raises(NotFoundError):
        store.person(ada.account.email, create=False)


def test_X5_the_same_address_begins_anew(
    store: SyncRemembrancer, ada: SyncPersonalMemory, secret: Secret
) -> None:
    email = ada.account.email
    store.remove_person(email)
    again = store.person(email)
    assert again.account.user_id != ada.account.user_id
    assert again.list() == []
    assert again.tombstones() == []
    assert again.events() == []
    made = again.add(secret.value)
    assert made.status == "created"
    assert [each.id for each in again.recall(secret.query).entries] == [made.id]


@pytest.mark.parametrize("stopped", ["before the data went", "after the data went"])
def test_X5_a_removal_that_was_interrupted_can_be_run_again(
    place: Place,
    secret: Secret,
    stopped: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, ada = secret.store, secret.ada
    whole = ada.verify()
    email, user_id = ada.account.email, ada.account.user_id
    backend = engine_of(store).db.backend
    erase = backend.erase

    def failing(scope: Scope) -> None:
        if stopped.startswith("after"):
            erase(scope)
        raise StoreUnavailableError("The disk went away.")

    monkeypatch.setattr(backend, "erase", failing)
    with pytest.raises(StoreUnavailableError):
        store.remove_person(email)
    monkeypatch.undo()
    assert engine_of(store).accounts.find(email).user_id == user_id
    assert user_id not in {each.user_id for each in engine_of(store).accounts.removed()}
    restarted, _ = opened(place, email)
    removal = restarted.remove_person(email)
    assert (removal.events, removal.last_hash) == (whole.events, whole.last_hash)
    assert rows_of(place, user_id) == {"removed_accounts": 1}
    assert found_in_rows(place, secret.traces) == set()
    restarted.close()
