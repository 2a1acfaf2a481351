"""Which trust state may follow which. Pure.

Persons move memories along this table; machines only create candidate or active ones.
"""

from __future__ import annotations

from typing import Final

from remembrancer.errors import TransitionError
from remembrancer.memory.models import Trust

BY_PERSON: Final[dict[Trust, frozenset[Trust]]] = {
    Trust.CANDIDATE: frozenset({Trust.CONFIRMED, Trust.REJECTED}),
    Trust.ACTIVE: frozenset({Trust.CONFIRMED, Trust.DISPUTED, Trust.ARCHIVED, Trust.REJECTED}),
    Trust.CONFIRMED: frozenset({Trust.DISPUTED, Trust.ARCHIVED, Trust.REJECTED}),
    Trust.DISPUTED: frozenset({Trust.CONFIRMED, Trust.ARCHIVED, Trust.REJECTED}),
    Trust.ARCHIVED: frozenset({Trust.CONFIRMED}),
    Trust.REJECTED: frozenset({Trust.CONFIRMED}),
}


def check_transition(present: Trust, wanted: Trust) -> bool:
    """True when it changes something, False when it is already so; `TransitionError` otherwise."""
    if present is wanted:
        return False
    allowed = BY_PERSON[present]
    if wanted not in allowed:
        ways = ", ".join(sorted(allowed))
        raise TransitionError(
            f"A memory that is {present} can't become {wanted}.",
            field="trust",
            value=wanted.value,
            hint=f"From {present} it can become: {ways}.",
        )
    return True
