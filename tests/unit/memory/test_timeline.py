"""The arithmetic of rectangles: what a correction leaves, and which one answers a question."""

from __future__ import annotations

import pytest

from remembrancer.clock import MAX, MIN
from remembrancer.errors import InvalidInputError
from remembrancer.memory import timeline
from remembrancer.memory.timeline import Piece, Rectangle, Says

MARCH = 1_740_787_200_000_000
MAY = 1_746_057_600_000_000
JUNE = 1_748_736_000_000_000


def rectangle(
    valid_from: int = MARCH, valid_to: int = JUNE, recorded_from: int = 10, recorded_to: int = MAX
) -> Rectangle[str]:
    return Rectangle(valid_from, valid_to, recorded_from, recorded_to, "tea")


@pytest.mark.parametrize(
    ("valid_at", "known_at", "holds"),
    [
        (MARCH, 10, True),
        (JUNE - 1, MAX - 1, True),
        (MARCH - 1, 10, False),
        (JUNE, 10, False),
        (MARCH, 9, False),
        (MARCH, MAX, False),
    ],
)
def test_both_times_are_half_open(valid_at: int, known_at: int, holds: bool) -> None:
    assert rectangle().holds(valid_at, known_at) is holds


def test_a_rectangle_is_believed_until_it_is_closed() -> None:
    assert rectangle().believed
    assert not rectangle(recorded_to=20).believed


def test_the_target_is_the_believed_rectangle_valid_then() -> None:
    closed = rectangle(recorded_to=20)
    early, late = rectangle(valid_to=MAY), rectangle(valid_from=MAY)
    assert timeline.target([closed, early, late], MAY - 1) is early
    assert timeline.target([closed, early, late], MAY) is late


@pytest.mark.parametrize("rectangles", [[], [rectangle(recorded_to=20)], [rectangle()]])
def test_a_time_nothing_is_said_about_has_no_target(rectangles: list[Rectangle[str]]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        timeline.target(rectangles, JUNE, field="when")
    assert (caught.value.field, caught.value.value) == ("when", "2025-06-01T00:00:00Z")


def test_what_was_wrong_was_wrong_for_the_whole_interval() -> None:
    assert timeline.was_wrong(rectangle()) == (Piece(MARCH, JUNE, Says.NEW),)


def test_a_change_keeps_the_old_value_before_it() -> None:
    assert timeline.changed_at(rectangle(), MAY) == (
        Piece(MARCH, MAY, Says.OLD),
        Piece(MAY, JUNE, Says.NEW),
    )


def test_a_change_at_the_beginning_leaves_nothing_of_the_old_value() -> None:
    assert timeline.changed_at(rectangle(), MARCH) == (Piece(MARCH, JUNE, Says.NEW),)


def test_an_end_keeps_what_was_before_it_and_nothing_after() -> None:
    assert timeline.ended_at(rectangle(), MAY) == (Piece(MARCH, MAY, Says.OLD),)
    assert timeline.ended_at(rectangle(), MARCH) == ()


@pytest.mark.parametrize("cut", [timeline.changed_at, timeline.ended_at])
@pytest.mark.parametrize("at", [MARCH - 1, JUNE])
def test_a_cut_outside_the_rectangle_is_refused_and_names_its_bounds(cut, at: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        cut(rectangle(), at)
    assert caught.value.field == "at"
    assert caught.value.limit == "2025-03-01T00:00:00Z to 2025-06-01T00:00:00Z"


def test_open_bounds_are_named_as_open() -> None:
    with pytest.raises(InvalidInputError) as caught:
        timeline.changed_at(rectangle(MIN, MAY), MAY)
    assert caught.value.limit == "… to 2025-05-01T00:00:00Z"
    with pytest.raises(InvalidInputError) as caught:
        timeline.changed_at(rectangle(MAY, MAX), MAY - 1)
    assert caught.value.limit == "2025-05-01T00:00:00Z to …"


def test_as_of_finds_the_one_that_answers_or_none() -> None:
    closed, now = rectangle(recorded_to=20), rectangle(recorded_from=20)
    assert timeline.as_of([closed, now], MAY, 19) is closed
    assert timeline.as_of([closed, now], MAY, 20) is now
    assert timeline.as_of([closed, now], MAY, 9) is None
    assert timeline.as_of([], MAY, 20) is None


@pytest.mark.parametrize(
    ("there", "valid_from", "valid_to", "again"),
    [
        ((MARCH, JUNE), MIN, MAX, True),
        ((MARCH, JUNE), MAY, MAX, True),
        ((MARCH, JUNE), JUNE, MAX, False),
        ((MARCH, JUNE), MIN, MARCH, False),
        ((MIN, MAX), MARCH, MAY, True),
    ],
)
def test_two_values_contend_where_their_times_overlap(
    there: tuple[int, int], valid_from: int, valid_to: int, again: bool
) -> None:
    assert timeline.contends(rectangle(*there), valid_from, valid_to, now=MARCH) is again


def test_what_is_over_contends_with_the_past_alone() -> None:
    assert not timeline.contends(rectangle(), MAY, MAX, now=JUNE)
    assert timeline.contends(rectangle(), MAY, MAX, now=JUNE - 1)
    assert timeline.contends(rectangle(), MARCH, MAY, now=JUNE)
