"""Reading spaces, chats and messages, and the plain inserts. Constant statements.

What is withheld, redacted or deleted has modules of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    Executable,
    Row,
    bindparam,
    func,
    insert,
    select,
    update,
)

from remembrancer.conversations.models import AuthoredBy, Chat, Message, Role, SpaceInfo
from remembrancer.conversations.sieve import may_hold
from remembrancer.conversations.tables import chats, messages, spaces, withheld
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import NotFoundError
from remembrancer.text.normalise import is_run_length, tombstone_tokens
from remembrancer.text.spans import Span, contains_quote, stands_apart

T = TypeVar("T")

BOUND: Final = 500
"""How many values one statement is given at most."""

_s, _c, _m, _w = spaces.c, chats.c, messages.c, withheld.c
_IDS: Final[BindParameter[UUID]] = bindparam("ids", expanding=True)

_SPACES: Final = select(_s.id, _s.name, _s.created_at).where(_s.user_id == OWNER).order_by(_s.name)
_SPACE_NAMED: Final = _SPACES.where(_s.name == bindparam("called"))
_SPACE: Final = _SPACES.where(_s.id == bindparam("space"))
_NEW_SPACE: Final = insert(spaces)

_COUNTED: Final = (
    select(func.count())
    .select_from(messages)
    .where(_m.user_id == _c.user_id, _m.chat_id == _c.id)
    .scalar_subquery()
    .label("messages")
)
_CHATS: Final = (
    select(
        _c.id,
        _c.source,
        _c.external_id,
        _c.title,
        _c.space_id,
        _c.import_id,
        _c.created_at,
        _COUNTED,
    )
    .where(_c.user_id == OWNER)
    .order_by(_c.created_at, _c.id)
)
_CHAT: Final = _CHATS.where(_c.id == bindparam("chat"))
_CHAT_NAMED: Final = _CHATS.where(
    _c.source == bindparam("origin"), _c.external_id == bindparam("called")
)
_CHATS_OF_IMPORT: Final = _CHATS.where(_c.import_id == bindparam("import"))
_NEW_CHAT: Final = insert(chats)
_MOVE_CHAT: Final = (
    update(chats)
    .where(_c.user_id == OWNER, _c.id == bindparam("chat"))
    .values(space_id=bindparam("to_space"))
)
_TOUCH_CHAT: Final = (
    update(messages)
    .where(_m.user_id == OWNER, _m.chat_id == bindparam("chat"))
    .values(changed_at_seq=bindparam("moved"))
)

_MESSAGE: Final = select(
    _m.id,
    _m.chat_id,
    _m.parent_id,
    _m.position,
    _m.session,
    _m.role,
    _m.speaker,
    _m.authored_by,
    _m.said_at,
    _m.text,
    _m.live,
).where(_m.user_id == OWNER)
_BY_ID: Final = _MESSAGE.where(_m.id.in_(_IDS))
_CHILDREN: Final = _MESSAGE.where(_m.chat_id == bindparam("chat"), _m.parent_id.in_(_IDS))
_OF_CHAT: Final = _MESSAGE.where(_m.chat_id == bindparam("chat")).order_by(_m.position)
_IDS_OF_CHAT: Final = (
    select(_m.id)
    .where(_m.user_id == OWNER, _m.chat_id == bindparam("chat"))
    .order_by(_m.position, _m.id)
)
_TAIL: Final = (
    _MESSAGE.where(_m.chat_id == bindparam("chat"), _m.live == 1)
    .order_by(_m.position.desc())
    .limit(1)
)
_SAID: Final = _MESSAGE.where(_m.role == Role.USER.value, _m.live == 1)
_SAID_IN_CHAT: Final = _SAID.where(_m.chat_id == bindparam("chat")).order_by(_m.position.desc())
_SAID_ANYWHERE: Final = _SAID.where(_m.id < bindparam("before")).order_by(_m.id.desc()).limit(BOUND)
_PAGE: Final = _MESSAGE.where(_m.id > bindparam("after")).order_by(_m.id).limit(bindparam("most"))
_SPANS: Final = select(_w.message_id, _w.span_from, _w.span_to, _w.tombstone_id).where(
    _w.user_id == OWNER, _w.message_id.in_(_IDS)
)
_SPANS_OF: Final = (
    select(_w.message_id).distinct().where(_w.user_id == OWNER, _w.tombstone_id.in_(_IDS))
)
_NEW_MESSAGE: Final = insert(messages)
_NEW_SPAN: Final = insert(withheld)

LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_ID: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Withheld:
    """One withheld span and the tombstone it is withheld for."""

    message_id: UUID
    span: Span
    tombstone_id: UUID


def batched(values: Iterable[T], size: int = BOUND) -> Iterator[list[T]]:
    """The values in lists of at most `size`."""
    left = iter(values)
    while batch := list(islice(left, size)):
        yield batch


def list_spaces(unit: Unit) -> list[SpaceInfo]:
    """The person's spaces, by name."""
    return [_space(row) for row in unit.all(_SPACES)]


def find_space(unit: Unit, name: str) -> SpaceInfo | None:
    """The space of that name."""
    row = unit.first(_SPACE_NAMED, called=name)
    return None if row is None else _space(row)


def space_exists(unit: Unit, space_id: UUID) -> bool:
    """Whether the person has such a space."""
    return unit.first(_SPACE, space=space_id) is not None


def check_space(unit: Unit, space_id: UUID | None) -> None:
    """`NotFoundError` for a space the person hasn't; None is no space, and fine."""
    if space_id is not None and not space_exists(unit, space_id):
        raise NotFoundError(f"There is no space {space_id}.", field="space", value=str(space_id))


def insert_space(unit: Unit, space_id: UUID, name: str, event_seq: int) -> None:
    """A new space; its event was appended before."""
    unit.insert(_NEW_SPACE, id=space_id, name=name, created_at=unit.now, event_seq=event_seq)


def list_chats(unit: Unit) -> list[Chat]:
    """The person's chats, oldest first."""
    return [_chat(row) for row in unit.all(_CHATS)]


def chats_of_import(unit: Unit, import_id: UUID) -> list[Chat]:
    """The chats one import made."""
    return [_chat(row) for row in unit.all(_CHATS_OF_IMPORT, **{"import": import_id})]


def chat(unit: Unit, chat_id: UUID) -> Chat | None:
    """One chat by its id."""
    row = unit.first(_CHAT, chat=chat_id)
    return None if row is None else _chat(row)


def find_chat(unit: Unit, source: str, external_id: str) -> Chat | None:
    """One chat by where it comes from."""
    row = unit.first(_CHAT_NAMED, origin=source, called=external_id)
    return None if row is None else _chat(row)


def insert_chat(unit: Unit, **columns: Any) -> None:
    """A new chat; `created_at` is the unit's now."""
    unit.insert(_NEW_CHAT, **columns, created_at=unit.now)


def move_chat(unit: Unit, chat_id: UUID, space_id: UUID | None, index_seq: int) -> None:
    """Put a chat, and so its messages, into a space or none."""
    unit.run(_MOVE_CHAT, chat=chat_id, to_space=space_id)
    unit.run(_TOUCH_CHAT, chat=chat_id, moved=index_seq)


def insert_messages(unit: Unit, rows: Iterable[Mapping[str, Any]]) -> None:
    """New messages, as column values."""
    unit.insert_many(_NEW_MESSAGE, rows)


def insert_withheld(unit: Unit, spans: Iterable[Withheld], event_seq: int | None) -> None:
    """New withheld spans; no `event_seq` when a message was scanned as it was stored."""
    rows = (
        {
            "message_id": each.message_id,
            "span_from": each.span[0],
            "span_to": each.span[1],
            "tombstone_id": each.tombstone_id,
            "event_seq": event_seq,
        }
        for each in spans
    )
    unit.insert_many(_NEW_SPAN, rows)


def find_message(unit: Unit, message_id: UUID) -> Message | None:
    """One message."""
    return messages_by_id(unit, (message_id,)).get(message_id)


def messages_by_id(unit: Unit, ids: Iterable[UUID]) -> dict[UUID, Message]:
    """These messages, those that there are, by id."""
    return {each.id: each for each in _full(unit, among(unit, _BY_ID, ids))}


def children(unit: Unit, parents: Iterable[Message]) -> list[Message]:
    """The messages that follow these directly, on any branch."""
    by_chat: dict[UUID, list[UUID]] = {}
    for each in parents:
        by_chat.setdefault(each.chat_id, []).append(each.id)
    rows = [
        row
        for chat_id, ids in by_chat.items()
        for batch in batched(ids)
        for row in unit.all(_CHILDREN, chat=chat_id, ids=batch)
    ]
    return _full(unit, rows)


def message_ids(unit: Unit, chat_id: UUID) -> list[UUID]:
    """The ids of a chat's messages, in order of arrival."""
    return [row.id for row in unit.all(_IDS_OF_CHAT, chat=chat_id)]


def chat_messages(unit: Unit, chat_id: UUID) -> list[Message]:
    """A chat's messages on all branches, in order of arrival."""
    return _full(unit, unit.all(_OF_CHAT, chat=chat_id))


def last_message(unit: Unit, chat_id: UUID) -> Message | None:
    """The newest message of a chat's live branch."""
    found = _full(unit, unit.all(_TAIL, chat=chat_id))
    return found[0] if found else None


def page(unit: Unit, after: UUID = FIRST_ID, most: int = BOUND) -> list[Message]:
    """Messages of all chats by id, from the one after `after`."""
    return _full(unit, unit.all(_PAGE, after=after, most=most))


def user_said(
    unit: Unit,
    quote: str,
    *,
    chat_id: UUID | None = None,
    message_id: UUID | None = None,
) -> Message | None:
    """The newest message in which the person wrote `quote`, verbatim; None when there is none.

    Only `user` messages authored by the person, on the live branch, count, and only what of them
    isn't withheld. A `message_id` or a `chat_id` narrows it; both must hold when both are given.
    """
    if message_id is not None:
        found = find_message(unit, message_id)
        if found is None or not is_evidence(found):
            return None
        holds = chat_id in (None, found.chat_id) and contains_quote(found.quotable, quote)
        return found if holds else None
    stands = where_said(unit, quote, chat_id=chat_id)
    return stands if stands is not None and is_evidence(stands) else None


def where_said(unit: Unit, quote: str, *, chat_id: UUID | None = None) -> Message | None:
    """Where `quote` stands: in the newest message that carries it, else the newest the person
    wrote, else one that came with an import or a client's history. Reads what was said once."""
    theirs: Message | None = None
    otherwise: Message | None = None
    for rows in _said(unit, chat_id):
        for each in _full(unit, [row for row in rows if may_hold(row.text, quote)]):
            if not contains_quote(each.quotable, quote):
                continue
            if carries(each, quote):
                return each
            if is_evidence(each):
                theirs = theirs or each
            otherwise = otherwise or each
    return theirs or otherwise


def withheld_spans(unit: Unit, ids: Iterable[UUID]) -> list[Withheld]:
    """What is withheld in these messages, once for each tombstone."""
    return [
        Withheld(row.message_id, (row.span_from, row.span_to), row.tombstone_id)
        for row in among(unit, _SPANS, ids)
    ]


def withheld_for(unit: Unit, tombstone_ids: Iterable[UUID]) -> list[UUID]:
    """The messages in which something is withheld for one of these tombstones."""
    return list({row.message_id for row in among(unit, _SPANS_OF, tombstone_ids)})


def among(unit: Unit, statement: Executable, ids: Iterable[UUID]) -> list[Row[Any]]:
    """The rows of a statement that takes `ids`, asked for in batches."""
    return [row for batch in batched(ids) for row in unit.all(statement, ids=batch)]


def _said(unit: Unit, chat_id: UUID | None) -> Iterator[Sequence[Row[Any]]]:
    """What was said as the person, newest first, as rows in batches."""
    if chat_id is not None:
        yield unit.all(_SAID_IN_CHAT, chat=chat_id)
        return
    before = LAST_ID
    while batch := unit.all(_SAID_ANYWHERE, before=before):
        yield batch
        before = batch[-1].id


def is_evidence(message: Message) -> bool:
    """Whether the person wrote it themselves, and still stands by it."""
    theirs = message.authored_by is AuthoredBy.PERSON
    return message.role is Role.USER and theirs and message.live


def carries(message: Message, quote: str) -> bool:
    """Whether the person's own words in this message are enough to rest a value on.

    The quote stands there as whole words, and is of run length or all the message says.
    """
    if not is_evidence(message) or not stands_apart(message.quotable, quote):
        return False
    tokens = tombstone_tokens(quote)
    return is_run_length(tokens) or tokens == tombstone_tokens(message.text)


def _full(unit: Unit, rows: Sequence[Row[Any]]) -> list[Message]:
    """Messages of these rows, in their order, with what is withheld in them."""
    spans: dict[UUID, list[Span]] = {}
    for each in withheld_spans(unit, [row.id for row in rows]):
        spans.setdefault(each.message_id, []).append(each.span)
    return [
        Message(
            id=row.id,
            chat_id=row.chat_id,
            parent_id=row.parent_id,
            position=row.position,
            session=row.session,
            role=Role(row.role),
            speaker=row.speaker,
            authored_by=AuthoredBy(row.authored_by),
            said_at=row.said_at,
            text=row.text,
            live=bool(row.live),
            withheld=tuple(sorted(set(spans.get(row.id, ())))),
        )
        for row in rows
    ]


def _space(row: Row[Any]) -> SpaceInfo:
    return SpaceInfo(row.id, row.name, row.created_at)


def _chat(row: Row[Any]) -> Chat:
    return Chat(
        id=row.id,
        source=row.source,
        external_id=row.external_id,
        title=row.title,
        space_id=row.space_id,
        import_id=row.import_id,
        created_at=row.created_at,
        messages=row.messages,
    )
