"""People in a store of either kind, below the surfaces."""

from __future__ import annotations

import pytest

from remembrancer.db.database import Database, open_backend
from remembrancer.events.kinds import Kind, Payload
from remembrancer.events.log import journal
from remembrancer.scope import Actor, ActorKind
from tests.support.people import newcomer

ME = Actor(ActorKind.PERSON, "ines")


@pytest.fixture
def database(place):
    """On SQLite and on PostgreSQL."""
    backend = open_backend(place.data, place.database_url, place.migration_url)
    database = Database(backend)
    yield database
    database.close()


class Person:
    """One person's units; `write` hands over the sequence number of an event."""

    def __init__(self, database):
        self.database = database
        self.scope = newcomer(database)

    def read(self, work):
        return self.database.read_now(self.scope, work)

    def write(self, work):
        def whole(unit):
            with journal(unit) as held:
                return work(unit, held.append(Kind.MEMORY_FORGOTTEN, ME, Payload()).seq)

        return self.database.write_now(self.scope, whole)


@pytest.fixture
def person(database):
    return Person(database)


@pytest.fixture
def other(database):
    return Person(database)
