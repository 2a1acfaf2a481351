"""Removing words from messages for good, where a person chooses that over withholding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from remembrancer import tombstones
from remembrancer.conversations import repository
from remembrancer.conversations.digests import keyed, keyed_identity
from remembrancer.conversations.repository import Withheld
from remembrancer.conversations.skeletons import skeletons
from remembrancer.conversations.tables import chats, messages, withheld
from remembrancer.conversations.withholding import refresh
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.text.normalise import matches
from remembrancer.text.spans import Span, blank

MARK: Final = "[…]"
"""Stands where something was redacted; it has no terms."""

_m, _w, _c = messages.c, withheld.c, chats.c

_REWRITE: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.id == bindparam("message"))
    .values(text=bindparam("to_text"))
)
_REKEY: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.id == bindparam("message"))
    .values(digest=bindparam("to_digest"))
)
_REKEY_CHAT: Final = (
    update(chats)
    .where(_c.user_id == OWNER, _c.id == bindparam("chat"))
    .values(external_id=bindparam("to_identity"))
)
_TITLES: Final = select(_c.id, _c.title).where(_c.user_id == OWNER, _c.title != "")
_CLEAR_TITLE: Final = (
    update(chats).where(_c.user_id == OWNER, _c.id == bindparam("chat")).values(title="")
)
_DROP_SPANS: Final = delete(withheld).where(
    _w.user_id == OWNER, _w.message_id == bindparam("message")
)


def redact(unit: Unit, spans: Mapping[UUID, Sequence[Span]], *, index_seq: int) -> list[UUID]:
    """Replace these spans of these messages by a mark. Returns what `withholding.refresh` does.

    The digests of their chats are keyed with the person's secret, so that none derives from the
    words and a re-import still recognises the messages. What else is withheld stays withheld.
    """
    there = repository.messages_by_id(unit, spans)
    rows = repository.withheld_spans(unit, there)
    for message_id, message in there.items():
        gone = _joined(spans[message_id], len(message.text))
        if not gone:
            continue
        unit.run(_REWRITE, message=message_id, to_text=blank(message.text, gone, MARK))
        unit.run(_DROP_SPANS, message=message_id)
        left = [each for each in rows if each.message_id == message_id]
        _keep_withheld(unit, message.text, gone, left)
    for chat_id in {message.chat_id for message in there.values()}:
        rekey(unit, chat_id)
    return refresh(unit, there, index_seq)


def clear_titles(unit: Unit, values: Sequence[str]) -> None:
    """Take away the titles of chats that say one of these values: they stand outside of the chat,
    where nothing can be withheld."""
    saying = [
        row.id for row in unit.all(_TITLES) if any(matches(row.title, each) for each in values)
    ]
    unit.run_many(_CLEAR_TITLE, ({"chat": each} for each in saying))


def rekey(unit: Unit, chat_id: UUID) -> None:
    """Make the digests of a chat and its messages tell nothing of their words."""
    secret = tombstones.ensure_key(unit).secret
    unit.run_many(
        _REKEY,
        (
            {"message": each.id, "to_digest": keyed(secret, each.digest)}
            for each in skeletons(unit, chat_id)
        ),
    )
    chat = repository.chat(unit, chat_id)
    if chat is not None:
        unit.run(_REKEY_CHAT, chat=chat_id, to_identity=keyed_identity(secret, chat.external_id))


def outside(span: Span, gone: Sequence[Span]) -> list[Span]:
    """What of a span lies outside of `gone` (sorted, apart), in the same coordinates."""
    edges = [(span[0], span[0]), *gone, (span[1], span[1])]
    pieces = (
        (max(first[1], span[0]), min(second[0], span[1])) for first, second in pairwise(edges)
    )
    return [piece for piece in pieces if piece[0] < piece[1]]


def _keep_withheld(unit: Unit, text: str, gone: Sequence[Span], rows: Sequence[Withheld]) -> None:
    """Write the spans that are left, moved to where their words now stand."""
    moved = {
        (each.tombstone_id, _place(text, gone, start), _place(text, gone, end))
        for each in rows
        for start, end in outside(each.span, gone)
    }
    kept = [Withheld(rows[0].message_id, (start, end), stone) for stone, start, end in moved]
    repository.insert_withheld(unit, kept, None)


def _place(text: str, gone: Sequence[Span], place: int) -> int:
    """Where a character outside of `gone` stands once those are marks."""
    before = [span for span in gone if span[1] <= place]
    kept = place - sum(end - start for start, end in before)
    marks = sum(len(blank(text[start:end], [(0, end - start)], MARK)) for start, end in before)
    return kept + marks


def _joined(spans: Sequence[Span], length: int) -> list[Span]:
    """Sorted, merged and within the text."""
    joined: list[Span] = []
    for start, end in sorted((max(0, first), min(length, last)) for first, last in spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
