"""Accounts: made, found, removed, and the scopes they give."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert, select

from remembrancer.accounts.models import Account
from remembrancer.accounts.service import Accounts, scope_of
from remembrancer.db.database import Database, open_backend
from remembrancer.db.tables import OWNER
from remembrancer.errors import ConflictError, InvalidInputError, NotFoundError
from remembrancer.events.kinds import Kind, Payload
from remembrancer.events.log import GENESIS, Journal, journal, read_head
from remembrancer.ids import new_id
from remembrancer.memory.tables import paths
from remembrancer.scope import NONE, Actor, ActorKind
from tests.support.stores import Place

OPERATOR = Actor(ActorKind.PERSON, "operator", "cli")
ALL = select(paths.c.text).where(paths.c.user_id == OWNER)


@pytest.fixture
def db(place: Place) -> Iterator[Database]:
    opened = Database(open_backend(place.data, place.database_url, place.migration_url))
    yield opened
    opened.close()


@pytest.fixture
def people(db: Database) -> Accounts:
    return Accounts(db)


def fresh(name: str = "ada") -> str:
    """An address that nobody has; the PostgreSQL database is shared."""
    return f"{name}-{new_id().hex[-10:]}@example.org"


def test_an_account_is_made_once_and_found(people: Accounts) -> None:
    email = fresh()
    made = people.add(f"  {email.upper()} ", zone="Europe/Berlin", language="de")
    assert (made.email, made.zone, made.language) == (email, "Europe/Berlin", "de")
    assert made.created_at.tzinfo is not None
    assert people.find(email.title()) == made
    assert people.find_or_add(email) == made
    assert made in people.everybody()
    with pytest.raises(ConflictError, match="has an account already"):
        people.add(email)
    other = people.find_or_add(fresh("ben"))
    assert other.user_id != made.user_id
    assert other.zone == "UTC"


def test_the_first_person_administers(people: Accounts) -> None:
    first = people.everybody()[0] if people.everybody() else people.add(fresh())
    assert first.role == "admin"
    assert people.add(fresh()).role == "member"
    assert people.add(fresh(), admin=True).role == "admin"


@pytest.mark.parametrize(
    "email", ["", " ", "a b@example.org", "@", "a@", "@b", "a@b@c", "x\n", "a\0@b", "x" * 400, "*"]
)
def test_what_is_no_address_is_refused(people: Accounts, email: str) -> None:
    for call in (people.add, people.find, people.find_or_add):
        if email.strip() == "x":
            continue
        with pytest.raises(InvalidInputError) as refused:
            call(email)
        assert refused.value.field == "email"


def test_a_plain_name_is_an_address(people: Accounts) -> None:
    name = f"user_{new_id().hex[-10:]}"
    assert people.add(name).email == name


def test_an_unknown_zone_or_person_is_said(people: Accounts) -> None:
    email = fresh()
    with pytest.raises(InvalidInputError, match="zone"):
        people.add(email, zone="Mars/Olympus")
    for call in (people.find, lambda each: people.remove(each, OPERATOR)):
        with pytest.raises(NotFoundError) as missing:
            call(email)
        assert missing.value.field == "user"


def test_many_at_once_make_one_account(people: Accounts) -> None:
    email = fresh()
    people.everybody()
    with ThreadPoolExecutor(6) as threads:
        made: set[Account] = set(threads.map(lambda _: people.find_or_add(email), range(12)))
    assert made == {people.find(email)}
    with ThreadPoolExecutor(6) as threads:
        taken = fresh()
        tried = [threads.submit(people.add, taken) for _ in range(6)]
        errors = [each.exception() for each in tried]
    assert [type(each) for each in errors if each is not None] == [ConflictError] * 5


def test_a_scope_is_over_that_person_alone(people: Accounts) -> None:
    made = people.add(fresh())
    scope = people.scope(made)
    assert scope.user_id == made.user_id
    assert scope.space is NONE
    assert scope_of(made.user_id) == scope


def test_what_stays_of_a_removed_person_is_one_line(db: Database, people: Accounts) -> None:
    ada, ben = people.add(fresh()), people.add(fresh("ben"))
    hashes = []
    for each in (ada, ben):
        scope = people.scope(each)
        with_path = {"id": new_id(), "text": "house"}
        db.write_now(scope, lambda unit, row=with_path: unit.insert(insert(paths), **row))  # type: ignore[misc]

        def work(unit: object) -> bytes:
            with journal(unit) as held:  # type: ignore[arg-type]
                held.append(Kind.SPACE_CREATED, OPERATOR, Payload())
            return read_head(unit).event_hash  # type: ignore[arg-type]

        hashes.append(db.write_now(scope, work))
    removal = people.remove(ada.email, OPERATOR)
    assert (removal.user_id, removal.removed_by) == (ada.user_id, "person:operator")
    assert (removal.events, removal.last_hash) == (1, hashes[0].hex())
    assert removal in people.removed()
    with pytest.raises(NotFoundError):
        people.find(ada.email)
    with pytest.raises(NotFoundError, match="removed"):
        db.write_now(people.scope(ada), Journal)
    assert people.find(ben.email) == ben
    assert len(db.read_now(people.scope(ben), lambda unit: unit.all(ALL))) == 1
    again = people.add(ada.email)
    assert again.user_id != ada.user_id
    assert db.read_now(people.scope(again), read_head).event_hash == GENESIS


def test_a_removal_that_was_interrupted_is_finished_by_the_next(
    db: Database, people: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = people.add(fresh())
    db.write_now(people.scope(ada), lambda unit: unit.insert(insert(paths), id=new_id(), text="a"))
    with monkeypatch.context() as broken:
        broken.setattr(db.backend, "erase", lambda _scope: (_ for _ in ()).throw(OSError("gone")))
        with pytest.raises(OSError, match="gone"):
            people.remove(ada.email, OPERATOR)
    assert people.find(ada.email) == ada
    assert [each for each in people.removed() if each.user_id == ada.user_id] == []
    assert len(db.read_now(people.scope(ada), lambda unit: unit.all(ALL))) == 1
    assert people.remove(ada.email, OPERATOR) in people.removed()
    with pytest.raises(NotFoundError):
        people.find(ada.email)
