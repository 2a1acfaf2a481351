"""How memories, times and states read: marks with their words, dates in the person's zone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from remembrancer.cli.output import Output

if TYPE_CHECKING:
    from remembrancer.memory.models import Memory, Version

MARKS: Final[Mapping[str, tuple[str, str, str]]] = {
    "candidate": ("◌", "Candidate", "yellow"),
    "active": ("◐", "Active", "green"),
    "confirmed": ("✓", "Confirmed", "green"),
    "disputed": ("◇", "Disputed", "red"),
    "archived": ("▭", "Archived", "dim"),
    "rejected": ("⊘", "Rejected", "dim"),
    "forgotten": ("▬", "Forgotten", ""),
}
"""Mark, word and style of each trust state, and of what is forgotten."""
TYPES: Final[Mapping[str, str]] = {"user": "Profile", "context": "Context"}
REASONS: Final[Mapping[str, str]] = {
    "candidate": "waits for you",
    "disputed": "you doubt it",
    "archived": "you put it away",
    "rejected": "you rejected it",
    "superseded": "no longer so",
    "expired": "no longer true",
    "not_yet_valid": "not yet true",
    "not_yet_known": "not yet known then",
    "other_space": "in another space",
    "other_branch": "on another branch",
    "in_history": "in this chat already",
    "already_given": "given before",
    "below_floor": "did not fit well enough",
    "duplicate": "says the same",
    "over_k": "beyond the number asked for",
    "over_budget": "beyond the budget",
    "changed": "changed meanwhile",
}
DEGRADED: Final[Mapping[str, str]] = {
    "vector": "By words only: finding by meaning does not answer.",
    "index": "Your memories could not be searched.",
    "deadline": "Recall took too long: nothing is given.",
    "memory": "Your memories could not be read: nothing is given.",
}
PENDING: Final = "found by words until `remembrancer reindex --pending` has run"


def state(trust: str) -> tuple[str, str]:
    """Mark and word of a state, with their style."""
    mark, word, style = MARKS[trust]
    return f"{mark} {word}", style


def when(moment: datetime, zone: str) -> str:
    """Date and minute in the person's zone."""
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"


def _day(moment: datetime, zone: str) -> str:
    """The date alone at midnight, else with the minute."""
    local = moment.astimezone(ZoneInfo(zone))
    return f"{local:%Y-%m-%d}" if local.time() == local.time().min else f"{local:%Y-%m-%d %H:%M}"


def validity(valid_from: datetime | None, valid_to: datetime | None, zone: str) -> str:
    """`true since … until …`; "" for something without ends. The last day is named."""
    parts = []
    if valid_from is not None:
        parts.append(f"since {_day(valid_from, zone)}")
    if valid_to is not None:
        local = valid_to.astimezone(ZoneInfo(zone))
        midnight = local.time() == local.time().min
        parts.append(f"until {_day(valid_to - timedelta(days=1) if midnight else valid_to, zone)}")
    return "true " + " ".join(parts) if parts else ""


def said_of(each: Memory | Version, spaces: Mapping[UUID, str], zone: str) -> str:
    """Type, path, space and validity, after the state."""
    space = "" if each.space_id is None else f"in {spaces.get(each.space_id, 'another space')}"
    parts = [TYPES[each.type.value], each.path, space]
    return " · ".join(
        part for part in [*parts, validity(each.valid_from, each.valid_to, zone)] if part
    )


def show_memory(out: Output, each: Memory, spaces: Mapping[UUID, str], zone: str) -> None:
    """A memory, whole: its state, its words, its id."""
    out.line(state(each.trust.value), f" · {said_of(each, spaces, zone)}")
    out.line(each.content, indent=2)
    rest = f" · version {each.version} · {when(each.changed_at, zone)} · {each.created_by}"
    if each.pin_rank is not None:
        rest += f" · pinned {each.pin_rank}"
    if each.pending:
        rest += " · no vector yet"
    out.line((f"{each.id}{rest}", "dim"), indent=2)
