"""S1, S2, S5, S7: whose memory it is, seen through the library's face. S4 has its own file."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

import pytest
from sqlalchemy import event, make_url

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.db.sqlite_connections import Target
from remembrancer.db.units import Unit
from remembrancer.errors import InvalidInputError, NotFoundError, RemembrancerError
from remembrancer.ids import new_id
from remembrancer.memory.models import Add, Move, Operation, Trust
from remembrancer.recall.models import Recall, Request
from tests.support.stores import Place, somebody

MARK: Final = "quillwort"
QUESTION: Final = f"What does {MARK} say about the cellar door?"
SAID_AT: Final = 1_700_000_000_000_000


@dataclass(frozen=True)
class Ids:
    """What somebody could name of another person's."""

    memory: UUID
    proposal: UUID
    other_proposal: UUID
    chat: UUID
    imported: UUID
    message: UUID
    space: UUID
    event: int

    @classmethod
    def unknown(cls) -> Ids:
        return cls(*(new_id() for _ in range(7)), event=10_000)  # type: ignore[misc,arg-type]


def settle(store: SyncRemembrancer, ada: SyncPersonalMemory) -> Ids:
    """Something of everything in Ada's memory, all of it with the mark."""
    made = ada.add(f"The {MARK} says that the cellar door sticks.", path=f"house/{MARK}")
    kept = ada.add(f"Ada keeps a {MARK} herbarium.", type="user")
    wrong = ada.add(f"The {MARK} was found in a desert.")
    assert made.id is not None
    assert wrong.id is not None
    ada.correct(wrong.id, f"The {MARK} was found in a bog.", was_wrong=True)
    agent = ada.as_agent("porter")
    proposed = [agent.add(f"The {MARK} {words}.").proposal for words in ("wants light", "is ill")]
    assert proposed[0] is not None
    assert proposed[1] is not None
    engine = store._store.engine
    person = ada._memory
    words = f"My {MARK} says the cellar door is green."
    talk = Conversation("library", (IncomingMessage(Role.USER, words, SAID_AT),), title=MARK)
    stored = ada.tell(talk)
    old = Conversation(
        "file", (IncomingMessage(Role.USER, f"An old {MARK}.", SAID_AT),), external_id="old"
    )
    imported = ada._loop.run(engine.conversations.import_all(person._scope, person.actor, [old]))
    assert imported.import_id is not None
    ada.in_space("society").add(f"The {MARK} society meets on Mondays.")
    space = next(each.space_id for each in ada.list() if each.space_id is not None)
    return Ids(
        made.id,
        proposed[0],
        proposed[1],
        stored.chat_id,
        imported.import_id,
        stored.messages[0],
        space,
        kept.event or 0,
    )


def _told(recall: Recall) -> str:
    return f"{recall} {recall.as_json()}"


READS: Final[dict[str, Callable[[SyncRemembrancer, SyncPersonalMemory, Ids], object]]] = {
    "recall": lambda _s, who, _i: _told(who.recall(QUESTION)),
    "recall of another time": lambda _s, who, _i: _told(
        who.recall(QUESTION, known_at="2100-01-01T00:00:00Z")
    ),
    "search": lambda store, who, _i: store.search(QUESTION, user_id=who.account.email),
    "list": lambda _s, who, _i: who.list(limit=1000),
    "list of every state": lambda _s, who, _i: who.list(trust=list(Trust)),
    "list by words": lambda _s, who, _i: who.list(contains=MARK),
    "list by path": lambda _s, who, _i: who.list(path="house"),
    "list in a space": lambda _s, who, _i: who.in_space("society").list(),
    "get": lambda _s, who, ids: who.get(ids.memory),
    "history": lambda _s, who, ids: who.history(ids.memory),
    "proposals": lambda _s, who, _i: [who.get(each.target_id or "") for each in who.proposals()],
    "tombstones": lambda _s, who, _i: who.tombstones(),
    "events": lambda _s, who, ids: [MARK for each in who.events() if each.subject_id == ids.memory],
    "chats": lambda _s, who, _i: who.chats(),
    "messages": lambda _s, who, ids: who.messages([ids.message]),
    "metas": lambda _s, who, ids: [MARK for each in who.metas([ids.memory])],
    "spaces": lambda _s, who, ids: [MARK for each in who.spaces() if each.id == ids.space],
}


def test_S1_what_is_anothers_is_on_no_read(
    store: SyncRemembrancer, ada: SyncPersonalMemory, ben: SyncPersonalMemory
) -> None:
    ids = settle(store, ada)
    ben.add("Ben's cellar door is blue.")
    for name, read in READS.items():
        try:
            seen = repr(read(store, ben, ids)).replace(QUESTION, "")
        except NotFoundError:
            seen = ""
        assert MARK not in seen, name
        assert str(ids.memory) not in seen, name
        assert str(ids.chat) not in seen, name
        assert MARK in repr(read(store, ada, ids)).replace(QUESTION, ""), name


def _quoting(who: SyncPersonalMemory, ids: Ids) -> object:
    """An agent's add that claims to rest on somebody's message."""
    content = f"The cellar door is green, says {new_id()}."
    made = who.as_agent("thief").add(
        content, quote=f"My {MARK} says the cellar door is green.", message_id=ids.message
    )
    return made.status, made.code


def _batch(who: SyncPersonalMemory, ids: Ids) -> object:
    """A batch doesn't raise: the outcome says it."""
    operations: list[Operation] = [
        Move(ids.memory, path="elsewhere"),
        Add("Placed there.", space=ids.space),
    ]
    found = who.apply(operations)
    return [(each.status, each.code, _plain(each.detail or "")) for each in found]


CALLS: Final[dict[str, Callable[[SyncPersonalMemory, Ids], object]]] = {
    "undo": lambda who, ids: who.undo(ids.event).status,
    "get": lambda who, ids: who.get(ids.memory) is None,
    "history": lambda who, ids: who.history(ids.memory) is None,
    "correct": lambda who, ids: who.correct(ids.memory, "It was mine.", was_wrong=True).status,
    "pin": lambda who, ids: who.pin(ids.memory, 1).status,
    "move": lambda who, ids: who.move(ids.memory, path="mine").status,
    "dispute": lambda who, ids: who.dispute(ids.memory).status,
    "archive": lambda who, ids: who.archive(ids.memory).status,
    "confirm": lambda who, ids: who.confirm(ids.memory).status,
    "retract": lambda who, ids: who.retract(ids.memory, ended_at="2020-01-01").status,
    "add to a space": lambda who, ids: (
        who.apply([Add("Placed there.", space=ids.space)], atomic=True)[0].status
    ),
    "move to a space": lambda who, ids: (
        who.apply([Move(ids.memory, space=ids.space)], atomic=True)[0].status
    ),
    "batch": _batch,
    "quote": _quoting,
    "approve": lambda who, ids: who.approve(ids.proposal).status,
    "decline": lambda who, ids: who.decline(ids.other_proposal).status,
    "reject": lambda who, ids: who.reject(ids.memory).status,
    "forget": lambda who, ids: who.forget(ids.memory).status,
    "delete a chat": lambda who, ids: who.delete_chat(ids.chat),
    "delete an import": lambda who, ids: who.delete_import(ids.imported),
}


def _plain(words: str) -> str:
    """A message without the id it names."""
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+", "…", words)


def _answer(call: Callable[[], object]) -> object:
    try:
        return call()
    except RemembrancerError as error:
        return type(error), error.code, error.field, _plain(str(error)), sorted(error.as_dict())


def _everything(ada: SyncPersonalMemory) -> object:
    report = ada.verify()
    assert report.damage == ()
    shown = [ada.list(trust=list(Trust)), ada.proposals(), ada.chats(), ada.tombstones()]
    return report, ada.events(), shown


def test_S2_anothers_id_is_answered_as_none(
    store: SyncRemembrancer, ada: SyncPersonalMemory, ben: SyncPersonalMemory
) -> None:
    ids = settle(store, ada)
    before = _everything(ada)
    unknown: dict[str, object] = {}
    for who in (somebody(store, "eve").as_agent("thief"), ben):
        for name, call in CALLS.items():
            theirs = _answer(partial(call, who, ids))
            unknown[name] = _answer(partial(call, who, Ids.unknown()))
            assert theirs == unknown[name], name
    assert _everything(ada) == before
    assert MARK not in repr(ben.list(trust=list(Trust)))
    for name, call in CALLS.items():
        own = _answer(partial(call, ada, ids))
        assert own != unknown[name], name
        assert not isinstance(own, tuple) or own[0] is not NotFoundError, name


def test_S2_a_wildcard_widens_nothing(
    store: SyncRemembrancer, ada: SyncPersonalMemory, ben: SyncPersonalMemory
) -> None:
    settle(store, ada)
    ben.add("Ben's cellar door is blue.")
    for wild in ("*", "%", "_", "", "null", "me", "' OR '1'='1"):
        for call in (ben.get, ben.history, ben.forget, ben.delete_chat, ben.approve, ben.archive):
            with pytest.raises(InvalidInputError):
                call(wild)
        assert MARK not in repr(ben.list(contains=wild))
        assert MARK not in repr(ben.list(path=wild.replace("'", "")))
        assert MARK not in _told(ben.recall(wild or " "))
        with suppress(InvalidInputError):
            assert store.person(wild).list() == []
    assert [each.content for each in ben.list()] == ["Ben's cellar door is blue."]
    assert ada.list(contains=MARK)


def _in_batches(who: SyncPersonalMemory, count: int) -> None:
    words = ["cellar", "door", "sticks", MARK, "herbarium", "green", "bog", "porter", "key"]
    for start in range(0, count, 500):
        who.apply(
            [
                Add(
                    f"{words[n % 9].title()} {words[n // 9 % 9]} {words[n // 81 % 9]} number {n}.",
                    path=f"house/{n % 50}",
                )
                for n in range(start, start + 500)
            ]
        )


Said = tuple[str, Any, int]
"""A statement, what was bound to it, and how many rows it gave."""


def _said(store: SyncRemembrancer, work: Callable[[], object]) -> list[Said]:
    """Every statement of `work`."""
    seen: list[Said] = []
    engine = store._store.engine.db.backend._engine  # type: ignore[attr-defined]

    def count(_c: Any, cursor: Any, statement: str, bound: Any, _x: Any, _m: Any) -> None:
        if "FROM" in statement:
            seen.append((statement, bound, cursor.rowcount))

    event.listen(engine, "after_cursor_execute", count)
    try:
        work()
    finally:
        event.remove(engine, "after_cursor_execute", count)
    return [each for each in seen if "transaction_timestamp" not in each[0]]


def _rows_passed_over(store: SyncRemembrancer, who: SyncPersonalMemory, said: list[Said]) -> int:
    """The most rows that any statement of a PostgreSQL unit looked at and threw away.

    `head` has one row a person: while they are few, reading all of them is the best plan.
    """

    def work(unit: Unit) -> int:
        most = 0
        for statement, bound, _ in said:
            if "FROM head" in statement:
                continue
            explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
            plan = unit.connection.exec_driver_sql(explain, bound).scalar()
            found = re.findall(r"'Rows Removed by (?:Filter|Index Recheck)': (\d+)", str(plan))
            most = max([most, *map(int, found)])
        return most

    return store._store.engine.db.read_now(who._memory._scope, work)


def _opening(store: SyncRemembrancer, request: pytest.FixtureRequest) -> list[str]:
    """The names of the SQLite files that units are opened on from now on."""
    connections = store._store.engine.db.backend._connections  # type: ignore[attr-defined]
    at, opened = connections.at, []

    def noting(target: Target) -> AbstractContextManager[None]:
        opened.append(target.place.name)
        return at(target)

    request.getfixturevalue("monkeypatch").setattr(connections, "at", noting)
    return opened


def test_S5_anothers_memories_change_neither_results_nor_rows_read(
    place: Place,
    store: SyncRemembrancer,
    ada: SyncPersonalMemory,
    ben: SyncPersonalMemory,
    request: pytest.FixtureRequest,
) -> None:
    settle(store, ada)
    ada.apply([Add(f"The cellar has {n} shelves of jars.") for n in range(20)])
    questions = [QUESTION, "Who keeps a herbarium?", "How many shelves of jars are there?"]

    def cold() -> tuple[list[object], list[Said]]:
        store._store.engine.indexes.drop(ada.account.user_id)
        answers: list[object] = []
        said = _said(store, lambda: answers.extend(_scored(ada.recall(each)) for each in questions))
        return answers, said

    before = cold()
    assert QUESTION.split()[2] in repr(before[0])
    _in_batches(ben, 2_000)
    assert len(ben.list(limit=1000)) == 1000
    opened = _opening(store, request) if place.kind == "sqlite" else []
    after = cold()
    assert after[0] == before[0]
    assert [(each[0], each[2]) for each in after[1]] == [(each[0], each[2]) for each in before[1]]
    assert f"{ben.account.user_id}.db" not in opened
    if place.kind == "sqlite":
        assert f"{ada.account.user_id}.db" in opened
    else:
        server = request.getfixturevalue("postgresql")
        server.execute("ANALYZE", make_url(place.migration_url or "").database)
        assert _rows_passed_over(store, ada, before[1]) < 1_000, "Ben alone has 2,000"


def _scored(recall: Recall) -> object:
    return [
        [(each.id, each.content) for each in recall.profile],
        [(each.id, each.score, each.relevance, each.rank, each.arms) for each in recall.entries],
        [(each.id, each.reason) for each in recall.omitted],
        recall.recalled_block,
        recall.tokens,
    ]


def test_S7_a_memory_of_a_space_is_recalled_there_only(ada: SyncPersonalMemory) -> None:
    ada.add("The boiler was serviced in March.")
    ada.add("Ada speaks Basque.", type="user")
    work, home = ada.in_space("work"), ada.in_space("home")
    work.add("The boiler at work is in the basement.")
    work.add("At work Ada is called Dr Etxeberria.", type="user")
    home.add("The boiler at home is in the attic.")
    work.tell(
        Conversation(
            "library",
            (IncomingMessage(Role.USER, "The boiler room key hangs by the lift.", SAID_AT),),
            space="work",
        )
    )
    question = "Where is the boiler, and its key?"

    def prompt(who: SyncPersonalMemory) -> str:
        found = who.recall(Request(question, k=20, floor=False))
        return f"{found.profile_block} {found.recalled_block}"

    everywhere = ("serviced in March", "speaks Basque")
    of_work = ("in the basement", "Dr Etxeberria", "by the lift")
    of_home = ("in the attic",)
    for who, given, kept_out in (
        (work, of_work, of_home),
        (home, of_home, of_work),
        (ada, (), of_work + of_home),
    ):
        text = prompt(who)
        assert [each for each in (*everywhere, *given) if each not in text] == []
        assert [each for each in kept_out if each in text] == []
    reasons = {each.reason.value for each in home.recall(question, k=20).omitted}
    assert "other_space" in reasons
    listed = repr(home.list())
    assert [each for each in of_home if each not in listed] == []
    assert [each for each in of_work if each in listed] == []
    assert len(ada.list()) == 5


def test_S7_another_s_space_holds_nothing(ada: SyncPersonalMemory, ben: SyncPersonalMemory) -> None:
    work = ada.in_space("work")
    work.add("The boiler at work is in the basement.")
    ben.in_space("work").add("The kettle at work leaks.")
    of_ada = work._memory._scope.space
    mine = ben._memory
    taken = SyncPersonalMemory(
        type(mine)(mine._engine, mine.account, mine.actor, mine._scope.within(of_ada)), ben._loop
    )
    for who, words in ((taken, ""), (ben.in_space("work"), "kettle"), (work, "boiler")):
        question = Request("boiler or kettle at work", k=20, floor=False)
        found = who.recall(question)
        given = [each.content for each in found.entries]
        assert given == [each.content for each in who.list()]
        assert [words in each for each in given] == ([True] if words else [])
