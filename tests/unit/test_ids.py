"""Identifiers: version 7, and in the order they are made."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from remembrancer import ids
from remembrancer.errors import InvalidInputError


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module's counter is put back after each test."""
    monkeypatch.setattr(ids, "_last_ms", ids._last_ms)
    monkeypatch.setattr(ids, "_counter", ids._counter)


def milliseconds(made: UUID) -> int:
    return made.int >> 80


def test_an_id_is_a_uuid_of_version_7_and_holds_the_time() -> None:
    before = time.time_ns() // 1_000_000
    made = ids.new_id()
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"
    assert before <= milliseconds(made) <= time.time_ns() // 1_000_000 + 1


def test_ids_increase_strictly_within_a_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000_000_000)
    monkeypatch.setattr(ids, "_last_ms", 0)
    made = [ids.new_id() for _ in range(10_000)]  # more than the 12 bits of the counter
    assert made == sorted(set(made))
    assert milliseconds(made[0]) == 1_800_000_000_000
    assert milliseconds(made[-1]) > 1_800_000_000_000


def test_ids_increase_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000_000_000)
    first = ids.new_id()
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    assert ids.new_id() > first


def test_threads_never_get_the_same_id() -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: ids.new_id(), range(2_000)))
    assert len(set(made)) == 2_000


def test_an_id_is_read_in_any_usual_writing() -> None:
    made = ids.new_id()
    assert ids.parse_id(made) is made
    assert {ids.parse_id(each) for each in (str(made), made.hex, made.urn, str(made).upper())} == {
        made
    }


@pytest.mark.parametrize("text", ["", "*", "1", "g" * 32, "a" * 500, "{}", "../x"])
def test_what_is_no_id_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        ids.parse_id(text, field="chat_id")
    assert refused.value.field == "chat_id"
    assert len(str(refused.value.value)) <= 60
