"""Keeping sentences from recall and review while they stay readable in their chat.

What states a value or holds a quote is withheld by whole sentences, for a tombstone each. The rest
of the message is analysed anew, and every vector that was made with it goes in the same commit;
new ones come by a job.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from remembrancer import tombstones
from remembrancer.conversations import repository
from remembrancer.conversations.models import Message
from remembrancer.conversations.repository import FIRST_ID, Withheld
from remembrancer.conversations.sieve import Sieve
from remembrancer.conversations.tables import messages, withheld
from remembrancer.conversations.words import packed_terms
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.index.repository import drop_vectors
from remembrancer.text.spans import Span, sentence_spans_with, sentence_spans_with_quote

_m, _w = messages.c, withheld.c

_TEXTS: Final = (
    select(_m.id, _m.text)
    .where(_m.user_id == OWNER, _m.id > bindparam("after"))
    .order_by(_m.id)
    .limit(repository.BOUND)
)
_RESTATE: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.id == bindparam("message"))
    .values(terms=bindparam("to_terms"), changed_at_seq=bindparam("moved"))
)
_TOUCH: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.id == bindparam("message"))
    .values(changed_at_seq=bindparam("moved"))
)
_UNWITHHOLD: Final = delete(withheld).where(
    _w.user_id == OWNER, _w.tombstone_id == bindparam("stone")
)


def withhold(
    unit: Unit,
    *,
    tombstone_id: UUID,
    value: str | None,
    quotes: Iterable[tuple[UUID, str]] = (),
    event_seq: int,
    index_seq: int,
) -> list[UUID]:
    """Withhold what says `value` in any message of the person's, and the sentences with `quotes`.

    A quote is a message's id and verbatim words. Returns the messages whose vectors are gone and
    must be made again (or never, if nothing of them is left); see `refresh`.
    """
    found = list(_saying(unit, value)) if value else []
    found += _quoting(unit, quotes)
    spans = [Withheld(message_id, span, tombstone_id) for message_id, span in found]
    return _insert(unit, spans, event_seq, index_seq)


def withhold_again(
    unit: Unit, tombstone_ids: Iterable[UUID], *, event_seq: int, index_seq: int
) -> list[UUID]:
    """Withhold, by their digests, what says the values of tombstones that are in force again.

    The sentences that only a quote led to can't be found so. Returns what `withhold` does.
    """
    scanner = tombstones.scanner(unit)
    if scanner is None:
        return []
    again = set(tombstone_ids)
    spans: list[Withheld] = []
    after = FIRST_ID
    while rows := unit.all(_TEXTS, after=after):
        after = rows[-1].id
        for row in rows:
            for stone, those in scanner.spans(row.text).items():
                spans += [Withheld(row.id, span, stone) for span in those if stone in again]
    return _insert(unit, spans, event_seq, index_seq)


def _insert(unit: Unit, spans: Iterable[Withheld], event_seq: int, index_seq: int) -> list[UUID]:
    wanted = dict.fromkeys(spans)
    there = set(repository.withheld_spans(unit, {each.message_id for each in wanted}))
    fresh = [each for each in wanted if each not in there]
    repository.insert_withheld(unit, fresh, event_seq)
    return refresh(unit, [each.message_id for each in fresh], index_seq)


def unwithhold(unit: Unit, tombstone_ids: Sequence[UUID], index_seq: int) -> list[UUID]:
    """Give back what was withheld for these tombstones, where no other withholds it too.

    Returns the messages whose vectors must be made again.
    """
    touched = repository.withheld_for(unit, tombstone_ids)
    unit.run_many(_UNWITHHOLD, ({"stone": each} for each in tombstone_ids))
    return refresh(unit, touched, index_seq)


def refresh(unit: Unit, ids: Iterable[UUID], index_seq: int) -> list[UUID]:
    """Bring terms up to what is visible of these messages, and drop the vectors made with them.

    A message's words stand in its own vector and in those of the messages that follow it in its
    session. Returns all of these.
    """
    changed = repository.messages_by_id(unit, dict.fromkeys(ids))
    unit.run_many(
        _RESTATE,
        (
            {"message": each.id, "to_terms": packed_terms(each.visible), "moved": index_seq}
            for each in changed.values()
        ),
    )
    return drop_made_with(unit, changed.values(), index_seq)


def drop_made_with(unit: Unit, changed: Collection[Message], index_seq: int) -> list[UUID]:
    """Drop the vectors of these messages and of those made with their words; all their ids."""
    sessions = {each.id: each.session for each in changed}
    followers = [
        each.id
        for each in repository.children(unit, changed)
        if each.parent_id is not None and each.session == sessions[each.parent_id]
    ]
    affected = list(dict.fromkeys((*sessions, *followers)))
    unit.run_many(_TOUCH, ({"message": each, "moved": index_seq} for each in affected))
    if affected:
        drop_vectors(unit, affected)
    return affected


def _saying(unit: Unit, value: str) -> Iterator[tuple[UUID, Span]]:
    """Every sentence of the person's messages that says the value."""
    sieve = Sieve(value)
    after = FIRST_ID
    while rows := unit.all(_TEXTS, after=after):
        after = rows[-1].id
        for row in rows:
            if sieve.passes(row.text):
                yield from ((row.id, span) for span in sentence_spans_with(row.text, value))


def _quoting(unit: Unit, quotes: Iterable[tuple[UUID, str]]) -> list[tuple[UUID, Span]]:
    wanted = list(quotes)
    there = repository.messages_by_id(unit, {message_id for message_id, _ in wanted})
    return [
        (message_id, span)
        for message_id, quote in wanted
        if message_id in there
        for span in sentence_spans_with_quote(there[message_id].text, quote)
    ]
