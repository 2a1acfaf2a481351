"""Which trust state may follow which: the whole table, both ways."""

from __future__ import annotations

from itertools import product

import pytest

from remembrancer.errors import TransitionError
from remembrancer.memory.models import Trust
from remembrancer.memory.transitions import BY_PERSON, check_transition

ALLOWED = {
    "candidate": "confirmed rejected",
    "active": "confirmed disputed archived rejected",
    "confirmed": "disputed archived rejected",
    "disputed": "confirmed archived rejected",
    "archived": "confirmed",
    "rejected": "confirmed",
}


def test_every_state_has_its_row() -> None:
    assert {each.value for each in BY_PERSON} == {each.value for each in Trust} == set(ALLOWED)


@pytest.mark.parametrize(("present", "wanted"), list(product(Trust, Trust)))
def test_the_table(present: Trust, wanted: Trust) -> None:
    if present is wanted:
        assert check_transition(present, wanted) is False
    elif wanted.value in ALLOWED[present.value].split():
        assert check_transition(present, wanted) is True
    else:
        with pytest.raises(TransitionError) as caught:
            check_transition(present, wanted)
        assert caught.value.field == "trust"
        assert caught.value.value == wanted.value
        ways = sorted(ALLOWED[present.value].split())
        assert caught.value.hint == f"From {present} it can become: {', '.join(ways)}."


def test_nobody_makes_a_memory_a_candidate_or_active_again() -> None:
    assert not {Trust.CANDIDATE, Trust.ACTIVE} & frozenset().union(*BY_PERSON.values())
