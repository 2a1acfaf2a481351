"""Forgetting: the words go from every version at once, the skeleton and a tombstone stay.

One event a memory. It reaches whatever says the same value: other versions, a twin in another
space, proposals, quotes, and the sentences of messages (withheld, or redacted by the person's
choice). Nothing here can be undone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from remembrancer.conversations import naming, redacting
from remembrancer.conversations import repository as chats
from remembrancer.events.kinds import Kind
from remembrancer.events.log import Stamp
from remembrancer.index import repository as index_rows
from remembrancer.jobs import names, queue
from remembrancer.memory import erasure, proposing, repository, retries, rules
from remembrancer.memory.drafts import Draft, NewTombstone
from remembrancer.memory.models import Forget, Op, Outcome, Status, Trust
from remembrancer.memory.repository import Identity, Standing
from remembrancer.memory.writing import Writing
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
    versions = repository.every_version(writing.unit, found.id)
    values = _values(versions)
    quotes = _quotes(writing, found.id)
    outcome = _forget_one(writing, found, versions, request)
    stating = _stating(writing, values)
    gone = [found.id]
    for twin, says in stating.items():
        if says.twins:
            quotes += _forget_twin(writing, twin, says.twins, request, gone)
    for longer, says in stating.items():
        _propose(writing, longer, says)
    assert outcome.event is not None
    _clear_elsewhere(writing, list(values.values()), quotes, outcome.event)
    clear_store_wide(writing, gone)
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
    versions: list[Standing],
    request: Forget,
    *,
    searches: bool = True,
) -> Outcome:
    """One memory with these versions, which are all it has. `clear_store_wide` is still to do."""
    values = _values(versions)
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
    _clear_texts(writing, versions)
    erasure.clear_about(writing.unit, found.id, landed.stamp.seq)
    return landed.outcome(Status.FORGOTTEN, found.id)


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


def clear_store_wide(writing: Writing, gone: Collection[UUID]) -> None:
    """What is looked through whole, once for all the memories that one act forgot."""
    unit = writing.unit
    retries.clear_about(unit, gone)
    erasure.clear_unused_paths(unit)
    for memory_id in gone:
        queue.cancel_about(unit, str(memory_id))
    queue.enqueue(unit, lane="upkeep", name=names.SCRUB, coalesce_key="")


def _clear_elsewhere(writing: Writing, values: list[str], quotes: list[str], by: int) -> None:
    """What others say of the values, and quote of the sentences they rested on."""
    erasure.clear_stated(writing.unit, [*values, *quotes], by)
    _clear_names(writing, values)
    for value in values:
        graves.clear_texts(writing.unit, value)


def _clear_names(writing: Writing, values: list[str]) -> None:
    """What chats, speakers and spaces are called."""
    redacting.clear_titles(writing.unit, values)
    if naming.clear_names(writing.unit, values, writing.journal.touch_index()):
        writing.ask_for_vectors()


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


def _forget_twin(
    writing: Writing, memory_id: UUID, twins: set[UUID], request: Forget, gone: list[UUID]
) -> list[str]:
    """Another memory that says one of the values loses those versions, not the rest of it.

    Returns the quotes they rested on. One with nothing else to say is forgotten, and put in `gone`.
    """
    versions = repository.every_version(writing.unit, memory_id)
    says = [each for each in versions if each.text_id in twins]
    rest = [each for each in versions if each.text_id not in twins and each.content]
    found = repository.find_identity(writing.unit, memory_id)
    assert found is not None
    if not rest:
        quotes = _quotes(writing, memory_id)
        _forget_one(writing, found, versions, request)
        gone.append(memory_id)
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
    """A longer memory that states a forgotten value is the person's to decide about.

    Until they do, one that no person confirmed is out of prompts.
    """
    if says.longer:
        _demote(writing, memory_id, says)
        found = repository.identity(writing.unit, memory_id)
        proposing.propose(writing, Op.FORGET, target=found.id, base_revision=found.revision)


def _demote(writing: Writing, memory_id: UUID, says: _Says) -> None:
    """From active to candidate, where what is believed now states a forgotten value."""
    standing = repository.believed(writing.unit, memory_id)
    if not any(each.text_id in says.longer and each.trust is Trust.ACTIVE for each in standing):
        return
    draft = Draft(memory_id)
    draft.reopen(standing, trust=Trust.CANDIDATE)
    landed = writing.land(Kind.MEMORY_ORPHANED, draft)
    proposing.record(writing, Op.ADD, target=memory_id, event_seq=landed.stamp.seq)


def clear_all(writing: Writing, *, tombstones: bool) -> int:
    """Forget every memory of the person's. Returns how many; tombstones are their choice."""
    gone: list[UUID] = []
    said: dict[bytes, str] = {}
    last = 0
    for memory_id, found in repository.identities(writing.unit).items():
        if found.forgotten:
            continue
        versions = repository.every_version(writing.unit, memory_id)
        said |= _values(versions)
        request = Forget(memory_id, tombstone=tombstones)
        last = _forget_one(writing, found, versions, request, searches=False).event or last
        gone.append(memory_id)
    if gone:
        clear_store_wide(writing, gone)
    if tombstones and gone:
        stones = [each.id for each in graves.list_all(writing.unit) if not each.lifted]
        writing.withhold_by_digest(stones, last, writing.journal.touch_index())
    _clear_names(writing, list(said.values()))
    graves.clear_every_text(writing.unit)
    return len(gone)


def forget_silently(writing: Writing, memory_id: UUID) -> None:
    """Remove a memory whose source was deleted: words gone, no tombstone (nobody rejected it).

    `clear_store_wide` is still to do.
    """
    found = repository.identity(writing.unit, memory_id)
    versions = repository.every_version(writing.unit, memory_id)
    _forget_one(writing, found, versions, Forget(memory_id, tombstone=False))
