"""Corrections with a meaning, retractions, and moves: the memory stays, what it says changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from remembrancer.clock import Instant, write
from remembrancer.conversations import repository as chats
from remembrancer.errors import DuplicateError, InvalidInputError, TransitionError
from remembrancer.events.kinds import Kind
from remembrancer.memory import nearness, proposing, repository, rules, timeline
from remembrancer.memory.drafts import Draft, NewText, NewTombstone, NewVersion
from remembrancer.memory.models import (
    Correct,
    Meaning,
    Move,
    Op,
    Outcome,
    Retract,
    Status,
    Trust,
    Type,
    as_type,
)
from remembrancer.memory.repository import Identity, Standing
from remembrancer.memory.timeline import Piece, Says
from remembrancer.memory.writing import Writing
from remembrancer.text.limits import check_content
from remembrancer.text.normalise import fingerprint
from remembrancer.text.paths import clean_path
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Kind as Grave


@dataclass(frozen=True, slots=True)
class _Subject:
    """A memory about to change: its row, what is believed, and the rectangle that is meant."""

    identity: Identity
    believed: list[Standing]
    meant: Standing


def _subject(
    writing: Writing, memory_id: UUID, expected: int | None, valid_at: Instant | None
) -> _Subject:
    found = repository.identity(writing.unit, memory_id)
    rules.check_version(found, expected)
    standing = repository.believed(writing.unit, memory_id)
    if any(each.trust is Trust.REJECTED for each in standing):
        raise TransitionError(
            "A rejected memory can't be corrected.",
            field="trust",
            value="rejected",
            hint="Confirm it first, or add the right value.",
        )
    now = writing.journal.next_recorded_at
    chosen = timeline.target(
        [each.rectangle for each in standing], now if valid_at is None else valid_at
    )
    meant = next(each for each in standing if each.rectangle is chosen)
    return _Subject(found, standing, meant)


def _pieces(
    rectangle: timeline.Rectangle[UUID], meaning: Meaning, at: Instant | None, now: Instant
) -> tuple[Piece, ...]:
    if meaning is Meaning.WAS_WRONG:
        if at is not None:
            raise InvalidInputError(
                "was_wrong takes no date.", field="at", hint="Say changed_at with a date, or none."
            )
        return timeline.was_wrong(rectangle)
    if at is None and meaning is Meaning.CHANGED:
        raise InvalidInputError(
            "changed_at needs to know when.", field="at", hint="Give a date or an instant."
        )
    return timeline.changed_at(rectangle, now if at is None else at)


def correct(writing: Writing, request: Correct) -> Outcome:
    """Replace a value. By a person it lands; by a machine it lands or is proposed, by the rule."""
    check_content(request.content)
    rules.check_quote(request.quote)
    placed = rules.place(writing, request.quote, request.content)
    request = replace(request, quote=placed.quote)
    subject = _subject(writing, request.memory_id, request.expected_version, request.valid_at)
    refusal = rules.switched_off(writing) or rules.entombed(
        writing, request.content, *rules.words_of(request.quote), request.path
    )
    if refusal is not None:
        return refusal
    old = subject.meant
    path_id = old.path_id if request.path is None else writing.path_id(clean_path(request.path))
    kind = old.type if request.type is None else as_type(request.type)
    if old.content == request.content and (path_id, kind) == (old.path_id, old.type):
        return Outcome(Status.UNCHANGED, id=subject.identity.id, version=subject.identity.revision)
    pieces = _pieces(old.rectangle, request.meaning, request.at, writing.journal.next_recorded_at)
    taken = _taken(writing, request.content, old, pieces[-1].valid_from)
    if taken is not None:
        return taken
    resembled = nearness.resembled(writing, request.content)
    if resembled is not None or not _may_apply(writing, old, placed):
        return replace(_propose_correction(writing, request, subject), resembles=resembled)
    draft = Draft(subject.identity.id, quote=request.quote, notes={"meaning": request.meaning})
    text = NewText.of(request.content)
    draft.texts.append(text)
    trust = Trust.CONFIRMED if writing.actor.is_person else Trust.ACTIVE
    _replace(draft, old, pieces, text, path_id=path_id, type=kind, trust=trust)
    _restate(draft, subject, path_id=path_id, type=kind, trust=trust)
    _bury(writing, draft, request.meaning, old, request.content)
    landed = writing.land(Kind.MEMORY_CORRECTED, draft)
    proposing.settle_add(writing, subject.identity.id, "approved", landed.stamp.seq)
    return landed.outcome(Status.UPDATED, subject.identity.id)


def _may_apply(writing: Writing, old: Standing, placed: rules.Placed) -> bool:
    return writing.actor.is_person or rules.may_apply(writing, old.trust, placed)


def _taken(writing: Writing, content: str, old: Standing, valid_from: Instant) -> Outcome | None:
    """Another live memory says so already: 409 for a person, skipped for a machine."""
    if writing.actor.is_person:
        check_free(writing, content, old, valid_from)
        return None
    other = _other_saying(writing, content, old, valid_from)
    return None if other is None else Outcome(Status.SKIPPED, id=other, code="duplicate_of")


def check_free(writing: Writing, content: str, old: Standing, valid_from: Instant) -> None:
    """`DuplicateError` when another live memory says `content` where `old` stands, from then on."""
    other = _other_saying(writing, content, old, valid_from)
    if other is not None:
        raise DuplicateError(
            f"Memory {other} says that already.",
            field="content",
            value=str(other),
            hint="Archive or retract this one instead.",
        )


def _other_saying(
    writing: Writing, content: str, old: Standing, valid_from: Instant
) -> UUID | None:
    now, valid_to = writing.journal.next_recorded_at, old.rectangle.valid_to
    for each in repository.live(repository.saying(writing.unit, fingerprint(content))):
        if (
            each.memory_id != old.memory_id
            and each.trust is not Trust.REJECTED
            and each.space_id in (None, old.space_id)
            and timeline.contends(each.rectangle, valid_from, valid_to, now)
        ):
            return each.memory_id
    return None


def _propose_correction(writing: Writing, request: Correct, subject: _Subject) -> Outcome:
    return proposing.propose(
        writing,
        Op.CORRECT,
        target=subject.identity.id,
        base_revision=subject.identity.revision,
        text=request.content,
        arguments={
            "meaning": request.meaning.value,
            "at": None if request.at is None else write(request.at),
            "valid_at": None if request.valid_at is None else write(request.valid_at),
            "path": request.path,
            "type": request.type,
        },
        quote=request.quote,
    )


def _replace(
    draft: Draft,
    old: Standing,
    pieces: Iterable[Piece],
    new: NewText | None,
    **changes: object,
) -> None:
    draft.closes.append(old)
    for piece in pieces:
        bounds = {"valid_from": piece.valid_from, "valid_to": piece.valid_to}
        if piece.says is Says.NEW:
            assert new is not None
            says = {"text_id": new.id, "commitment": new.commitment}
            draft.opens.append(NewVersion.again(old, **bounds, **says, **changes))
        else:
            draft.opens.append(NewVersion.again(old, **bounds, **changes))


def _restate(draft: Draft, subject: _Subject, **changes: object) -> None:
    """Trust, type, path and space are the memory's: what changes them changes every rectangle."""
    others = (each for each in subject.believed if each is not subject.meant)
    draft.reopen(
        (
            each
            for each in others
            if any(getattr(each, name) != value for name, value in changes.items())
        ),
        **changes,
    )


def _bury(
    writing: Writing, draft: Draft, meaning: Meaning, old: Standing, content: str | None
) -> None:
    """A value that was wrong gets a tombstone; one that a person states again loses its own."""
    if content is not None and writing.actor.is_person:
        draft.lifts += [each.id for each in graves.equal(writing.unit, content)]
    same = content is not None and fingerprint(content) == old.fingerprint
    if meaning is Meaning.WAS_WRONG and old.content is not None and not same:
        draft.tombstones.append(NewTombstone(Grave.REFUTED, old.content))


def retract(writing: Writing, request: Retract) -> Outcome:
    """Stop believing a value, wholly (`was_wrong`) or from a time on, with nothing in its place."""
    rules.check_quote(request.quote)
    subject = _subject(writing, request.memory_id, request.expected_version, request.valid_at)
    placed = rules.place(writing, request.quote, subject.meant.content or "")
    request = replace(request, quote=placed.quote)
    refusal = rules.switched_off(writing) or rules.entombed(
        writing, "", *rules.words_of(request.quote)
    )
    if refusal is not None:
        return refusal
    old = subject.meant
    if request.meaning is Meaning.WAS_WRONG:
        pieces: tuple[Piece, ...] = ()
    else:
        at = writing.journal.next_recorded_at if request.at is None else request.at
        pieces = timeline.ended_at(old.rectangle, at)
    if not _may_apply(writing, old, placed):
        return proposing.propose(
            writing,
            Op.RETRACT,
            target=subject.identity.id,
            base_revision=subject.identity.revision,
            arguments={
                "meaning": request.meaning.value,
                "at": None if request.at is None else write(request.at),
                "valid_at": None if request.valid_at is None else write(request.valid_at),
            },
            quote=request.quote,
        )
    draft = Draft(subject.identity.id, quote=request.quote, notes={"meaning": request.meaning})
    _replace(draft, old, pieces, None)
    _bury(writing, draft, request.meaning, old, None)
    landed = writing.land(Kind.MEMORY_RETRACTED, draft)
    return landed.outcome(Status.UPDATED, subject.identity.id)


def move(writing: Writing, request: Move) -> Outcome:
    """Change path, type or space, on every believed rectangle."""
    found = repository.identity(writing.unit, request.memory_id)
    rules.check_version(found, request.expected_version)
    refusal = rules.switched_off(writing) or rules.entombed(writing, "", request.path)
    if refusal is not None:
        return refusal
    standing = repository.standing(writing.unit, found.id)
    chats.check_space(writing.unit, request.space)
    first = standing[0]
    changes = _moved(writing, request, first)
    if all(getattr(first, name) == value for name, value in changes.items()):
        return Outcome(Status.UNCHANGED, id=found.id, version=found.revision)
    if not _may_apply(writing, first, rules.Placed()):
        return proposing.propose(
            writing,
            Op.MOVE,
            target=found.id,
            base_revision=found.revision,
            arguments={
                "path": request.path,
                "type": request.type,
                "space": None if request.space is None else str(request.space),
                "leave_space": request.leave_space or None,
            },
        )
    draft = Draft(found.id)
    draft.reopen(standing, **changes)
    return writing.land(Kind.MEMORY_MOVED, draft).outcome(Status.UPDATED, found.id)


def _moved(writing: Writing, request: Move, first: Standing) -> dict[str, UUID | Type | None]:
    path_id = first.path_id if request.path is None else writing.path_id(clean_path(request.path))
    space = first.space_id if request.space is None else request.space
    return {
        "path_id": path_id,
        "type": first.type if request.type is None else as_type(request.type),
        "space_id": None if request.leave_space else space,
    }
