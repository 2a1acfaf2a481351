"""Names beside the messages (speakers, titles, spaces, sources): none says what was forgotten.

Nothing can be withheld in a name. A machine's is refused; one that comes with a person's words is
taken without it; those that are there go when their value is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select, update

from remembrancer.conversations.models import Conversation
from remembrancer.conversations.redacting import rekey
from remembrancer.conversations.tables import messages, spaces
from remembrancer.conversations.withholding import refresh
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.events.kinds import Kind, Payload
from remembrancer.events.log import Journal
from remembrancer.scope import Actor, ActorKind
from remembrancer.text.normalise import matches
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Kind as Grave
from remembrancer.tombstones.models import Tombstone

SOMEONE: Final = "someone"
"""Stands for a speaker whose name says what was forgotten."""

_m, _s = messages.c, spaces.c

_SPEAKERS: Final = select(_m.speaker).distinct().where(_m.user_id == OWNER, _m.speaker != "")
_SPOKEN_BY: Final = select(_m.id, _m.chat_id).where(
    _m.user_id == OWNER, _m.speaker == bindparam("called")
)
_UNNAME_SPEAKER: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.speaker == bindparam("called"))
    .values(speaker=SOMEONE)
)
_SPACES: Final = select(_s.id, _s.name).where(_s.user_id == OWNER)
_RENAME_SPACE: Final = (
    update(spaces)
    .where(_s.user_id == OWNER, _s.id == bindparam("space"))
    .values(name=bindparam("to_name"))
)


def forgotten_in(unit: Unit, words: str) -> Tombstone | None:
    """The newest live tombstone of something forgotten that `words` say; None for none."""
    if not words:
        return None
    found = (each for each in graves.live_match(unit, words) if each.kind is Grave.FORGOTTEN)
    return next(found, None)


def names_in(conversation: Conversation, actor: Actor) -> tuple[str, ...]:
    """What must be refused rather than taken without it, were it to say something forgotten."""
    if actor.is_person:
        return ()
    named = (conversation.space or "", conversation.source, conversation.external_id)
    if actor.kind is ActorKind.IMPORTER:
        return named
    speakers = dict.fromkeys(each.speaker for each in conversation.messages)
    return (*named, conversation.title, actor.name, *speakers)


def first_forgotten(unit: Unit, names: Iterable[str]) -> Tombstone | None:
    """The tombstone that the first of these names to say something forgotten runs into."""
    return next((grave for each in names if (grave := forgotten_in(unit, each))), None)


def log_refusal(unit: Unit, journal: Journal, actor: Actor, grave: Tombstone) -> None:
    """Log and count that a machine brought a forgotten value back as a name."""
    if forgotten_in(unit, actor.name) is not None:
        actor = replace(actor, name=SOMEONE)
    notes: dict[str, str | int | None] = {"rule": "tombstone", "tombstone": str(grave.id)}
    stamp = journal.append(
        Kind.MEMORY_REFUSED, actor, Payload(notes=notes), subject=grave.memory_id
    )
    graves.record_attempt(unit, grave.id, actor, stamp.seq)


def without_forgotten(unit: Unit, name: str, otherwise: str) -> str:
    """The name, or `otherwise` where it says something forgotten."""
    return name if forgotten_in(unit, name) is None else otherwise


def clear_names(unit: Unit, values: Sequence[str], index_seq: int) -> list[UUID]:
    """Take one of these values out of every speaker's and space's name.

    A speaker becomes `SOMEONE`, a space the end of its id. Returns what `withholding.refresh` does.
    """
    for row in unit.all(_SPACES):
        if any(matches(row.name, each) for each in values):
            unit.run(_RENAME_SPACE, space=row.id, to_name=row.id.hex[-12:])
    spoken: dict[UUID, UUID] = {}
    for row in unit.all(_SPEAKERS):
        if row.speaker != SOMEONE and any(matches(row.speaker, each) for each in values):
            those = unit.all(_SPOKEN_BY, called=row.speaker)
            spoken |= {each.id: each.chat_id for each in those}
            unit.run(_UNNAME_SPEAKER, called=row.speaker)
    for chat_id in set(spoken.values()):
        rekey(unit, chat_id)
    return refresh(unit, spoken, index_seq) if spoken else []
