"""Forgetting: the words go from every version at once, the skeleton and a tombstone stay.

One event a memory. It reaches whatever says the same value: other versions, a twin in another
space, proposals, quotes, and the sentences of messages (withheld, or redacted by the person's
choice). Nothing here can be undone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from remembrancer.conversations import redacting
from remembrancer.conversations import repository as chats
from remembrancer.events.kinds import Kind
from remembrancer.events.log import Stamp
from remembrancer.index import repository as index_rows
from remembrancer.jobs import names, queue
from remembrancer.memory import erasure, proposing, repository, rules
from remembrancer.memory.models import Forget, Op, Outcome, Status
from remembrancer.memory.repository import Identity, Standing
from remembrancer.memory.writing import Draft, NewTombstone, Writing
from remembrancer.text.normalise import fingerprint, is_run_length, tombstone_tokens
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Kind as Grave


def forget(writing: Writing, request: Forget) -> Outcome:
    """Forget a memory, and every twin that says one of its values. A machine may only propose."""
    found = repository.identity(writing.unit, request.memory_id)
    rules.check_version(found, request.expected_version)
    if not writing.actor.is_person:
        refusal = rules.switched_off(writing)
        return refusal or proposing.propose(
            writing, Op.FORGET, target=found.id, base_revision=found.revision
        )
    values = _values(repository.every_version(writing.unit, found.id))
    quotes = _quotes(writing, found.id)
    outcome = _forget_one(writing, found, values, request)
    stating = _stating(writing, values)
    for twin, says in stating.items():
        if says.twins:
            quotes += _forget_twin(writing, twin, says.twins, request)
    for longer, says in stating.items():
        _propose(writing, longer, says)
    assert outcome.event is not None
    _clear_elsewhere(writing, list(values.values()), quotes, outcome.event)
    return outcome


def _values(versions: list[Standing]) -> dict[bytes, str]:
    """The distinct values of some versions, by fingerprint."""
    return {
        each.fingerprint: each.content
        for each in versions
        if each.content is not None and each.fingerprint is not None
    }


def _forget_one(
    writing: Writing,
    found: Identity,
    values: dict[bytes, str],
    request: Forget,
    *,
    searches: bool = True,
) -> Outcome:
    versions = repository.every_version(writing.unit, found.id)
    draft = Draft(found.id, closes=repository.live(versions))
    draft.notes["versions"] = len(versions)
    draft.notes["redacted"] = int(request.redact)
    if request.tombstone:
        said = [*values.values(), *_quoted_apart(writing, found.id, values)]
        draft.tombstones += [
            NewTombstone(Grave.FORGOTTEN, each, searches=searches) for each in said
        ]
    landed = writing.land(Kind.MEMORY_FORGOTTEN, draft)
    if request.redact:
        _redact(writing, [each.id for each in draft.tombstones])
    _clear(writing, found.id, versions, landed.stamp)
    return Outcome(Status.FORGOTTEN, id=found.id, version=landed.revision, event=landed.stamp.seq)


def _redact(writing: Writing, tombstones: list[UUID]) -> None:
    """Take what these tombstones withhold out of the messages for good."""
    touched = chats.withheld_for(writing.unit, tombstones)
    spans: dict[UUID, list[tuple[int, int]]] = {}
    for each in chats.withheld_spans(writing.unit, touched):
        if each.tombstone_id in tombstones:
            spans.setdefault(each.message_id, []).append(each.span)
    moved = writing.journal.touch_index()
    if redacting.redact(writing.unit, spans, index_seq=moved):
        writing.ask_for_vectors()


def _clear(writing: Writing, memory_id: UUID, versions: list[Standing], stamp: Stamp) -> None:
    """The words of one memory, wherever this domain keeps them for it."""
    _clear_texts(writing, versions)
    erasure.clear_about(writing.unit, memory_id, stamp.seq)
    erasure.clear_unused_paths(writing.unit)
    queue.cancel_about(writing.unit, str(memory_id))
    queue.enqueue(writing.unit, lane="upkeep", name=names.SCRUB, coalesce_key="")


def _clear_elsewhere(writing: Writing, values: list[str], quotes: list[str], by: int) -> None:
    """What others say of the values, and quote of the sentences they rested on."""
    erasure.clear_stated(writing.unit, [*values, *quotes], by)
    redacting.clear_titles(writing.unit, values)
    for value in values:
        graves.clear_texts(writing.unit, value)


def _clear_texts(writing: Writing, versions: list[Standing]) -> None:
    text_ids = sorted({each.text_id for each in versions})
    index_rows.drop_vectors(writing.unit, text_ids)
    erasure.clear_texts(writing.unit, text_ids, writing.journal.touch_index())


def _quotes(writing: Writing, memory_id: UUID) -> list[str]:
    """The sentences a memory rests on; what others quote of them goes too."""
    return [each.quote for each in repository.evidence_of(writing.unit, memory_id) if each.quote]


def _quoted_apart(writing: Writing, memory_id: UUID, values: dict[bytes, str]) -> list[str]:
    """Quotes that say more, or other words, than the values: with tombstones of their own, the
    sentences stay withheld when their chat comes back from elsewhere."""
    quotes = {fingerprint(each): each for each in _quotes(writing, memory_id)}
    return [
        quote
        for value, quote in quotes.items()
        if value not in values and is_run_length(tombstone_tokens(quote))
    ]


@dataclass(slots=True)
class _Says:
    """Which of another memory's texts say a forgotten value: as all they say, or within more."""

    twins: set[UUID] = field(default_factory=set)
    longer: set[UUID] = field(default_factory=set)


def _stating(writing: Writing, values: dict[bytes, str]) -> dict[UUID, _Says]:
    """The memories, of any space and state, that say one of the values in any version."""
    found: dict[UUID, _Says] = {}
    for value in values.values():
        wanted = tombstone_tokens(value)
        for text_id, content, memory_ids in repository.containing(writing.unit, value):
            for memory_id in memory_ids:
                says = found.setdefault(memory_id, _Says())
                same = tombstone_tokens(content) == wanted
                (says.twins if same else says.longer).add(text_id)
    return dict(sorted(found.items()))


def _forget_twin(writing: Writing, memory_id: UUID, twins: set[UUID], request: Forget) -> list[str]:
    """Another memory that says one of the values loses those versions, not the rest of it.

    Returns the quotes they rested on.
    """
    versions = repository.every_version(writing.unit, memory_id)
    says = [each for each in versions if each.text_id in twins]
    rest = [each for each in versions if each.text_id not in twins and each.content]
    found = repository.find_identity(writing.unit, memory_id)
    assert found is not None
    if not rest:
        quotes = _quotes(writing, memory_id)
        _forget_one(writing, found, _values(says), request)
        return quotes
    draft = Draft(memory_id, closes=repository.live(says))
    draft.notes["versions"] = len(says)
    landed = writing.land(Kind.MEMORY_FORGOTTEN, draft)
    came_with = sorted({each.opened_seq for each in says})
    placed = repository.quotes_with(writing.unit, memory_id, came_with)
    if request.tombstone:
        _withhold_with(writing, memory_id, placed, says[0], landed.stamp)
    _clear_texts(writing, says)
    erasure.clear_evidence(writing.unit, memory_id, came_with)
    return [quote for _, quote in placed]


def _withhold_with(
    writing: Writing,
    memory_id: UUID,
    placed: list[tuple[UUID, str]],
    said: Standing,
    stamp: Stamp,
) -> None:
    """Withhold the sentences a twin's forgotten versions rested on, for the value's tombstone."""
    assert said.content is not None
    there = graves.equal(writing.unit, said.content)
    if there and placed:
        grave = NewTombstone(Grave.FORGOTTEN, said.content, quotes=tuple(placed), id=there[0].id)
        writing.withhold(memory_id, grave, stamp, writing.journal.touch_index())


def _propose(writing: Writing, memory_id: UUID, says: _Says) -> None:
    """A longer memory that states a forgotten value is the person's to decide about."""
    if says.longer:
        found = repository.identity(writing.unit, memory_id)
        proposing.propose(writing, Op.FORGET, target=found.id, base_revision=found.revision)


def clear_all(writing: Writing, *, tombstones: bool) -> int:
    """Forget every memory of the person's. Returns how many; tombstones are their choice."""
    count = 0
    said: dict[bytes, str] = {}
    last = 0
    for memory_id, found in repository.identities(writing.unit).items():
        if found.forgotten:
            continue
        values = _values(repository.every_version(writing.unit, memory_id))
        request = Forget(memory_id, tombstone=tombstones)
        last = _forget_one(writing, found, values, request, searches=False).event or last
        said |= values
        count += 1
    if tombstones and count:
        stones = [each.id for each in graves.list_all(writing.unit) if not each.lifted]
        writing.withhold_by_digest(stones, last, writing.journal.touch_index())
    redacting.clear_titles(writing.unit, list(said.values()))
    graves.clear_every_text(writing.unit)
    return count


def forget_silently(writing: Writing, memory_id: UUID) -> None:
    """Remove a memory whose source was deleted: words gone, no tombstone (nobody rejected it)."""
    found = repository.identity(writing.unit, memory_id)
    versions = repository.every_version(writing.unit, memory_id)
    request = Forget(memory_id, tombstone=False)
    _forget_one(writing, found, _values(versions), request)
