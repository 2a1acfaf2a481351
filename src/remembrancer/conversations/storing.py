"""Storing a conversation: idempotent by content, in units of bounded size.

    plan = planning.plan(conversation, AuthoredBy.PERSON)      # no unit: checks everything
    words = db.read_now(scope, lambda unit: to_embed(unit, plan))
    ...                                                        # embed them, outside of any unit
    db.write_now(scope, lambda unit: store(unit, journal, plan, vectors=...))   # until not `more`

Every new text is scanned for live tombstones: sentences that say a value are withheld from the
start. No event is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from remembrancer import tombstones
from remembrancer.clock import Instant
from remembrancer.conversations import branches, naming, repository
from remembrancer.conversations.locating import Located, locate
from remembrancer.conversations.models import IncomingMessage
from remembrancer.conversations.planning import TAIL, Link, Plan, begins_session
from remembrancer.conversations.repository import Withheld
from remembrancer.conversations.skeletons import top_of
from remembrancer.conversations.words import embedded_words, made_from, packed_terms
from remembrancer.db.units import Unit
from remembrancer.events.log import Journal
from remembrancer.ids import new_id
from remembrancer.index.repository import VectorRow, put_vectors
from remembrancer.text.spans import Span, blank

UNIT_MESSAGES: Final = 200
"""How many messages one unit stores (decisions: bulk work commits every ≤ 200 rows)."""


@dataclass(frozen=True, slots=True)
class MessageVectors:
    """What was embedded beforehand: stored vectors by `made_from`, in one embedding space."""

    space: int
    by_made_from: Mapping[bytes, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that was stored; `pending` when its vector is still to come."""

    id: UUID
    words: str
    """What its vector is made from; "" when it needs none."""
    made_from: bytes
    pending: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """What one call stored."""

    chat_id: UUID
    created: bool
    """The chat is new."""
    new: tuple[NewMessage, ...]
    known: int
    """Messages that were there before."""
    more: bool
    """Not all of it was stored: call again in another unit."""
    edited_away: tuple[UUID, ...]
    """Messages that are no longer on the live branch."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A message that others may follow. `visible` is None until somebody needs it."""

    id: UUID
    said_at: Instant
    session: int
    incoming: IncomingMessage | None
    visible: str | None
    speaker: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message will stand. `apart`: it begins a session."""

    index: int
    position: int
    session: int
    before: _Node | None
    apart: bool


@dataclass(frozen=True, slots=True)
class _Draft:
    """A message about to be inserted."""

    node: _Node
    parent_id: UUID | None
    position: int
    incoming: IncomingMessage
    digest: bytes
    author: str
    spans: list[Withheld]
    words: str


def to_embed(unit: Unit, plan: Plan) -> list[tuple[bytes, str]]:
    """What to embed before storing: `made_from` and words of each message not stored yet.

    For all of the conversation, however many units it takes.
    """
    located = locate(unit, plan)
    drafts = _drafts(unit, plan, located, len(located.known))
    return [(made_from(each.words), each.words) for each in drafts if each.words]


def missing(unit: Unit, plan: Plan) -> list[int]:
    """The places of the messages that are not stored yet."""
    return [index for index, each in enumerate(locate(unit, plan).known) if each is None]


def store(
    unit: Unit,
    journal: Journal,
    plan: Plan,
    *,
    space_id: UUID | None = None,
    import_id: UUID | None = None,
    vectors: MessageVectors | None = None,
    limit: int = UNIT_MESSAGES,
) -> Stored:
    """Store what isn't stored yet, at most `limit` messages.

    A new chat gets `space_id` and `import_id`; an old one keeps its own. Raises
    `InvalidInputError` when a parent is no message of the chat.
    """
    located = locate(unit, plan)
    known = sum(each is not None for each in located.known)
    drafts = _drafts(unit, plan, located, limit)
    more = len(located.known) - known > len(drafts)
    if located.chat is not None and not drafts:
        return Stored(located.chat.id, False, (), known, more, ())
    index_seq = journal.touch_index()
    chat_id = _chat_id(unit, plan, located, space_id, import_id)
    _insert(unit, chat_id, drafts, index_seq)
    new = _write_vectors(unit, drafts, vectors, index_seq)
    away = branches.settle(unit, chat_id, index_seq) if _branches(located, drafts) else []
    return Stored(chat_id, located.chat is None, new, known, more, tuple(away))


def _chat_id(
    unit: Unit, plan: Plan, located: Located, space_id: UUID | None, import_id: UUID | None
) -> UUID:
    if located.chat is not None:
        return located.chat.id
    chat_id = new_id()
    repository.insert_chat(
        unit,
        id=chat_id,
        source=plan.conversation.source,
        external_id=located.external_id,
        space_id=space_id,
        title=naming.without_forgotten(unit, plan.conversation.title, ""),
        import_id=import_id,
    )
    return chat_id


def _drafts(unit: Unit, plan: Plan, located: Located, limit: int) -> list[_Draft]:
    """The first `limit` messages that are not stored yet, placed and scanned."""
    chat = located.chat
    position, session = top_of(unit, chat.id) if chat is not None else (-1, -1)
    nodes = _known_nodes(unit, plan, located, limit)
    scanner = tombstones.scanner(unit)
    called: dict[str, str] = {}
    drafts: list[_Draft] = []
    for index, message in enumerate(plan.conversation.messages):
        if located.known[index] is not None:
            continue
        if len(drafts) == limit:
            break
        before = _before(plan, located, index, nodes)
        apart = before is None or begins_session(before.incoming, before.said_at, message)
        session += apart
        position += 1
        own = session if before is None or apart else before.session
        place = _Place(index, position, own, before, apart)
        if scanner is not None and message.speaker not in called:
            called[message.speaker] = naming.without_forgotten(
                unit, message.speaker, naming.SOMEONE
            )
        named = replace(message, speaker=called.get(message.speaker, message.speaker))
        draft = _draft(plan, located, place, named, scanner)
        nodes[index] = draft.node
        drafts.append(draft)
    return drafts


def _draft(
    plan: Plan,
    located: Located,
    place: _Place,
    message: IncomingMessage,
    scanner: tombstones.Scanner | None,
) -> _Draft:
    message_id = new_id()
    found = {} if scanner is None else scanner.spans(message.text)
    spans = [Withheld(message_id, span, stone) for stone, those in found.items() for span in those]
    hidden: list[Span] = [each.span for each in spans]
    visible = blank(message.text, hidden) if hidden else message.text
    previous = None if place.apart else place.before
    words = embedded_words(
        "" if previous is None else previous.visible or "",
        visible,
        previous_speaker="" if previous is None else previous.speaker,
        speaker=message.speaker,
    )
    return _Draft(
        node=_Node(message_id, message.said_at, place.session, message, visible, message.speaker),
        parent_id=None if place.before is None else place.before.id,
        position=place.position,
        incoming=message,
        digest=located.digests[place.index],
        author=plan.author(message).value,
        spans=spans,
        words=words,
    )


def _known_nodes(unit: Unit, plan: Plan, located: Located, limit: int) -> dict[Link, _Node]:
    """The stored messages that new ones follow, by place in the list, `TAIL` or id."""
    wanted: dict[Link, UUID] = {}
    left = limit
    for index, link in enumerate(plan.links):
        if located.known[index] is not None:
            continue
        if not left:
            break
        left -= 1
        stored = _stored_link(located, link)
        if stored is not None:
            wanted[link] = stored
    there = repository.messages_by_id(unit, wanted.values())
    nodes: dict[Link, _Node] = {}
    for link, stored in wanted.items():
        each = there[stored]
        incoming = (
            plan.conversation.messages[link] if isinstance(link, int) and link != TAIL else None
        )
        nodes[link] = _Node(
            each.id, each.said_at, each.session, incoming, each.visible, each.speaker
        )
    return nodes


def _stored_link(located: Located, link: Link) -> UUID | None:
    if isinstance(link, UUID):
        return link
    if link == TAIL:
        return None if located.tail is None else located.tail.id
    known = located.known[link] if isinstance(link, int) else None
    return UUID(bytes=known) if isinstance(known, bytes) else known


def _before(plan: Plan, located: Located, index: int, nodes: Mapping[Link, _Node]) -> _Node | None:
    link = plan.links[index]
    if link is None or (link == TAIL and located.tail is None):
        return None
    return nodes[link]


def _insert(unit: Unit, chat_id: UUID, drafts: Sequence[_Draft], index_seq: int) -> None:
    repository.insert_messages(
        unit,
        (
            {
                "id": each.node.id,
                "chat_id": chat_id,
                "parent_id": each.parent_id,
                "position": each.position,
                "session": each.node.session,
                "digest": each.digest,
                "role": each.incoming.role.value,
                "speaker": each.incoming.speaker,
                "authored_by": each.author,
                "said_at": each.incoming.said_at,
                "text": each.incoming.text,
                "terms": packed_terms(each.node.visible or ""),
                "live": 1,
                "changed_at_seq": index_seq,
            }
            for each in drafts
        ),
    )
    repository.insert_withheld(unit, (span for each in drafts for span in each.spans), None)


def _write_vectors(
    unit: Unit, drafts: Sequence[_Draft], vectors: MessageVectors | None, index_seq: int
) -> tuple[NewMessage, ...]:
    """Store the vectors that fit the words as they came out; the others are pending."""
    rows: list[VectorRow] = []
    new: list[NewMessage] = []
    for each in drafts:
        digest = made_from(each.words)
        vector = vectors.by_made_from.get(digest) if vectors and each.words else None
        if vector is not None:
            rows.append(VectorRow(each.node.id, digest, vector))
        pending = bool(each.words) and vector is None
        new.append(NewMessage(each.node.id, each.words, digest, pending))
    if vectors is not None and rows:
        put_vectors(unit, vectors.space, rows, index_seq)
    return tuple(new)


def _branches(located: Located, drafts: Sequence[_Draft]) -> bool:
    """Whether the new messages do more than prolong the live branch."""
    tip = None if located.tail is None else located.tail.id
    for each in drafts:
        if each.parent_id != tip:
            return True
        tip = each.node.id
    return False
