"""What a person allows. One function decides; everybody asks it."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, insert, select

from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.policy.models import MachineWrites
from remembrancer.policy.tables import policies
from remembrancer.scope import Actor, ActorKind

MACHINE_WRITES: Final = "machine_writes"

_READ: Final = select(policies.c.value).where(
    policies.c.user_id == OWNER, policies.c.name == bindparam("rule")
)
_CLEAR: Final = delete(policies).where(
    policies.c.user_id == OWNER, policies.c.name == bindparam("rule")
)
_WRITE: Final = insert(policies)


def machine_writes(unit: Unit) -> MachineWrites:
    """The person's rule; accepting their own quotes unless they said otherwise."""
    value = unit.scalar(_READ, rule=MACHINE_WRITES)
    return MachineWrites.QUOTES if value is None else MachineWrites(value)


def machines_are_off(unit: Unit, actor: Actor) -> bool:
    """Whether this actor is a machine to which the person has closed their memory."""
    if actor.is_person or actor.kind is ActorKind.SYSTEM:
        return False
    return machine_writes(unit) is MachineWrites.OFF


def set_machine_writes(unit: Unit, value: MachineWrites, *, event_seq: int) -> None:
    """Store the rule; the caller has written the event `event_seq`."""
    unit.run(_CLEAR, rule=MACHINE_WRITES)
    unit.insert(
        _WRITE, name=MACHINE_WRITES, value=value.value, event_seq=event_seq, updated_at=unit.now
    )
