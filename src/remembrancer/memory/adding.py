"""Adding a memory, by the table of duplicates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from remembrancer.clock import MIN, Instant, write
from remembrancer.conversations import repository as chats
from remembrancer.errors import InvalidInputError
from remembrancer.events.kinds import Kind
from remembrancer.ids import new_id
from remembrancer.memory import nearness, origins, proposing, repository, rules, timeline
from remembrancer.memory.carried import words_in
from remembrancer.memory.drafts import Draft, NewText, NewVersion
from remembrancer.memory.models import Add, Op, Outcome, Quote, Status, Trust, as_type
from remembrancer.memory.repository import Standing
from remembrancer.memory.writing import Writing
from remembrancer.scope import ActorKind
from remembrancer.text.limits import check_content, check_meta
from remembrancer.text.normalise import fingerprint
from remembrancer.text.paths import clean_path
from remembrancer.tombstones import repository as graves


@dataclass(frozen=True, slots=True)
class Twins:
    """Who says the same already: believed and overlapping, or only formerly."""

    live: Standing | None
    former: Standing | None
    since: Instant = MIN
    """What was said after this is newer than the end of the former one."""


def check(add: Add) -> Add:
    """The request with its path cleaned; `InvalidInputError` for what breaks a limit."""
    check_content(add.content)
    rules.check_quote(add.quote)
    if add.meta is not None:
        check_meta(add.meta)
    if add.valid_from >= add.valid_to:
        raise InvalidInputError(
            "valid_from is not before valid_to.",
            field="valid_to",
            value=write(add.valid_to),
            limit=f"after {write(add.valid_from)}",
            hint="Both are instants; the end isn't included.",
        )
    return replace(add, path=clean_path(add.path), type=as_type(add.type))


def add(writing: Writing, request: Add) -> Outcome:
    """Store a value, or say why not: duplicate, refused, or only a candidate."""
    refusal = rules.switched_off(writing) or _entombed(writing, request)
    if refusal is not None:
        return refusal
    chats.check_space(writing.unit, request.space)
    placed = rules.place(writing, request.quote, request.content)
    request = replace(request, quote=placed.quote)
    twins = find_twins(writing, request)
    if twins.live is not None:
        return _meet(writing, request, twins.live)
    if twins.former is not None and not writing.actor.is_person:
        if not _is_newer(writing, request.quote, twins.since):
            return _duplicate(writing, twins.former.memory_id)
        return create(writing, request, Trust.CANDIDATE)
    resembled = nearness.resembled(writing, request.content)
    if resembled is not None:
        outcome = create(writing, request, Trust.CANDIDATE, resembles=resembled)
    else:
        outcome = create(writing, request, first_trust(writing, request, placed))
    nearness.propose_merge(writing, request, outcome)
    return outcome


def first_trust(writing: Writing, request: Add, placed: rules.Placed) -> Trust:
    """Confirmed by a person, the importer's choice, or what the person's rule says."""
    if writing.actor.is_person:
        return Trust.CONFIRMED
    if writing.actor.kind is ActorKind.IMPORTER:
        return request.landing or Trust.CANDIDATE
    return rules.landing(writing, placed)


def find_twins(writing: Writing, request: Add) -> Twins:
    """Memories of this person with the same fingerprint, in this space or in none."""
    now = writing.journal.next_recorded_at
    saying = [
        each
        for each in repository.saying(writing.unit, fingerprint(request.content))
        if each.space_id in (None, request.space) and each.trust is not Trust.REJECTED
    ]
    live = next(
        (
            each
            for each in repository.live(saying)
            if timeline.contends(each.rectangle, request.valid_from, request.valid_to, now)
        ),
        None,
    )
    formers = _formers(saying, now)
    return Twins(live, formers[-1], _over_since(formers)) if formers else Twins(live, None)


def _formers(saying: list[Standing], now: Instant) -> list[Standing]:
    """Of those that said the same: what has expired, and what its memory says no more."""
    still = {each.memory_id for each in repository.live(saying)}
    return [
        each
        for each in saying
        if (
            each.rectangle.valid_to <= now
            if each.rectangle.believed
            else each.memory_id not in still
        )
    ]


def _over_since(formers: list[Standing]) -> Instant:
    """When the last of them was over, and known to be."""
    last = formers[-1]
    if not last.rectangle.believed:
        return last.rectangle.recorded_to
    learnt = min(
        each.rectangle.recorded_from
        for each in formers
        if each.memory_id == last.memory_id and each.rectangle.valid_to == last.rectangle.valid_to
    )
    return max(last.rectangle.valid_to, learnt)


def _entombed(writing: Writing, request: Add) -> Outcome | None:
    return rules.entombed(
        writing,
        request.content,
        *rules.words_of(request.quote),
        request.path,
        *words_in(None if request.meta is None else check_meta(request.meta)),
        *words_in(request.origin),
    )


def _is_newer(writing: Writing, quote: Quote | None, since: Instant) -> bool:
    """Whether the quote was said after the same value had ended, and was known to have."""
    if quote is None or quote.message_id is None:
        return False
    said = chats.find_message(writing.unit, quote.message_id)
    return said is not None and said.said_at > since


def _duplicate(writing: Writing, memory_id: UUID) -> Outcome:
    found = repository.identity(writing.unit, memory_id)
    return Outcome(Status.DUPLICATE, id=memory_id, version=found.revision)


def _meet(writing: Writing, request: Add, twin: Standing) -> Outcome:
    """The same value is there already: confirm it, add evidence, or leave it."""
    if writing.actor.is_person:
        if twin.trust is Trust.CONFIRMED:
            return _duplicate(writing, twin.memory_id)
        return replace(confirm_twin(writing, twin.memory_id), status=Status.DUPLICATE)
    if twin.trust not in (Trust.ACTIVE, Trust.CONFIRMED) or request.quote is None:
        return _duplicate(writing, twin.memory_id)
    known = repository.evidence_of(writing.unit, twin.memory_id)
    if any(
        each.quote == request.quote.text and each.message_id == request.quote.message_id
        for each in known
    ):
        return _duplicate(writing, twin.memory_id)
    landed = writing.land(Kind.MEMORY_CORROBORATED, Draft(twin.memory_id, quote=request.quote))
    return landed.outcome(Status.DUPLICATE, twin.memory_id)


def confirm_twin(writing: Writing, memory_id: UUID) -> Outcome:
    """A person says what is there already: it becomes confirmed, its proposal approved."""
    draft = Draft(memory_id)
    draft.reopen(repository.believed(writing.unit, memory_id), trust=Trust.CONFIRMED)
    landed = writing.land(Kind.MEMORY_CONFIRMED, draft)
    proposing.settle_add(writing, memory_id, "approved", landed.stamp.seq)
    return landed.outcome(Status.UPDATED, memory_id)


def create(
    writing: Writing, request: Add, trust: Trust, *, resembles: UUID | None = None
) -> Outcome:
    """A new memory with one version, its evidence, and for a candidate its proposal."""
    text = NewText.of(request.content)
    memory_id = new_id()
    draft = Draft(
        memory_id,
        new=True,
        texts=[text],
        quote=request.quote,
        meta=None if request.meta is None else check_meta(request.meta),
    )
    draft.opens.append(
        NewVersion(
            text.id,
            text.commitment,
            request.type,
            writing.path_id(request.path),
            request.space,
            trust,
            request.valid_from,
            request.valid_to,
        )
    )
    if resembles is not None:
        draft.notes["resembles"] = str(resembles)
    if writing.actor.is_person:
        draft.lifts += [each.id for each in graves.equal(writing.unit, request.content)]
    landed = writing.land(Kind.MEMORY_ADDED, draft)
    if request.import_id is not None:
        origins.record(writing.unit, memory_id, request.import_id, request.origin)
    proposal = None
    if trust is Trust.CANDIDATE:
        proposal = proposing.record(
            writing, Op.ADD, target=memory_id, quote=request.quote, event_seq=landed.stamp.seq
        )
    status = Status.CANDIDATE if trust is Trust.CANDIDATE else Status.CREATED
    return replace(landed.outcome(status, memory_id), proposal=proposal, resembles=resembles)
