"""What the sources tell the index: rows of texts, versions and messages that changed. Pure.

No text is among them: a document arrives as its packed terms (`text.analyse.pack_terms`), a path
and a speaker as names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from remembrancer.clock import Instant

AnyId: TypeAlias = UUID | bytes
"""A UUID, or its 16 bytes (`raw_ids`)."""

TRUSTS: Final = ("candidate", "active", "confirmed", "disputed", "archived", "rejected")
TYPES: Final = ("context", "user")
ROLES: Final = ("user", "assistant", "other")
"""A name's place in these is its ordinal in the view's tables."""


class TextRow(NamedTuple):
    """A text and its terms; empty terms: forgotten."""

    document_id: AnyId
    terms: bytes


class VersionRow(NamedTuple):
    """A version as it stands now; `path` is "" for none."""

    version_id: AnyId
    memory_id: AnyId
    text_id: AnyId
    type: str
    path: str
    space_id: AnyId | None
    trust: str
    valid_from: Instant
    valid_to: Instant
    recorded_from: Instant
    recorded_to: Instant


class MessageRow(NamedTuple):
    """A message, which is a document of the same id; empty terms: withheld whole."""

    message_id: AnyId
    chat_id: AnyId
    session: int
    position: int
    space_id: AnyId | None
    role: str
    speaker: str
    said_at: Instant
    live: bool
    terms: bytes


class Changes(NamedTuple):
    """Everything of one domain that changed after some sequence number.

    An id comes once in it; applying the same rows again changes nothing. Rows are read by position:
    a statement's own rows, with these columns in this order, spare a copy of each. `gone` names
    texts and messages whose rows are no more, where a source happens to know them; otherwise its
    row count gives a deletion away.
    """

    texts: Sequence[TextRow] = ()
    versions: Sequence[VersionRow] = ()
    messages: Sequence[MessageRow] = ()
    gone: Sequence[AnyId] = ()
