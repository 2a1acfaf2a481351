"""T1–T3: what was wrong, what changed, what ended; as-of reads; and dates as people write them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.errors import InvalidInputError
from tests.support.stores import Place, somebody


def contents(memory: SyncPersonalMemory, query: str, **when: object) -> list[str]:
    """What a prompt would hold, memories and messages alike."""
    recalled = memory.recall(query, **when)
    assert recalled.degraded == ()
    return [each.content for each in recalled.entries]


def says(memory: SyncPersonalMemory, made, **when: object) -> str | None:
    found = memory.get(made.id, **when)
    return None if found is None else found.content


def just_before(memory: SyncPersonalMemory, event: int) -> datetime:
    (line,) = memory.events(after=event - 1, limit=1)
    moment = clock.to_datetime(line.recorded_at - 1)
    assert moment is not None
    return moment


def test_T1_was_wrong_is_wrong_for_the_whole_interval(ada: SyncPersonalMemory) -> None:
    made = ada.add("The dentist is Doctor Weber.", valid_from="2020-01-01", valid_to="2099-01-01")
    fixed = ada.correct(made.id, "The dentist is Doctor Huber.", was_wrong=True)
    before = just_before(ada, fixed.event)
    for valid_at in ("2020-01-01", "2024-06-01", "2098-12-31", None):
        assert says(ada, made, valid_at=valid_at) == "The dentist is Doctor Huber."
        assert says(ada, made, valid_at=valid_at, known_at=before) == "The dentist is Doctor Weber."
    assert says(ada, made, valid_at="2019-12-31") is None
    found = ada.get(made.id)
    assert found.valid_from == datetime(2020, 1, 1, tzinfo=UTC)
    assert found.valid_to == datetime(2099, 1, 2, tzinfo=UTC), "until that day's end"
    query = "Who is the dentist, which Doctor?"
    assert contents(ada, query) == ["The dentist is Doctor Huber."]
    assert contents(ada, query, known_at=before) == ["The dentist is Doctor Weber."]
    assert [each.content for each in ada.list(known_at=before)] == ["The dentist is Doctor Weber."]
    (stone,) = ada.tombstones()
    assert (stone.kind, stone.text) == ("refuted", "The dentist is Doctor Weber.")


def test_T2_changed_at_divides_the_interval(ada: SyncPersonalMemory) -> None:
    made = ada.add("The dentist is Doctor Weber.")
    moved = ada.correct(made.id, "The dentist is Doctor Huber.", changed_at="2024-06-01")
    assert says(ada, made, valid_at="2024-05-31T23:59:59.999999Z") == "The dentist is Doctor Weber."
    assert says(ada, made, valid_at="2024-06-01T00:00:00Z") == "The dentist is Doctor Huber."
    assert says(ada, made) == "The dentist is Doctor Huber."
    before = just_before(ada, moved.event)
    assert says(ada, made, known_at=before) == "The dentist is Doctor Weber."
    query = "Who is the dentist, which Doctor?"
    assert contents(ada, query) == ["The dentist is Doctor Huber."]
    assert contents(ada, query, valid_at="2024-01-01") == ["The dentist is Doctor Weber."]
    assert ada.tombstones() == [], "what was true once isn't refuted"


def test_T2_a_change_to_come_leaves_today_as_it_is(ada: SyncPersonalMemory) -> None:
    made = ada.add("The dentist is Doctor Weber.")
    ada.correct(made.id, "The dentist is Doctor Huber.", changed_at="2090-01-01")
    assert says(ada, made) == "The dentist is Doctor Weber."
    assert says(ada, made, valid_at="2090-01-01") == "The dentist is Doctor Huber."
    assert contents(ada, "Who is the dentist, which Doctor?") == ["The dentist is Doctor Weber."]


def test_T2_a_replacement_without_a_meaning_is_a_change_now(ada: SyncPersonalMemory) -> None:
    made = ada.add("The dentist is Doctor Weber.")
    moved = ada.correct(made.id, "The dentist is Doctor Huber.")
    assert says(ada, made) == "The dentist is Doctor Huber."
    assert says(ada, made, valid_at=just_before(ada, moved.event)) == "The dentist is Doctor Weber."
    assert ada.events()[-1].payload.notes["meaning"] == "unstated"
    assert ada.tombstones() == []


@pytest.mark.parametrize("at", ["2019-12-31", "2026-01-01", "2027-05-05"])
def test_T2_a_change_outside_the_rectangle_is_refused(ada: SyncPersonalMemory, at: str) -> None:
    made = ada.add("The pass is valid.", valid_from="2020-01-01", valid_to="2025-12-31")
    before = ada.history(made.id)
    for call in (
        lambda: ada.correct(made.id, "It lapsed.", changed_at=at, valid_at="2022-01-01"),
        lambda: ada.retract(made.id, ended_at=f"{at}T00:00:00Z", valid_at="2022-01-01"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert caught.value.field == "at"
        assert caught.value.limit == "2020-01-01T00:00:00Z to 2026-01-01T00:00:00Z"
    with pytest.raises(InvalidInputError):
        ada.correct(made.id, "It lapsed.", was_wrong=True, valid_at="2018-01-01")
    assert ada.history(made.id) == before
    made = ada.correct(made.id, "It lapsed.", changed_at="2025-12-31", valid_at="2022-01-01")
    assert made.status == "updated"


def test_T2_was_wrong_and_a_date_exclude_each_other(ada: SyncPersonalMemory) -> None:
    made = ada.add("The pass is valid.")
    with pytest.raises(InvalidInputError):
        ada.correct(made.id, "It lapsed.", was_wrong=True, changed_at="2020-01-01")
    with pytest.raises(InvalidInputError):
        ada.retract(made.id, was_wrong=True, ended_at="2020-01-01")
    assert says(ada, made) == "The pass is valid."


# T3: each of these is a fact told in a conversation, and what became of it.

FACT = "My sister Mina keeps bees in Lyon."
REST = "The cottage roof leaks every autumn."
TOLD = f"{FACT} {REST}"
BEES = "Where does my sister Mina keep bees?"
ROOF = "When does the cottage roof leak?"


def told() -> Conversation:
    said = (
        IncomingMessage(Role.USER, TOLD, clock.parse("2026-03-01")),
        IncomingMessage(Role.ASSISTANT, "I see.", clock.parse("2026-03-01") + clock.SECOND),
    )
    return Conversation("test", said, "the-conversation")


def flip(ada: SyncPersonalMemory, made) -> None:
    ada.correct(made.id, "My sister Mina keeps no bees.", was_wrong=True)


def retract(ada: SyncPersonalMemory, made) -> None:
    ada.retract(made.id, was_wrong=True)


def end(ada: SyncPersonalMemory, made) -> None:
    ada.retract(made.id, ended_at="2026-04-01")


def supersede(ada: SyncPersonalMemory, made) -> None:
    ada.correct(made.id, "My sister Mina keeps bees in Metz.", changed_at="2026-04-01")


def remember(ada: SyncPersonalMemory):
    """As a reviewer or a tool does after the conversation."""
    return ada.as_agent("scout").add(FACT, quote=FACT)


NOW: dict[Callable[..., None], list[str]] = {
    flip: ["My sister Mina keeps no bees."],
    retract: [],
    end: [],
    supersede: ["My sister Mina keeps bees in Metz."],
}


@pytest.mark.parametrize("become", NOW)
def test_T3_it_survives_reindexing_restart_and_reading_the_conversation_again(
    place: Place, become: Callable[..., None]
) -> None:
    with place.open() as store:
        ada = somebody(store)
        ada.tell(told())
        made = remember(ada)
        assert made.status == "created"
        assert FACT in contents(ada, BEES)
        become(ada, made)
        check(ada, become)
        ada.reindex(pending=False)
        check(ada, become)
        again = ada.tell(told())
        assert (again.messages, again.known) == ((), 2)
        assert remember(ada).status in {"refused", "duplicate"}
        check(ada, become)
    with place.open() as store:
        ada = store.person(ada.account.email)
        check(ada, become)
        assert ada.tell(told()).messages == ()
        assert remember(ada).status in {"refused", "duplicate"}
        check(ada, become)
        assert ada.verify().damage == ()


def check(ada: SyncPersonalMemory, become: Callable[..., None]) -> None:
    """The state now, in prompts and lists; and the rest of what was said is still recalled."""
    memories = [each.content for each in ada.recall(BEES).entries if each.kind == "memory"]
    assert memories == NOW[become]
    found = contents(ada, ROOF)
    assert any(REST in each for each in found)
    if become in {flip, retract}:
        everything = contents(ada, BEES) + found
        assert all(FACT not in each for each in everything), "what was wrong is withheld"


def test_T3_bounded_validity_reaches_a_prompt_when_it_is_asked_about(
    ada: SyncPersonalMemory,
) -> None:
    query = "What about the hotel near the station?"
    past = ada.add(
        "The hotel near the station is booked.", valid_from="2024-03-01", valid_to="2024-03-09"
    )
    to_come = ada.add(
        "The hotel near the station is full.", valid_from="2090-03-01", valid_to="2090-03-09"
    )
    now = ada.add("The hotel near the station is closed.")
    assert [each.id for each in ada.recall(query).entries] == [now.id]
    asked = ada.recall(query, valid_at="2024-03-05")
    assert {each.id for each in asked.entries} == {past.id, now.id}
    assert past.id not in {each.id for each in ada.recall(query, valid_at="2024-03-10").entries}
    later = ada.recall(query, valid_at="2090-03-02")
    assert {each.id for each in later.entries} == {to_come.id, now.id}
    reasons = {each.id: each.reason for each in ada.recall(query).omitted}
    assert (reasons[past.id], reasons[to_come.id]) == ("expired", "not_yet_valid")


def test_T3_a_profile_line_that_has_ended_leaves_the_profile(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada is on parental leave.", type="user")
    kept = ada.add("Ada is left-handed.", type="user")
    assert {each.id for each in ada.recall("hello").profile} == {made.id, kept.id}
    ada.retract(made.id, ended_at="2026-01-31")
    assert [each.id for each in ada.recall("hello").profile] == [kept.id]
    before = ada.recall("hello", valid_at="2026-01-01").profile
    assert {each.id for each in before} == {made.id, kept.id}


def test_T3_one_stretch_of_several_is_corrected(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada lives in Ulm.", valid_from="2010-01-01")
    ada.correct(made.id, "Ada lives in Bern.", changed_at="2015-01-01")
    ada.correct(made.id, "Ada lives in Rome.", changed_at="2020-01-01")
    ada.correct(made.id, "Ada lives in Basel.", was_wrong=True, valid_at="2017-01-01")
    years = {year: says(ada, made, valid_at=f"{year}-07-01") for year in (2009, 2012, 2017, 2022)}
    assert years == {
        2009: None,
        2012: "Ada lives in Ulm.",
        2017: "Ada lives in Basel.",
        2022: "Ada lives in Rome.",
    }
    ada.retract(made.id, was_wrong=True, valid_at="2017-01-01")
    assert says(ada, made, valid_at="2017-07-01") is None
    assert says(ada, made) == "Ada lives in Rome."


# Dates as people write them.


@pytest.fixture
def berliner(store: SyncRemembrancer) -> SyncPersonalMemory:
    account = somebody(store, "unzoned").account.email.replace("unzoned", "bea")
    store._store.engine.accounts.add(account, zone="Europe/Berlin")
    return store.person(account)


def test_a_date_is_local_midnight_and_until_is_that_day_s_end(berliner: SyncPersonalMemory) -> None:
    for since, until in (
        ("2026-03-27", "2026-03-29"),
        (date(2026, 3, 27), date(2026, 3, 29)),
    ):
        made = berliner.add(f"Away, {type(since)}.", valid_from=since, valid_to=until)
        found = berliner.get(made.id, valid_at="2026-03-28")
        assert found.valid_from == datetime(2026, 3, 26, 23, tzinfo=UTC), "winter time"
        assert found.valid_to == datetime(2026, 3, 29, 22, tzinfo=UTC), "summer time began"
        assert says(berliner, made, valid_at="2026-03-29T23:59:59+02:00") is not None
        assert says(berliner, made, valid_at="2026-03-30") is None


def test_changed_at_is_a_day_s_beginning_and_ended_at_its_end(
    berliner: SyncPersonalMemory,
) -> None:
    made = berliner.add("The lease runs.", valid_from="2020-01-01")
    berliner.correct(made.id, "The lease is extended.", changed_at="2024-07-01")
    found = berliner.get(made.id)
    assert found.valid_from == datetime(2024, 6, 30, 22, tzinfo=UTC)
    berliner.retract(made.id, ended_at="2024-07-31")
    assert says(berliner, made, valid_at="2024-07-31T23:59:59+02:00") == "The lease is extended."
    assert says(berliner, made, valid_at="2024-08-01") is None


def test_an_instant_with_an_offset_is_that_instant(berliner: SyncPersonalMemory) -> None:
    tokyo = timezone(timedelta(hours=9))
    for since in ("2026-01-01T09:00:00+09:00", datetime(2026, 1, 1, 9, tzinfo=tokyo)):
        made = berliner.add(f"New year, {type(since)}.", valid_from=since)
        found = berliner.get(made.id)
        assert found.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
        assert found.valid_from.tzinfo is UTC
        assert found.recorded_from.tzinfo is UTC


def test_unbounded_is_the_default_never_now(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada is left-handed.")
    assert (ada.get(made.id).valid_from, ada.get(made.id).valid_to) == (None, None)
    assert says(ada, made, valid_at="1950-01-01") == "Ada is left-handed."
    last = ada.add("A very long lease.", valid_to="9999-12-31")
    assert ada.get(last.id).valid_to is None


TIMES: list[tuple[str, Callable]] = [
    ("valid_from", lambda ada, _, at: ada.add("It rains.", valid_from=at)),
    ("valid_to", lambda ada, _, at: ada.add("It rains.", valid_to=at)),
    ("changed_at", lambda ada, it, at: ada.correct(it, "It rains.", changed_at=at)),
    ("valid_at", lambda ada, it, at: ada.correct(it, "It rains.", valid_at=at)),
    ("ended_at", lambda ada, it, at: ada.retract(it, ended_at=at)),
    ("valid_at", lambda ada, it, at: ada.get(it, valid_at=at)),
    ("known_at", lambda ada, _, at: ada.list(known_at=at)),
    ("valid_at", lambda ada, _, at: ada.recall("rain", valid_at=at)),
]
NO_TIMES = [
    "2026-05-01T12:00:00",
    datetime(2026, 5, 1, 12),  # noqa: DTZ001
    "soon",
    "2026-13-01",
    "2026-02-30",
    "",
]


def test_naive_and_impossible_times_are_refused(ada: SyncPersonalMemory) -> None:
    made = ada.add("The sun shines.")
    before = ada.events()
    for field, call in TIMES:
        for at in NO_TIMES:
            with pytest.raises(InvalidInputError) as caught:
                call(ada, made.id, at)
            assert caught.value.field == field
            assert caught.value.hint
    assert ada.events() == before


def test_an_interval_ends_after_it_begins(ada: SyncPersonalMemory) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ada.add("Backwards.", valid_from="2026-05-02", valid_to="2026-05-01")
    assert (caught.value.field, caught.value.limit) == ("valid_to", "after 2026-05-02T00:00:00Z")
    assert ada.list() == []
    assert ada.add("One day.", valid_from="2026-05-01", valid_to="2026-05-01").status == "created"
