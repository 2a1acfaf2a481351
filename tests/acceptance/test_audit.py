"""A1: every mutation leaves one event, the log rebuilds the record, and no byte can be changed
without `verify` saying so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from remembrancer import SyncPersonalMemory, SyncRemembrancer, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import StoreError
from remembrancer.events.kinds import Kind
from remembrancer.events.log import Event
from remembrancer.memory import verifying
from remembrancer.memory.models import Add, Correct, Meaning, Quote
from remembrancer.memory.orphaning import Choice
from remembrancer.memory.service import Request
from remembrancer.memory.tables import memories, texts, versions
from remembrancer.scope import Actor, ActorKind
from tests.support.stores import Place

SAID_AT = 1_700_000_000_000_000


class Diary:
    """Does things with somebody's memory, and looks at the events each leaves."""

    def __init__(self, store: SyncRemembrancer, ada: SyncPersonalMemory) -> None:
        self.store = store
        self.ada = ada
        self.agent = ada.as_agent("porter")
        self.seen: set[Kind] = set()
        self._seq = 0

    def leaves(
        self,
        what: object,
        *kinds: Kind,
        by: ActorKind = ActorKind.PERSON,
        about: UUID | None = None,
    ) -> list[Event]:
        """What was done since the last look left these events and no other."""
        found = list(self.ada.events(after=self._seq))
        assert [each.kind for each in found] == list(kinds), what
        name = self.ada.account.email if by is ActorKind.PERSON else "porter"
        before = self._seq
        for number, each in enumerate(found, before + 1):
            assert each.seq == number
            assert each.actor == Actor(by, name, "library")
            assert 0 <= clock.now() - each.recorded_at < 60 * clock.SECOND
            if about is not None:
                assert each.subject_id == about
        self._seq = before + len(found)
        self.seen |= set(kinds)
        return found

    def tells(self, words: str, chat: str) -> tuple[UUID, UUID]:
        """A message of the person's in a chat: (chat, message)."""
        stored = self.ada.tell(
            Conversation("library", (IncomingMessage(Role.USER, words, SAID_AT),), chat)
        )
        return stored.chat_id, stored.messages[0]

    def adds(self, words: str) -> UUID:
        made = self.ada.add(words)
        assert made.id is not None
        self.leaves("add", Kind.MEMORY_ADDED, about=made.id)
        return made.id

    def proposes(self, outcome: object) -> UUID:
        proposal = outcome.proposal  # type: ignore[attr-defined]
        assert proposal is not None
        return UUID(str(proposal))


@pytest.fixture
def diary(store: SyncRemembrancer, ada: SyncPersonalMemory) -> Diary:
    return Diary(store, ada)


def by_the_person(diary: Diary) -> UUID:
    """Everything a person does with one memory and another; returns the one that stays."""
    ada = diary.ada
    one = diary.adds("The attic holds a loom.")
    for kind, done in (
        (Kind.MEMORY_CORRECTED, lambda: ada.correct(one, "The attic holds two looms.")),
        (
            Kind.MEMORY_CORRECTED,
            lambda: ada.correct(one, "The attic holds three looms.", was_wrong=True),
        ),
        (Kind.MEMORY_MOVED, lambda: ada.move(one, path="house/attic")),
        (Kind.MEMORY_PINNED, lambda: ada.pin(one, 1)),
        (Kind.MEMORY_DISPUTED, lambda: ada.dispute(one)),
        (Kind.MEMORY_CONFIRMED, lambda: ada.confirm(one)),
        (Kind.MEMORY_ARCHIVED, lambda: ada.archive(one)),
        (Kind.MEMORY_UNDONE, ada.undo),
        (Kind.MEMORY_RETRACTED, lambda: ada.retract(one, ended_at="2100-01-01")),
    ):
        outcome = done()
        (event,) = diary.leaves(kind, kind, about=one)
        assert outcome.event == event.seq
        assert event.revision == outcome.version
    diary.ada.pin(one, 1)
    diary.leaves("nothing changes, nothing is said")
    diary.ada.add("The attic holds three looms.")
    diary.leaves("a person's duplicate of what they confirmed")
    rejected = diary.adds("The attic holds a harp.")
    ada.reject(rejected)
    diary.leaves("reject", Kind.MEMORY_REJECTED, about=rejected)
    gone = diary.adds("The attic holds a secret drawer.")
    ada.forget(gone)
    diary.leaves("forget", Kind.MEMORY_FORGOTTEN, about=gone)
    ada.in_space("house").add("The house has a name.")
    diary.leaves("space", Kind.SPACE_CREATED, Kind.MEMORY_ADDED)
    ada.set_machine_writes("accept_quotes")
    diary.leaves("policy", Kind.POLICY_CHANGED)
    return one


def by_a_machine(diary: Diary, one: UUID) -> None:
    """What an agent wants, and what the person says to it."""
    ada, agent = diary.ada, diary.agent
    machine = ActorKind.MODEL
    waits = agent.add("The attic has a window.")
    diary.leaves("candidate", Kind.MEMORY_ADDED, by=machine, about=waits.id)
    ada.approve(diary.proposes(waits))
    diary.leaves("approve an add", Kind.MEMORY_CONFIRMED, about=waits.id)
    agent.add("The attic has a window.", quote="a window")
    found = ada.events(after=diary._seq)
    diary.leaves("duplicate", *(each.kind for each in found), by=machine, about=waits.id)
    assert len(found) <= 1
    agent.add("The attic holds a harp.")
    diary.leaves("tombstoned", Kind.MEMORY_REFUSED, by=machine)
    agent.pin(one, 2)
    diary.leaves("authority", Kind.MEMORY_REFUSED, by=machine, about=one)
    for said, done in (
        (ada.approve, lambda: agent.correct(one, "The attic holds four looms.")),
        (ada.decline, lambda: agent.correct(one, "The attic holds nine looms.")),
        (ada.decline, lambda: agent.forget(one)),
    ):
        proposal = diary.proposes(done())
        diary.leaves("propose", Kind.PROPOSAL_MADE, by=machine, about=one)
        said(proposal)
        kind = Kind.MEMORY_CORRECTED if said == ada.approve else Kind.PROPOSAL_REJECTED
        diary.leaves(kind, kind, about=one)


def by_what_was_said(diary: Diary) -> None:
    """Messages make no events; importing and deleting them does, and so what rested on them."""
    ada, agent, engine = diary.ada, diary.agent, diary.store._store.engine
    person = ada._memory
    chat, message = diary.tells("I keep bees on the roof.", "bees")
    diary.leaves("tell")
    rests = agent.add("Bees live on the roof.", quote="I keep bees", message_id=message)
    diary.leaves("quoted", Kind.MEMORY_ADDED, by=ActorKind.MODEL, about=rests.id)
    agent.add("Bees live on the roof.", quote="bees on the roof", message_id=message)
    diary.leaves("more", Kind.MEMORY_CORROBORATED, by=ActorKind.MODEL, about=rests.id)
    house = diary.adds("The roof is flat.")
    quote = Quote("I keep bees on the roof", message_id=message)
    agent.apply([Correct(house, "The roof is full of bees.", Meaning.UNSTATED, quote=quote)])
    diary.leaves("propose", Kind.PROPOSAL_MADE, by=ActorKind.MODEL, about=house)
    ada.delete_chat(chat)
    found = diary.leaves(
        "delete a chat", Kind.PROPOSAL_EXPIRED, Kind.CHAT_DELETED, Kind.MEMORY_ORPHANED
    )
    assert [each.subject_id for each in found] == [house, chat, rests.id]
    _, message = diary.tells("I sold the bees.", "more bees")
    ada._loop.run(engine.memory.delete_message(person._scope, person.actor, message, Choice.KEEP))
    diary.leaves("delete a message", Kind.MESSAGE_DELETED, about=message)
    old = Conversation("file", (IncomingMessage(Role.USER, "An old line.", SAID_AT),), "old")
    ada._loop.run(engine.conversations.import_all(person._scope, person.actor, [old]))
    diary.leaves("import", Kind.CONVERSATION_IMPORTED)


def everything(diary: Diary) -> None:
    one = by_the_person(diary)
    by_a_machine(diary, one)
    by_what_was_said(diary)


def test_A1_every_mutation_leaves_exactly_one_event(diary: Diary) -> None:
    everything(diary)
    never = {Kind.TOMBSTONE_IMPORTED, Kind.PROPOSAL_APPROVED}  # nothing does these yet
    assert set(Kind) - diary.seen <= never
    assert diary.ada.verify().damage == ()


def test_A1_an_event_names_its_cause(diary: Diary) -> None:
    ada = diary.ada
    reviewer = Actor(ActorKind.REVIEWER, "porter", "library")
    request = Request((Add("The attic is dusty."),), reviewer, cause="job 7")
    ada._loop.run(diary.store._store.engine.memory.apply(ada._memory._scope, request))
    (event,) = diary.leaves("add", Kind.MEMORY_ADDED, by=ActorKind.REVIEWER)
    assert event.cause == "job 7"


def test_A1_the_log_rebuilds_every_version_s_skeleton(diary: Diary) -> None:
    everything(diary)

    def both(unit: Unit) -> tuple[object, object]:
        rebuilt = verifying.replay(unit)
        skeletons = {
            (
                each.opened.version,
                each.opened.memory,
                each.opened.text,
                each.opened.type,
                each.opened.path,
                each.opened.space,
                each.opened.trust,
                each.opened.valid_from,
                each.opened.valid_to,
                each.opened.commitment,
                each.recorded_from,
                each.recorded_to,
                each.opened_seq,
                each.closed_seq,
            )
            for each in rebuilt.versions.values()
        }
        c = versions.c
        rows: Sequence[Any] = unit.all(
            select(
                *(c.id, c.memory_id, c.text_id, c.type, c.path_id, c.space_id, c.trust),
                *(c.valid_from, c.valid_to, texts.c.commitment, c.recorded_from, c.recorded_to),
                *(c.opened_seq, c.closed_seq),
            )
            .join(texts, (texts.c.user_id == c.user_id) & (texts.c.id == c.text_id))
            .where(c.user_id == OWNER)
        )
        stored = {(*row[:9], row[9].hex(), *row[10:]) for row in rows}
        numbers: Sequence[Any] = unit.all(
            select(memories.c.id, memories.c.revision).where(memories.c.user_id == OWNER)
        )
        return (skeletons, dict(rebuilt.revisions)), (stored, {row[0]: row[1] for row in numbers})

    rebuilt, stored = diary.store._store.engine.db.read_now(diary.ada._memory._scope, both)
    assert rebuilt == stored
    assert len(stored[0]) > 20  # type: ignore[index]


def test_A1_the_store_refuses_to_change_the_log(diary: Diary) -> None:
    diary.adds("The attic is dry.")
    db, scope = diary.store._store.engine.db, diary.ada._memory._scope
    before = diary.ada.events()
    for statement in (
        "UPDATE events SET actor_name = 'nobody'",
        "UPDATE events SET payload = payload",
        "DELETE FROM events",
        "INSERT INTO events SELECT * FROM events ON CONFLICT (user_id, seq)"
        " DO UPDATE SET actor_name = 'nobody'",
        "REPLACE INTO events SELECT * FROM events",
        "TRUNCATE events CASCADE",
        "DROP TABLE events",
    ):
        with pytest.raises((DBAPIError, StoreError)):
            db.write_now(
                scope,
                lambda unit, said=statement: unit.connection.exec_driver_sql(said),  # type: ignore[misc]
            )
    assert diary.ada.events() == before
    assert diary.ada.verify().damage == ()
    diary.adds("A kite hangs from the beam.")


@dataclass
class Forger:
    """Changes one value of somebody's rows, past every guard, and puts it back."""

    place: Place
    user_id: UUID

    def flip(self, table: str, column: str, at: int) -> Iterator[None]:
        if self.place.kind == "sqlite":
            with closing(sqlite3.connect(self.place.data / "people" / f"{self.user_id}.db")) as db:
                for trigger in ("log_refuses_UPDATE", "versions_overlap_update"):
                    db.execute(f"DROP TRIGGER IF EXISTS {trigger}")
                yield from self._flip(db, table, column, at, ("?", self.user_id.bytes))
        else:
            with psycopg.connect(self.place.migration_url or "") as owner:
                owner.execute("SET search_path = remembrancer")
                owner.execute("SET session_replication_role = replica")
                yield from self._flip(owner, table, column, at, ("%s", self.user_id))

    def _flip(
        self, db: object, table: str, column: str, at: int, person: tuple[str, object]
    ) -> Iterator[None]:
        run: Callable[..., object] = db.execute  # type: ignore[attr-defined]
        mark, user_id = person
        key = "seq" if table == "events" else "user_id" if table == "head" else "id"
        row = run(
            f"SELECT {key}, {column} FROM {table} WHERE user_id = {mark}"
            f" AND {column} IS NOT NULL ORDER BY {key} LIMIT 1",
            (user_id,),
        ).fetchone()  # type: ignore[attr-defined]
        change = f"UPDATE {table} SET {column} = {mark} WHERE user_id = {mark} AND {key} = {mark}"
        for value in (_flipped(row[1], at), row[1]):
            run(change, (value, user_id, row[0]))
            db.commit()  # type: ignore[attr-defined]
            yield


def _flipped(value: object, at: int) -> object:
    if isinstance(value, int):
        return value + 1
    assert isinstance(value, str | bytes)
    at %= len(value)
    if isinstance(value, str):
        return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]
    return value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]


FLIPS = {
    "events": (
        *("payload", "hash", "actor_name", "actor_kind", "surface", "kind", "cause"),
        *("recorded_at", "revision"),
    ),
    "texts": ("text", "salt", "commitment", "fingerprint"),
    "versions": (
        *("valid_from", "valid_to", "recorded_from", "recorded_to", "trust", "type"),
        *("opened_seq", "closed_seq"),
    ),
    "memories": ("revision",),
    "head": ("event_hash", "event_seq"),
}


def test_A1_verify_finds_one_flipped_byte(place: Place, diary: Diary) -> None:
    ada = diary.ada
    request = Request((Add("A loft."),), ada._memory.actor, cause="job 7")
    ada._loop.run(diary.store._store.engine.memory.apply(ada._memory._scope, request))
    some_history(diary)
    assert ada.verify().damage == ()
    forger = Forger(place, ada.account.user_id)
    for table, columns in FLIPS.items():
        for column in columns:
            for at in (0, 17, -1) if column in {"payload", "hash", "text"} else (0,):
                changes = forger.flip(table, column, at)
                next(changes)
                assert ada.verify().damage, f"{table}.{column} at {at}"
                next(changes)
                assert next(changes, None) is None
                assert ada.verify().damage == (), f"{table}.{column} put back"


def some_history(diary: Diary) -> None:
    """A few events, some versions closed."""
    made = diary.ada.add("The cellar holds a loom.", path="house")
    assert made.id is not None
    diary.ada.correct(made.id, "The cellar holds two looms.")
    diary.ada.archive(made.id)
