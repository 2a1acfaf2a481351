"""People in a store of either kind, below the surfaces."""

from __future__ import annotations

import pytest

from remembrancer import clock, tombstones
from remembrancer.conversations import repository, storing, withholding
from remembrancer.conversations.models import AuthoredBy, Conversation, IncomingMessage, Role
from remembrancer.conversations.pending import pending
from remembrancer.conversations.planning import plan
from remembrancer.db.database import Database, open_backend
from remembrancer.events.kinds import Kind, Payload
from remembrancer.events.log import journal
from remembrancer.index.repository import VectorRow, put_vectors
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
    """One person's units and what the tests do in them."""

    def __init__(self, database):
        self.database = database
        self.scope = newcomer(database)

    def read(self, work):
        return self.database.read_now(self.scope, work)

    def write(self, work):
        """`work(unit, journal)` in one unit."""

        def whole(unit):
            with journal(unit) as held:
                return work(unit, held)

        return self.database.write_now(self.scope, whole)

    def store(self, conversation, author=AuthoredBy.PERSON, **options):
        planned = plan(conversation, author)
        return self.write(lambda unit, held: storing.store(unit, held, planned, **options))

    def entomb(self, text, kind=tombstones.Kind.FORGOTTEN):
        """A tombstone alone, as if its value had never been in a chat; its id."""

        def work(unit, held):
            seq = held.append(Kind.MEMORY_FORGOTTEN, ME, Payload()).seq
            return tombstones.make(unit, kind, text, event_seq=seq)

        return self.write(work)

    def forget(self, text, quotes=()):
        """A tombstone, and what says its value withheld: the tombstone, the messages changed."""

        def work(unit, held):
            seq = held.append(Kind.MEMORY_FORGOTTEN, ME, Payload()).seq
            stone = tombstones.make(unit, tombstones.Kind.FORGOTTEN, text, event_seq=seq)
            changed = withholding.withhold(
                unit,
                tombstone_id=stone,
                value=text,
                quotes=quotes,
                event_seq=seq,
                index_seq=held.touch_index(),
            )
            return stone, changed

        return self.write(work)

    def messages(self, chat_id):
        return self.read(lambda unit: repository.chat_messages(unit, chat_id))

    def visible(self, chat_id):
        return [each.visible for each in self.messages(chat_id)]

    def embed(self, space=1):
        """Give every pending message a vector; how many."""

        def work(unit, held):
            found = pending(unit, space)
            rows = [VectorRow(each.message_id, each.made_from, b"\0\0") for each in found]
            put_vectors(unit, space, rows, held.touch_index())
            return len(found)

        return self.write(work)

    def pending(self, space=1):
        return self.read(lambda unit: [each.message_id for each in pending(unit, space)])


@pytest.fixture
def person(database):
    return Person(database)


@pytest.fixture
def other(database):
    return Person(database)


@pytest.fixture
def talk():
    """`talk("u: Hello", "a: Hi", …)`: a conversation, a minute between messages."""

    def made(*lines, start=1_000 * clock.SECOND, **options):
        roles = {"u": Role.USER, "a": Role.ASSISTANT}
        messages = tuple(
            IncomingMessage(roles[line[0]], line[3:], start + index * 60 * clock.SECOND)
            for index, line in enumerate(lines)
        )
        return Conversation("test", messages, **options)

    return made
