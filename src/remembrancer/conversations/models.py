"""Conversations as others see them: roles, what comes in, and frozen read models. Pure.

Times here are instants (see `clock`); surfaces write them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.clock import Instant
from remembrancer.text.spans import Span, blank

_GAP: Final = "\0"
"""Stands for what is withheld when a quote is looked for: no quote can hold it."""


class Role(StrEnum):
    """Who speaks. Only what a `user` wrote is evidence."""

    USER = "user"
    ASSISTANT = "assistant"
    OTHER = "other"
    """A named third person: recalled, labelled, never evidence."""


class AuthoredBy(StrEnum):
    """How a message came here, which decides how far its words are believed."""

    PERSON = "person"
    CLIENT = "client"
    """From the history an OpenAI client sent."""
    IMPORTER = "importer"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message to be stored."""

    role: Role
    text: str
    said_at: Instant
    speaker: str = ""
    """A name, where the roles alone don't tell; "" for none."""
    id: str = ""
    """Its id in the source, for `parent` of others; not kept."""
    parent: str | None = None
    """The id of the message it answers, or a stored message's UUID. None: the one before it in
    the list; "": none, it begins a branch of its own."""
    session: str | None = None
    """A label; a new one begins a new session. None leaves it to the gap in time."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation to be stored: one chat's messages, in order."""

    source: str
    messages: tuple[IncomingMessage, ...]
    external_id: str = ""
    """Its id in the source; without one, the chat is identified by its first message."""
    title: str = ""
    space: str = ""
    """The name of the space it belongs to; "" for none."""
    continues: bool = False
    """The messages come after what the chat holds, instead of being the whole of it. Needs an
    `external_id`."""


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """A folder or project of the person's."""

    id: UUID
    name: str
    created_at: Instant


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation as stored. `messages` counts all branches."""

    id: UUID
    source: str
    external_id: str
    title: str
    space_id: UUID | None
    import_id: UUID | None
    created_at: Instant
    messages: int


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message. `text` is whole, for its reader; everything else sees `visible`."""

    id: UUID
    chat_id: UUID
    parent_id: UUID | None
    position: int
    session: int
    role: Role
    speaker: str
    authored_by: AuthoredBy
    said_at: Instant
    text: str
    live: bool
    """False on a branch that was edited or regenerated away."""
    withheld: tuple[Span, ...] = ()
    """What recall and review don't see: half-open, in characters of `text`."""

    @property
    def visible(self) -> str:
        """The text without what is withheld."""
        return blank(self.text, self.withheld) if self.withheld else self.text

    @property
    def quotable(self) -> str:
        """`visible` with a NUL where something is withheld, so that no quote spans the gap."""
        return blank(self.text, self.withheld, _GAP) if self.withheld else self.text
