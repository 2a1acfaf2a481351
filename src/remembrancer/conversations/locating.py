"""Which of a conversation's messages are stored already: by content, through their digests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from remembrancer import tombstones
from remembrancer.conversations import repository
from remembrancer.conversations.digests import (
    chat_identity,
    keyed,
    keyed_identity,
)
from remembrancer.conversations.models import Chat, IncomingMessage
from remembrancer.conversations.planning import TAIL, Plan, digest_of
from remembrancer.conversations.skeletons import (
    Skeleton,
    known_digests,
    latest,
    skeletons,
    tail_of,
)
from remembrancer.db.units import Unit
from remembrancer.errors import InvalidInputError
from remembrancer.index.changes import AnyId

_WINDOW: Final = 64
"""Of a chat that is continued, so many messages are compared with what comes in."""


@dataclass(frozen=True, slots=True)
class Located:
    """Where a conversation's messages stand: the chat, if there is one, and what it holds."""

    chat: Chat | None
    external_id: str
    tail: Skeleton | None
    """The newest message of the live branch."""
    digests: tuple[bytes, ...]
    known: tuple[AnyId | None, ...]
    """For each message of the conversation, the stored one."""


def locate(unit: Unit, plan: Plan) -> Located:
    """Find the chat and what it already holds of the conversation."""
    key = tombstones.own_key(unit)
    secret = None if key is None else key.secret
    chat, external_id = _chat(unit, plan, secret)
    stored = _stored(unit, plan, chat)
    tree = {each.id: each for each in stored}
    tail = None if chat is None else tail_of(unit, chat.id)
    by_digest = _digests(unit, chat, stored)
    digests: list[bytes] = []
    known: list[AnyId | None] = []
    for index, message in enumerate(plan.conversation.messages):
        digest = plan.digests[index]
        if digest is None:
            before = _predecessor(plan, index, digests, tree, tail)
            digest = digest_of(plan.conversation, before, message)
        found = _find(by_digest, digest, secret)
        if found is None and plan.links[index] == TAIL:
            again = _said_before(plan, message, stored, tree)
            if again is not None:
                digest, found = again
        digests.append(digest)
        known.append(found)
    return Located(chat, external_id, tail, tuple(digests), tuple(known))


def _chat(unit: Unit, plan: Plan, secret: bytes | None) -> tuple[Chat | None, str]:
    """The chat, and its external id: the source's, or made from the first message."""
    conversation = plan.conversation
    if conversation.external_id:
        named = repository.find_chat(unit, conversation.source, conversation.external_id)
        return named, conversation.external_id
    made = chat_identity(digest_of(conversation, None, conversation.messages[0]))
    found = repository.find_chat(unit, conversation.source, made)
    if found is None and secret is not None:
        rekeyed = keyed_identity(secret, made)
        found = repository.find_chat(unit, conversation.source, rekeyed)
    return found, made


def _stored(unit: Unit, plan: Plan, chat: Chat | None) -> list[Skeleton]:
    """What of a chat must be known message by message: what new ones name, or come after."""
    if chat is None:
        return []
    if any(isinstance(link, UUID) for link in plan.links):
        return skeletons(unit, chat.id)
    if plan.conversation.continues:
        return latest(unit, chat.id, _WINDOW + len(plan.conversation.messages))
    return []


def _digests(unit: Unit, chat: Chat | None, stored: Sequence[Skeleton]) -> dict[bytes, AnyId]:
    if stored or chat is None:
        return {each.digest: each.id for each in stored}
    return known_digests(unit, chat.id)


def _predecessor(
    plan: Plan,
    index: int,
    digests: Sequence[bytes],
    tree: Mapping[UUID, Skeleton],
    tail: Skeleton | None,
) -> bytes | None:
    link = plan.links[index]
    if link is None:
        return None
    if isinstance(link, UUID):
        if link not in tree:
            raise InvalidInputError(
                f"messages[{index}].parent {link} is no message of this chat.",
                field=f"messages[{index}].parent",
                value=str(link),
                hint="Name the id of an earlier message, or leave it out.",
            )
        return tree[link].digest
    if link == TAIL:
        return None if tail is None else tail.digest
    return digests[link]


def _find(stored: Mapping[bytes, AnyId], digest: bytes, secret: bytes | None) -> AnyId | None:
    found = stored.get(digest)
    if found is None and secret is not None:
        found = stored.get(keyed(secret, digest))
    return found


def _said_before(
    plan: Plan, message: IncomingMessage, stored: Sequence[Skeleton], tree: Mapping[UUID, Skeleton]
) -> tuple[bytes, UUID] | None:
    """The stored message that a continuation begins with again (a retried write)."""
    for each in reversed(stored):
        if each.said_at != message.said_at:
            continue
        if each.parent_id is not None and each.parent_id not in tree:
            continue  # its predecessor is older than what was read
        before = tree[each.parent_id].digest if each.parent_id else None
        digest = digest_of(plan.conversation, before, message)
        if digest == each.digest:
            return digest, each.id
    return None
