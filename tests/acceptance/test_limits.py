"""W5: what breaks a limit is refused with its field and the limit, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer import SyncPersonalMemory
from remembrancer.errors import InvalidInputError
from remembrancer.memory.models import Add, Trust


def state(ada: SyncPersonalMemory) -> object:
    """All that a write could have changed."""
    everything = [each.value for each in Trust]
    return (ada.list(trust=everything), ada.events(), ada.proposals(), ada.tombstones())


ADDS = [
    ("type", "user, context", {"type": "fact"}),
    ("type", "user, context", {"type": ""}),
    ("type", "user, context", {"type": "USER"}),
    ("path", "no `.` or `..` segments", {"path": "work/../secret"}),
    ("path", "no `.` or `..` segments", {"path": ".."}),
    ("path", "no control characters", {"path": "work/\x07bell"}),
    ("path", "no control characters", {"path": "work\x00"}),
    ("path", 100, {"path": "/".join("x" * 101)}),
    ("path", 1024, {"path": "é" * 513}),
    ("content", "1…10000", {"content": ""}),
    ("content", "1…10000", {"content": " \n\t "}),
    ("content", 10_000, {"content": "x" * 10_001}),
    ("content", "no control characters other than tab and line ends", {"content": "a\0b"}),
    (
        "content",
        "no control characters other than tab and line ends",
        {"content": "\ud800"},
    ),
    ("meta", 16_384, {"meta": {"long": "x" * 16_384}}),
    ("meta", "JSON", {"meta": {"what": object()}}),
    ("meta", "JSON", {"meta": {"what": float("nan")}}),
    ("meta", "no NUL or lone surrogates", {"meta": {"a\0": 1}}),
    ("quote", "1…1048576", {"quote": ""}),
    ("quote", "no NUL or lone surrogates", {"quote": "a\0b"}),
    ("idempotency_key", 200, {"idempotency_key": "k" * 201}),
]


def test_W5_add(ada: SyncPersonalMemory) -> None:
    ada.add("Something good before.")
    before = state(ada)
    for field, limit, arguments in ADDS:
        for memory in (ada, ada.as_agent("scout")):
            with pytest.raises(InvalidInputError) as caught:
                memory.add(**{"content": "Ada drinks tea.", **arguments})
            assert (caught.value.field, caught.value.limit) == (field, limit)
            assert caught.value.code == "invalid"
        assert state(ada) == before, (field, limit)
    assert ada.add("Ada drinks tea.").status == "created"


CORRECTIONS = [
    ("content", {"content": ""}),
    ("content", {"content": "x" * 10_001}),
    ("content", {"content": "a\0b"}),
    ("path", {"path": "a/../b"}),
    ("type", {"type": "fact"}),
    ("quote", {"quote": " "}),
]


def test_W5_correct(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada drinks tea.")
    before = state(ada)
    for field, arguments in CORRECTIONS:
        with pytest.raises(InvalidInputError) as caught:
            ada.correct(made.id, **{"content": "Ada drinks coffee.", **arguments})
        assert caught.value.field == field
    assert state(ada) == before
    assert ada.correct(made.id, "Ada drinks coffee.").status == "updated"


CALLS: list[tuple[str, Callable]] = [
    ("path", lambda ada, it: ada.move(it, path="a/./b")),
    ("type", lambda ada, it: ada.move(it, type="fact")),
    ("space", lambda ada, it: ada.move(it, space="x" * 101)),
    ("space", lambda ada, _: ada.in_space("two\nlines")),
    ("rank", lambda ada, it: ada.pin(it, -1)),
    ("rank", lambda ada, it: ada.pin(it, 2**70)),
    ("quote", lambda ada, it: ada.retract(it, was_wrong=True, quote="")),
    ("id", lambda ada, _: ada.confirm("not-an-id")),
    ("trust", lambda ada, _: ada.list(trust=["great"])),
    ("type", lambda ada, _: ada.list(type="fact")),
    ("path", lambda ada, _: ada.list(path="../up")),
    ("limit", lambda ada, _: ada.list(limit=-1)),
    ("offset", lambda ada, _: ada.list(offset=-1)),
    ("machine_writes", lambda ada, _: ada.set_machine_writes("sometimes")),
    ("type", lambda ada, _: ada.apply([Add("It rains.", type="fact")], atomic=True)),
]


def test_W5_elsewhere(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada drinks tea.")
    before = state(ada)
    for field, call in CALLS:
        with pytest.raises(InvalidInputError) as caught:
            call(ada, made.id)
        assert caught.value.field == field
    assert state(ada) == before


CONTENTS = [
    "Ada's cat 🐈‍⬛ and the flag 🏳️‍🌈 are family 👨‍👩‍👧‍👦.",
    "עדה גרה בתל אביב, ברחוב 12.",
    "تعيش آدا في القاهرة.",
    "她住在苏黎世，养了两只猫。",
    "e\u0301 stays decomposed, \u00e9 composed, \u200d joined",
    "  leading, trailing \t and\r\nline ends \n",
    "x" * 10_000,
    "🐈" * 10_000,
]


def test_W5_what_is_within_the_limits_comes_back_to_the_byte(ada: SyncPersonalMemory) -> None:
    path = "/".join(["路", "é", "🐈", "ש", *("x" * 96)])
    for content in CONTENTS:
        meta = {"was": content[:1000], "n": [1, 2.5, None, True]}
        made = ada.add(content, path=path, meta=meta)
        found = ada.get(made.id)
        assert found.content.encode() == content.encode()
        assert found.path.encode() == path.encode()
        assert found.path.count("/") == 99
        assert found.meta == meta
        assert ada.add(content).status == "duplicate"
    assert [each.content for each in ada.list(path="路/é")] == CONTENTS
    assert ada.verify().damage == ()
