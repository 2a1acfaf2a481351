"""What a developer writes, read: times, ids, types, meanings and quotes. Decides nothing."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypeAlias
from uuid import UUID

from remembrancer.errors import InvalidInputError
from remembrancer.ids import parse_id
from remembrancer.memory.models import Meaning, Quote, Trust, as_type
from remembrancer.policy.models import MachineWrites
from remembrancer.text.limits import check_name

__all__ = [
    "Id",
    "When",
    "as_agent_name",
    "as_email",
    "as_meaning",
    "as_quote",
    "as_rule",
    "as_text",
    "as_trust",
    "as_type",
]

When: TypeAlias = str | datetime | date
Id: TypeAlias = str | UUID


def as_agent_name(value: object) -> str:
    """An agent's name: 1…200 characters on one line, trimmed."""
    return check_name(as_text(value, "agent"), "agent", 200)


def as_email(value: object) -> str:
    """What names a person, as far as text goes: on one line, storable. Accounts checks the rest."""
    return check_name(as_text(value, "email"), "email", 300)


def as_text(value: object, field: str) -> str:
    """The text; anything else is an error that names the field."""
    if not isinstance(value, str):
        raise InvalidInputError(
            f"{field} isn't text, but {type(value).__name__}.", field=field, limit="text"
        )
    return value


def as_meaning(was_wrong: bool, at: When | None, name: str) -> Meaning:
    """What a correction means; both stated is an error, neither is `unstated`."""
    if was_wrong and at is not None:
        raise InvalidInputError(
            f"was_wrong and {name} exclude each other.", field=name, hint="Say which it was."
        )
    if was_wrong:
        return Meaning.WAS_WRONG
    return Meaning.UNSTATED if at is None else Meaning.CHANGED


def as_quote(
    text: str | None, message_id: Id | None, chat_id: Id | None, model: str | None
) -> Quote | None:
    """A quote and where it stands; None without its words."""
    if text is None:
        return None
    return Quote(
        text,
        None if message_id is None else parse_id(message_id, field="message_id"),
        None if chat_id is None else parse_id(chat_id, field="chat_id"),
        model,
    )


def as_trust(value: Trust | str) -> Trust:
    """The trust state of that name; an unknown one is an error."""
    try:
        return Trust(value)
    except ValueError:
        raise _unknown("trust", value, ", ".join(Trust)) from None


def as_rule(value: MachineWrites | str) -> MachineWrites:
    """The rule of that name; an unknown one is an error."""
    try:
        return MachineWrites(value)
    except ValueError:
        raise _unknown("machine_writes", value, ", ".join(MachineWrites)) from None


def _unknown(field: str, value: object, known: str) -> InvalidInputError:
    return InvalidInputError(
        f"{field} {str(value)[:60]!r} is unknown.",
        field=field,
        value=str(value)[:60],
        limit=known,
        hint="Use one of those.",
    )
