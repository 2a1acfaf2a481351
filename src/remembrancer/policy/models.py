"""A person's rule about what machines may write. Pure."""

from __future__ import annotations

from enum import StrEnum


class MachineWrites(StrEnum):
    """What becomes of what a machine wants to remember."""

    ASK = "ask"
    """Everything waits for the person."""
    QUOTES = "accept_quotes"
    """The default: what rests on the person's own words is accepted, the rest waits."""
    ALL = "accept_all"
    """For agents without a person: everything is accepted."""
    OFF = "off"
    """Nothing is read, written or reviewed by machines."""
