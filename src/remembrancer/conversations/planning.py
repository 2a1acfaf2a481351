"""What storing a conversation will do, as far as the conversation alone tells. Pure.

Checks every message, resolves what each one follows, and says where sessions begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from remembrancer.clock import MAX, MIN, SECOND, Instant
from remembrancer.conversations.digests import message_digest
from remembrancer.conversations.models import AuthoredBy, Conversation, IncomingMessage, Role
from remembrancer.errors import InvalidInputError
from remembrancer.ids import parse_id
from remembrancer.text.limits import check_message, check_name

NAME_CHARACTERS: Final = 200
"""The limit of a source, an id, a title, a speaker's name."""
SESSION_GAP: Final[Instant] = 4 * 3600 * SECOND
"""Silence after which a new session begins."""
TAIL: Final = -1
"""The link of a message that follows what the chat holds."""

Link: TypeAlias = int | UUID | None
"""What a message follows: a place in the list, `TAIL`, a stored message, or nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked conversation. `links` and `digests` have one entry for each message.

    A digest is None where it takes what is stored to know it.
    """

    conversation: Conversation
    authored_by: AuthoredBy
    links: tuple[Link, ...]
    digests: tuple[bytes | None, ...]

    def author(self, message: IncomingMessage) -> AuthoredBy:
        """How a message came here: a person's own chat holds a model's answers."""
        if self.authored_by is AuthoredBy.PERSON and message.role is Role.ASSISTANT:
            return AuthoredBy.MODEL
        return self.authored_by


def plan(conversation: Conversation, authored_by: AuthoredBy) -> Plan:
    """Check a conversation. Raises `InvalidInputError` naming the field and the message's place."""
    check_name(conversation.source, "source", NAME_CHARACTERS)
    for field, value in (("id", conversation.external_id), ("title", conversation.title)):
        if value:
            check_name(value, field, NAME_CHARACTERS)
    if not conversation.messages:
        raise InvalidInputError(
            "The conversation has no messages.", field="messages", limit="at least 1"
        )
    if conversation.continues and not conversation.external_id:
        raise InvalidInputError(
            "A conversation that continues needs an id.",
            field="id",
            hint="Give the id of the chat the messages belong to.",
        )
    for index, message in enumerate(conversation.messages):
        check_incoming(message, f"messages[{index}]")
    links = check_links(conversation.messages, continues=conversation.continues)
    return Plan(conversation, authored_by, links, _digests(conversation, links))


def digest_of(
    conversation: Conversation, predecessor: bytes | None, message: IncomingMessage
) -> bytes:
    """A message's digest in this conversation's chat."""
    return message_digest(conversation.source, conversation.external_id, predecessor, message)


def check_incoming(message: IncomingMessage, place: str) -> None:
    """One message's limits; `place` stands before the field in the error."""
    check_message(message.text, field=f"{place}.text")
    for field, value in (("speaker", message.speaker), ("id", message.id)):
        if value:
            check_name(value, f"{place}.{field}", NAME_CHARACTERS)
    if message.role is Role.OTHER and not message.speaker:
        raise InvalidInputError(
            f"{place}.speaker is missing: a third person needs a name.",
            field=f"{place}.speaker",
            limit=f"1…{NAME_CHARACTERS} characters",
        )
    if not MIN < message.said_at < MAX:
        raise InvalidInputError(f"{place}.at is not a time.", field=f"{place}.at")


def begins_session(
    before: IncomingMessage | None, said_before: Instant, message: IncomingMessage
) -> bool:
    """Whether a message begins a session: another label, or more than four hours of silence.

    `before` is the message it follows if that came in the same list.
    """
    if before is not None and before.session is not None and message.session is not None:
        return before.session != message.session
    return message.said_at - said_before > SESSION_GAP


def check_links(
    messages: Sequence[IncomingMessage], place: str = "", *, continues: bool = False
) -> tuple[Link, ...]:
    """What each message follows. `place` stands before the field in an error."""
    places: dict[str, int] = {}
    links: list[Link] = []
    for index, message in enumerate(messages):
        field = f"{place}messages[{index}]"
        if message.parent is None:
            first: Link = TAIL if continues else None
            links.append(index - 1 if index else first)
        else:
            links.append(_named(message.parent, places, f"{field}.parent"))
        if message.id:
            if message.id in places:
                raise InvalidInputError(
                    f"{field}.id {message.id[:60]!r} is used twice.",
                    field=f"{field}.id",
                    value=message.id[:60],
                    limit="each id once",
                )
            places[message.id] = index
    return tuple(links)


def _digests(conversation: Conversation, links: Sequence[Link]) -> tuple[bytes | None, ...]:
    digests: list[bytes | None] = []
    for message, link in zip(conversation.messages, links, strict=True):
        if link is None:
            digests.append(digest_of(conversation, None, message))
            continue
        before = digests[link] if isinstance(link, int) and link != TAIL else None
        digests.append(None if before is None else digest_of(conversation, before, message))
    return tuple(digests)


def _named(parent: str, places: Mapping[str, int], field: str) -> Link:
    if parent == "":
        return None
    if parent in places:
        return places[parent]
    try:
        return parse_id(parent, field=field)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{field} {parent[:60]!r} is no message before it.",
            field=field,
            value=parent[:60],
            hint="Name the id of an earlier message, or leave it out.",
        ) from error
