"""T4: any sequence of a person's operations, against a model that keeps a whole copy per change.

The model knows nothing of rectangles in recorded time: each change stores every interval of the
memory again, and a question looks up the newest copy that was recorded by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remembrancer import SyncPersonalMemory, SyncRemembrancer, clock
from remembrancer.clock import MAX, MIN, Instant
from remembrancer.embeddings.factory import NoEmbedder
from remembrancer.errors import InvalidInputError, NotFoundError, TransitionError
from remembrancer.memory.models import Outcome, Trust, Version
from tests.support.stores import Place, somebody

DAYS = [clock.parse(f"{year}-03-01") for year in (2019, 2021, 2023, 2025, 2090)]
MAY_FOLLOW = {
    "active": {"confirmed", "disputed", "archived", "rejected"},
    "confirmed": {"disputed", "archived", "rejected"},
    "disputed": {"confirmed", "archived", "rejected"},
    "archived": {"confirmed"},
    "rejected": {"confirmed"},
}


@dataclass(frozen=True)
class Stretch:
    """One interval of valid time, and what is believed about it."""

    valid_from: Instant
    valid_to: Instant
    content: str


@dataclass(frozen=True)
class Copy:
    """All that is believed of one memory."""

    stretches: tuple[Stretch, ...]
    trust: str = "confirmed"
    path: str = ""

    def at(self, valid_at: Instant) -> Stretch | None:
        return next((e for e in self.stretches if e.valid_from <= valid_at < e.valid_to), None)


@dataclass
class Model:
    """Every memory's copies as (recorded_at, copy), and what can be undone, newest last."""

    copies: dict[UUID, list[tuple[Instant, Copy]]] = field(default_factory=dict)
    undoable: list[tuple[UUID, Copy]] = field(default_factory=list)
    forgotten: set[UUID] = field(default_factory=set)

    def now(self, memory: UUID) -> Copy:
        return self.copies[memory][-1][1]

    def record(self, memory: UUID, recorded_at: Instant, copy: Copy) -> None:
        kept = self.copies.setdefault(memory, [])
        self.undoable.append((memory, kept[-1][1] if kept else Copy(())))
        kept.append((recorded_at, copy))

    def answers(self, valid_at: Instant, known_at: Instant) -> dict[UUID, tuple[object, ...]]:
        found = {}
        for memory, copies in self.copies.items():
            known = [copy for recorded_at, copy in copies if recorded_at <= known_at]
            says = known[-1].at(valid_at) if known else None
            if says is not None and memory not in self.forgotten:
                bounds = (clock.to_datetime(says.valid_from), clock.to_datetime(says.valid_to))
                found[memory] = (says.content, known[-1].trust, known[-1].path, *bounds)
        return found


def moment(instant: Instant) -> datetime:
    found = clock.to_datetime(instant)
    assert found is not None
    return found


class Walk:
    """Does each operation twice: in the store, and in the model."""

    def __init__(self, person: SyncPersonalMemory) -> None:
        self.person = person
        self.model = Model()
        self.count = 0

    def words(self) -> str:
        self.count += 1
        return f"{'abcdefghij'[self.count % 10] * 5} {self.count * 7919} noted"

    def pick(self, choice: int) -> UUID | None:
        there = [each for each in self.model.copies if each not in self.model.forgotten]
        return there[choice % len(there)] if there else None

    def stamp(self, outcome: Outcome) -> Instant:
        assert outcome.event is not None
        (event,) = self.person.events(after=outcome.event - 1, limit=1)
        return event.recorded_at

    def add(self, since: int, until: int) -> None:
        words = self.words()
        valid_from = MIN if since < 0 else DAYS[since]
        valid_to = MAX if until < 0 or until <= since else DAYS[until]
        made = self.person.add(
            words,
            valid_from=None if valid_from == MIN else moment(valid_from),
            valid_to=None if valid_to == MAX else moment(valid_to),
        )
        assert made.status == "created"
        copy = Copy((Stretch(valid_from, valid_to, words),))
        self.model.record(made.id, self.stamp(made), copy)

    def cut(self, choice: int, how: str, at: int, about: int, *, replace_it: bool) -> None:
        """Correct or retract: `how` is wrong, dated or now; `about` which stretch is meant."""
        memory = self.pick(choice)
        if memory is None:
            return
        words = self.words() if replace_it else None
        valid_at = None if about < 0 else DAYS[about] + clock.SECOND
        copy = self.model.now(memory)
        meant = copy.at(clock.now() if valid_at is None else valid_at)
        day = DAYS[at] if how == "dated" else None
        wrong = how == "wrong"

        def call() -> Outcome:
            when = {"valid_at": None if valid_at is None else moment(valid_at)}
            dated = None if day is None else moment(day)
            if words is None:
                return self.person.retract(memory, was_wrong=wrong, ended_at=dated, **when)
            return self.person.correct(memory, words, was_wrong=wrong, changed_at=dated, **when)

        cut_at = clock.now() if day is None else day
        if copy.trust == "rejected":
            with pytest.raises(TransitionError):
                call()
            return
        if meant is None or not (wrong or meant.valid_from <= cut_at < meant.valid_to):
            with pytest.raises(InvalidInputError):
                call()
            return
        recorded_at = self.stamp(call())
        cut_at = meant.valid_from if wrong else recorded_at if day is None else day
        rest = [each for each in copy.stretches if each is not meant]
        if cut_at > meant.valid_from:
            rest.append(replace(meant, valid_to=cut_at))
        if words is not None:
            rest.append(Stretch(cut_at, meant.valid_to, words))
        trust = copy.trust if words is None else "confirmed"
        self.model.record(memory, recorded_at, replace(copy, stretches=tuple(rest), trust=trust))

    def place(self, choice: int, path: str) -> None:
        memory = self.pick(choice)
        if memory is None:
            return
        copy = self.model.now(memory)
        if not copy.stretches:
            with pytest.raises(NotFoundError):
                self.person.move(memory, path=path)
        elif copy.path == path:
            assert self.person.move(memory, path=path).status == "unchanged"
        else:
            moved = self.stamp(self.person.move(memory, path=path))
            self.model.record(memory, moved, replace(copy, path=path))

    def trust(self, choice: int, wanted: str) -> None:
        memory = self.pick(choice)
        if memory is None:
            return
        ways = {"confirmed": "confirm", "disputed": "dispute", "archived": "archive"}
        call = getattr(self.person, ways.get(wanted, "reject"))
        copy = self.model.now(memory)
        if not copy.stretches:
            with pytest.raises(NotFoundError):
                call(memory)
        elif copy.trust == wanted:
            assert call(memory).status == "unchanged"
        elif wanted not in MAY_FOLLOW[copy.trust]:
            with pytest.raises(TransitionError):
                call(memory)
        else:
            self.model.record(memory, self.stamp(call(memory)), replace(copy, trust=wanted))

    def undo(self) -> None:
        if not self.model.undoable:
            with pytest.raises(NotFoundError):
                self.person.undo()
            return
        memory, before = self.model.undoable.pop()
        undone = self.person.undo()
        assert undone.id == memory
        self.model.copies[memory].append((self.stamp(undone), before))

    def forget(self, choice: int) -> None:
        memory = self.pick(choice)
        if memory is None:
            return
        assert self.person.forget(memory).status == "forgotten"
        self.model.forgotten.add(memory)
        self.model.undoable = [each for each in self.model.undoable if each[0] != memory]

    def instants(self) -> Iterator[tuple[Instant, Instant]]:
        """Each recorded moment and the one before it, with each edge of valid time."""
        recorded = {at for copies in self.model.copies.values() for at, _ in copies}
        valid = {clock.parse("1999-01-01"), clock.now(), *DAYS, *(day - 1 for day in DAYS)}
        for known_at in sorted({*recorded, *(at - 1 for at in recorded), clock.now()}):
            for valid_at in sorted(valid):
                yield valid_at, known_at

    def check(self) -> None:
        for valid_at, known_at in self.instants():
            listed = self.person.list(
                valid_at=moment(valid_at), known_at=moment(known_at), trust=list(Trust)
            )
            says = {
                each.id: (each.content, each.trust, each.path, each.valid_from, each.valid_to)
                for each in listed
            }
            assert says == self.model.answers(valid_at, known_at), (valid_at, known_at)
        for memory in self.model.copies:
            check_versions(self.person.history(memory).versions)
        assert self.person.verify().damage == ()


def check_versions(versions: tuple[Version, ...]) -> None:
    """No two versions of a memory overlap, and every instant is UTC."""
    for one, two in combinations(versions, 2):
        assert not (
            _overlap(one.valid_from, one.valid_to, two.valid_from, two.valid_to)
            and _overlap(one.recorded_from, one.recorded_to, two.recorded_from, two.recorded_to)
        ), (one, two)
    for each in versions:
        for at in (each.valid_from, each.valid_to, each.recorded_from, each.recorded_to):
            assert at is None or (at.tzinfo is UTC and at.utcoffset() == timedelta(0))


def _overlap(
    a: datetime | None, b: datetime | None, c: datetime | None, d: datetime | None
) -> bool:
    return (d is None or a is None or a < d) and (b is None or c is None or c < b)


which = st.integers(0, 2)
day = st.integers(0, len(DAYS) - 1)
maybe_day = st.integers(-1, len(DAYS) - 1)
how = st.sampled_from(["wrong", "dated", "now"])
operations = st.one_of(
    st.tuples(st.just("add"), maybe_day, maybe_day),
    st.tuples(st.just("correct"), which, how, day, maybe_day),
    st.tuples(st.just("correct"), which, how, day, maybe_day),
    st.tuples(st.just("retract"), which, how, day, maybe_day),
    st.tuples(st.just("place"), which, st.sampled_from(["", "a/b", "c"])),
    st.tuples(
        st.just("trust"),
        which,
        st.sampled_from(["confirmed", "disputed", "archived", "rejected"]),
    ),
    st.tuples(st.just("undo")),
    st.tuples(st.just("forget"), which),
)
sequences = st.lists(operations, min_size=3, max_size=9)


DISPUTED_THEN_CORRECTED = [
    ("correct", 0, "dated", 2, -1),
    ("place", 0, "a/b"),
    ("trust", 0, "disputed"),
    ("correct", 0, "wrong", 0, 0),
]
ENDED_THEN_TAKEN_BACK = [
    ("add", 1, 3),
    ("retract", 1, "dated", 2, 1),
    ("correct", 0, "dated", 4, -1),
    ("undo",),
    ("undo",),
    ("retract", 1, "wrong", 0, 2),
]


def walk(store: SyncRemembrancer, sequence: list[tuple]) -> None:
    going = Walk(somebody(store))
    going.add(-1, -1)
    for name, *arguments in sequence:
        if name in {"correct", "retract"}:
            going.cut(*arguments, replace_it=name == "correct")
        else:
            getattr(going, name)(*arguments)
    going.check()


@pytest.fixture
def store(place: Place) -> Iterator[SyncRemembrancer]:
    handle = place.open(NoEmbedder())
    yield handle
    handle.close()


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@settings(max_examples=30)
@example(sequence=DISPUTED_THEN_CORRECTED)
@example(sequence=ENDED_THEN_TAKEN_BACK)
@given(sequence=sequences)
def test_T4_any_sequence_on_sqlite(store: SyncRemembrancer, sequence: list[tuple]) -> None:
    walk(store, sequence)


@pytest.mark.postgresql
@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
@settings(max_examples=6)
@example(sequence=DISPUTED_THEN_CORRECTED)
@given(sequence=sequences)
def test_T4_any_sequence_on_postgresql(store: SyncRemembrancer, sequence: list[tuple]) -> None:
    walk(store, sequence)
