"""Identities made from content: of a message, and of a chat that has no id. Pure.

A message's digest holds its predecessor's, so equal words said twice are two messages. A digest
derives from the words; where those were removed it is keyed with the person's own secret, so that
re-importing still recognises the message and the digest alone tells nothing.
"""

from __future__ import annotations

from typing import Final

from remembrancer.conversations.models import IncomingMessage
from remembrancer.text.digest import DIGEST_BYTES, keyed_digest

_DOMAIN: Final = b"remembrancer message"
_KEYED: Final = b"\1"
_FROM_FIRST: Final = "first:"
_FROM_KEYED: Final = "keyed:"


def message_digest(
    source: str, external_id: str, predecessor: bytes | None, message: IncomingMessage
) -> bytes:
    """16 bytes over chat, predecessor's digest, role, speaker, said_at and text."""
    return keyed_digest(
        _DOMAIN,
        (
            source,
            external_id,
            "" if predecessor is None else predecessor.hex(),
            message.role.value,
            message.speaker,
            str(message.said_at),
            message.text,
        ),
    )


def keyed(secret: bytes, digest: bytes) -> bytes:
    """What stands for a digest once words were removed: 17 bytes; itself when keyed already."""
    if len(digest) != DIGEST_BYTES:
        return digest
    return _KEYED + keyed_digest(secret, (digest.hex(),))


def chat_identity(first: bytes) -> str:
    """The `external_id` of a chat without one: from its first message's digest."""
    return (_FROM_KEYED if len(first) != DIGEST_BYTES else _FROM_FIRST) + first.hex()


def keyed_identity(secret: bytes, external_id: str) -> str:
    """`external_id` made anew once words were removed; unchanged when it came from the source."""
    prefix, _, rest = external_id.partition(":")
    if prefix + ":" != _FROM_FIRST or len(rest) != 2 * DIGEST_BYTES:
        return external_id
    try:
        return chat_identity(keyed(secret, bytes.fromhex(rest)))
    except ValueError:
        return external_id
