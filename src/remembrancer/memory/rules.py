"""What a writer may do: where a new memory lands, and when a machine's change is only proposed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from remembrancer.conversations import repository as chats
from remembrancer.conversations.models import Message
from remembrancer.conversations.naming import SOMEONE, forgotten_in
from remembrancer.errors import StaleVersionError
from remembrancer.events.kinds import Kind
from remembrancer.memory.models import Outcome, Quote, Status, Trust
from remembrancer.memory.repository import Identity
from remembrancer.memory.writing import Writing
from remembrancer.policy.models import MachineWrites
from remembrancer.policy.service import machine_writes, machines_are_off
from remembrancer.text.analyse import term_counts
from remembrancer.text.limits import check_message, check_name
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Kind as Grave
from remembrancer.tombstones.models import Tombstone


@dataclass(frozen=True, slots=True)
class Placed:
    """A quote as it will be stored, and whether the person's own words carry it."""

    quote: Quote | None = None
    said_by_person: bool = False
    """It stands as whole words in a message the person wrote, where it was claimed to; it is long
    enough, or all of that message, and it speaks of what it is given for."""


def landing(writing: Writing, placed: Placed) -> Trust:
    """The state a machine's new value starts in: active only if the person's own words carry it."""
    rule = machine_writes(writing.unit)
    if rule is MachineWrites.ALL:
        return Trust.ACTIVE
    if rule is MachineWrites.QUOTES and placed.said_by_person:
        return Trust.ACTIVE
    return Trust.CANDIDATE


def may_apply(writing: Writing, trust: Trust, placed: Placed) -> bool:
    """Whether a machine's change lands at once: only on what no person confirmed."""
    return trust is Trust.ACTIVE and landing(writing, placed) is Trust.ACTIVE


def switched_off(writing: Writing) -> Outcome | None:
    """A refusal when the person lets no machine write."""
    if not machines_are_off(writing.unit, writing.actor):
        return None
    stamp = writing.note(Kind.MEMORY_REFUSED, None, rule="policy")
    return Outcome(
        Status.REFUSED, event=stamp.seq, code="policy", detail="Memory is off for machines."
    )


def place(writing: Writing, quote: Quote | None, about: str) -> Placed:
    """The quote with the message it stands in; without one that isn't there.

    `about` is the value it is given for. Whether the person said it is asked of the quote as it
    was claimed: one from a message that isn't there stands nowhere.
    """
    unit = writing.unit
    if quote is None:
        return Placed()
    if quote.message_id is not None:
        there = chats.find_message(unit, quote.message_id)
        if there is None:
            return Placed(replace(quote, message_id=None))
        said = chats.user_said(unit, quote.text, chat_id=quote.chat_id, message_id=quote.message_id)
        return Placed(replace(quote, chat_id=there.chat_id), _carries(said, quote, about))
    stands = chats.where_said(unit, quote.text, chat_id=quote.chat_id)
    if stands is None:
        return Placed(quote)
    where = replace(quote, message_id=stands.id, chat_id=stands.chat_id)
    return Placed(where, _carries(stands, quote, about))


def _carries(said: Message | None, quote: Quote, about: str) -> bool:
    """Whether the message carries the quote, and that has a term in common with the value."""
    if said is None or not chats.carries(said, quote.text):
        return False
    return not term_counts(quote.text).keys().isdisjoint(term_counts(about))


def only_a_person(
    writing: Writing, subject: UUID | None, does: str, version: int | None = None
) -> Outcome | None:
    """A refusal, logged, when a machine wants what only a person does."""
    if writing.actor.is_person:
        return None
    stamp = writing.note(Kind.MEMORY_REFUSED, subject, rule="authority")
    return Outcome(
        Status.REFUSED,
        id=subject,
        version=version,
        event=stamp.seq,
        code="authority",
        detail=f"Only a person {does}.",
    )


def entombed(writing: Writing, content: str, *carried: str | None) -> Outcome | None:
    """A refusal, logged and counted, when a machine brings back a tombstoned value.

    `carried` are words that would be stored beside the content (a quote, a path, meta): in them
    only what was forgotten counts, since what was rejected may be shown again to be decided about.
    """
    if writing.actor.is_person:
        return None
    matches = graves.live_match(writing.unit, content) or [
        grave
        for words in (*carried, writing.actor.name)
        if words
        for grave in graves.live_match(writing.unit, words)
        if grave.kind is Grave.FORGOTTEN
    ]
    if not matches:
        return None
    grave = _strongest(matches)
    if forgotten_in(writing.unit, writing.actor.name) is not None:
        nameless = replace(writing.actor, name=SOMEONE)
        writing = Writing(writing.unit, writing.journal, nameless, cause=writing.cause)
    stamp = writing.note(
        Kind.MEMORY_REFUSED, grave.memory_id, rule="tombstone", tombstone=str(grave.id)
    )
    graves.record_attempt(writing.unit, grave.id, writing.actor, stamp.seq)
    return Outcome(
        Status.REFUSED,
        event=stamp.seq,
        code="tombstoned",
        detail=f"The person asked for this to stay {grave.kind.value}.",
    )


def words_of(quote: Quote | None) -> tuple[str | None, ...]:
    """What is stored of a quote as it was given: its words, and the model's name."""
    return () if quote is None else (quote.text, quote.model)


def _strongest(matches: list[Tombstone]) -> Tombstone:
    order = (Grave.FORGOTTEN, Grave.REJECTED, Grave.REFUTED)
    return min(matches, key=lambda each: order.index(each.kind))


def check_quote(quote: Quote | None) -> None:
    """`InvalidInputError` for a quote that no message can hold."""
    if quote is not None:
        check_message(quote.text, field="quote")
        if quote.model is not None:
            check_name(quote.model, "model", 200)


def check_version(found: Identity, expected: int | None) -> None:
    """`StaleVersionError` unless the expected version is the current one (or none was given)."""
    if expected is not None and expected != found.revision:
        raise StaleVersionError(
            f"The memory changed: it is at version {found.revision}, not {expected}.",
            field="expected_version",
            value=expected,
            limit=found.revision,
            hint="Read it again, then decide.",
        )
