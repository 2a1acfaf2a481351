"""One change of the record: everything one event writes, in the order the store asks for.

A `Draft` says what an operation decided; `Writing.land` writes the event first and then what
depends on it: identity, texts, versions, evidence, tombstones, withheld spans, vectors, jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, insert, update

from remembrancer.clock import MAX
from remembrancer.conversations import withholding
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.events.kinds import Kind, Opened, Payload
from remembrancer.events.log import Journal, Stamp
from remembrancer.ids import new_id
from remembrancer.index import repository as index_rows
from remembrancer.jobs import names, queue
from remembrancer.memory import repository
from remembrancer.memory.drafts import Draft, Landed, Neighbour, NewTombstone, Vectors
from remembrancer.memory.models import Quote
from remembrancer.memory.tables import evidence, memories, paths, texts, versions
from remembrancer.scope import Actor
from remembrancer.text.analyse import pack_terms, term_counts
from remembrancer.text.normalise import fingerprint, tombstone_tokens
from remembrancer.tombstones import repository as graves

__all__ = ["Neighbour", "Vectors", "Writing"]

_ADD_MEMORY: Final = insert(memories)
_ADD_TEXT: Final = insert(texts)
_ADD_VERSION: Final = insert(versions)
_ADD_EVIDENCE: Final = insert(evidence)
_ADD_PATH: Final = insert(paths)
_CLOSE: Final = (
    update(versions)
    .where(versions.c.user_id == OWNER, versions.c.id == bindparam("closing"))
    .values(
        recorded_to=bindparam("until"),
        closed_seq=bindparam("by"),
        changed_at_seq=bindparam("moved"),
    )
)
_REVISE: Final = (
    update(memories)
    .where(memories.c.user_id == OWNER, memories.c.id == bindparam("memory"))
    .values(revision=bindparam("to_revision"), changed_at=bindparam("then"))
)
_RANK: Final = (
    update(memories)
    .where(memories.c.user_id == OWNER, memories.c.id == bindparam("memory"))
    .values(pin_rank=bindparam("rank"))
)


class Writing:
    """A unit, its journal, and who writes. One for each transaction."""

    __slots__ = ("actor", "cause", "journal", "unit", "vectors")

    def __init__(
        self,
        unit: Unit,
        journal: Journal,
        actor: Actor,
        *,
        vectors: Vectors | None = None,
        cause: str | None = None,
    ) -> None:
        self.unit = unit
        self.journal = journal
        self.actor = actor
        self.vectors = vectors or Vectors()
        self.cause = cause

    def path_id(self, path: str) -> UUID | None:
        """The id of a path's words, stored when new; None for no path."""
        if not path:
            return None
        found = repository.path_id(self.unit, path)
        if found is None:
            found = new_id()
            self.unit.insert(_ADD_PATH, id=found, text=path)
        return found

    def land(self, kind: Kind, draft: Draft) -> Landed:
        """Write the event, then everything the draft holds."""
        draft.tombstones = [each for each in draft.tombstones if tombstone_tokens(each.text)]
        revision = self._revision(draft) + draft.revises
        stamp = self.journal.append(
            kind,
            self.actor,
            self._payload(draft),
            subject=draft.memory_id,
            revision=revision if draft.revises else None,
            cause=self.cause,
        )
        self._write_identity(draft, stamp, revision)
        moved = self.journal.touch_index()
        self._write_versions(draft, stamp, moved)
        pending = self._write_vectors(draft, moved)
        self._write_tombstones(draft, stamp, moved)
        if draft.quote is not None:
            self._write_evidence(draft.memory_id, draft.quote, stamp)
        return Landed(stamp, revision, pending)

    def note(self, kind: Kind, subject: UUID | None, **notes: str | int | None) -> Stamp:
        """An event that changes no version."""
        return self.journal.append(
            kind, self.actor, Payload(notes=notes), subject=subject, cause=self.cause
        )

    def rank(self, memory_id: UUID, rank: int | None) -> None:
        """Set the place in the profile's order."""
        self.unit.run(_RANK, memory=memory_id, rank=rank)

    def _revision(self, draft: Draft) -> int:
        if draft.new:
            return 0
        found = repository.find_identity(self.unit, draft.memory_id)
        return 0 if found is None else found.revision

    def _payload(self, draft: Draft) -> Payload:
        return Payload(
            opened=tuple(
                Opened(
                    version=each.id,
                    memory=draft.memory_id,
                    text=each.text_id,
                    type=each.type.value,
                    path=each.path_id,
                    space=each.space_id,
                    trust=each.trust.value,
                    valid_from=each.valid_from,
                    valid_to=each.valid_to,
                    commitment=each.commitment.hex(),
                )
                for each in draft.opens
            ),
            closed=tuple(each.version_id for each in draft.closes),
            made=(*(each.id for each in draft.tombstones), *draft.unlifts),
            lifted=tuple(draft.lifts),
            notes=draft.notes,
        )

    def _write_identity(self, draft: Draft, stamp: Stamp, revision: int) -> None:
        if not draft.revises:
            return
        if not draft.new:
            self.unit.run(
                _REVISE, memory=draft.memory_id, to_revision=revision, then=stamp.recorded_at
            )
            return
        self.unit.insert(
            _ADD_MEMORY,
            id=draft.memory_id,
            revision=revision,
            pin_rank=None,
            meta=draft.meta,
            created_by=self.actor.label,
            created_at=stamp.recorded_at,
            changed_at=stamp.recorded_at,
            event_seq=stamp.seq,
            forgotten_seq=None,
        )

    def _write_versions(self, draft: Draft, stamp: Stamp, moved: int) -> None:
        for text in draft.texts:
            self.unit.insert(
                _ADD_TEXT,
                id=text.id,
                text=text.content,
                fingerprint=fingerprint(text.content),
                salt=text.salt,
                commitment=text.commitment,
                terms=pack_terms(term_counts(text.content)),
                changed_at_seq=moved,
            )
        for old in draft.closes:
            self.unit.run(
                _CLOSE, closing=old.version_id, until=stamp.recorded_at, by=stamp.seq, moved=moved
            )
        for each in draft.opens:
            self.unit.insert(
                _ADD_VERSION,
                id=each.id,
                memory_id=draft.memory_id,
                text_id=each.text_id,
                type=each.type.value,
                path_id=each.path_id,
                space_id=each.space_id,
                trust=each.trust.value,
                valid_from=each.valid_from,
                valid_to=each.valid_to,
                recorded_from=stamp.recorded_at,
                recorded_to=MAX,
                opened_seq=stamp.seq,
                closed_seq=None,
                changed_at_seq=moved,
            )

    def _write_vectors(self, draft: Draft, moved: int) -> bool:
        """Store the vectors there are; ask for the missing ones. True when one is missing."""
        rows = []
        pending = False
        for text in draft.texts:
            vector = self.vectors.by_content.get(text.content)
            if vector is None or self.vectors.space is None:
                pending = True
            else:
                rows.append(index_rows.VectorRow(text.id, fingerprint(text.content), vector))
        if rows and self.vectors.space is not None:
            index_rows.put_vectors(self.unit, self.vectors.space, rows, moved)
        if pending:
            self.ask_for_vectors()
        return pending

    def ask_for_vectors(self) -> None:
        """Enqueue the one job that completes what lacks a vector."""
        queue.enqueue(self.unit, lane="index", name=names.VECTORS, coalesce_key="")

    def _write_evidence(self, memory_id: UUID, quote: Quote, stamp: Stamp) -> None:
        self.unit.insert(
            _ADD_EVIDENCE,
            id=new_id(),
            memory_id=memory_id,
            chat_id=quote.chat_id,
            message_id=quote.message_id,
            model=quote.model,
            quote=quote.text,
            deleted_at=None,
            event_seq=stamp.seq,
        )

    def _write_tombstones(self, draft: Draft, stamp: Stamp, moved: int) -> None:
        for each in draft.tombstones:
            graves.make(
                self.unit,
                each.kind,
                each.text,
                tombstone_id=each.id,
                memory_id=draft.memory_id,
                event_seq=stamp.seq,
            )
            self.withhold(draft.memory_id, each, stamp, moved)
        if draft.unlifts:
            graves.unlift(self.unit, draft.unlifts)
            self._withhold_again(draft.unlifts, stamp, moved)
        if draft.lifts:
            graves.lift(self.unit, draft.lifts, stamp.seq)
            if withholding.unwithhold(self.unit, draft.lifts, moved):
                self.ask_for_vectors()

    def withhold_by_digest(self, stones: Sequence[UUID], event_seq: int, moved: int) -> None:
        """Keep from recall the sentences that say the values of these tombstones."""
        if withholding.withhold_again(self.unit, stones, event_seq=event_seq, index_seq=moved):
            self.ask_for_vectors()

    def _withhold_again(self, stones: list[UUID], stamp: Stamp, moved: int) -> None:
        """For tombstones that are in force again: what they kept from recall before."""
        self.withhold_by_digest(stones, stamp.seq, moved)
        for each in filter(None, (graves.get(self.unit, stone) for stone in stones)):
            if each.text is not None and each.memory_id is not None:
                again = NewTombstone(each.kind, each.text, id=each.id)
                self.withhold(each.memory_id, again, stamp, moved)

    def withhold(self, memory_id: UUID, grave: NewTombstone, stamp: Stamp, moved: int) -> None:
        """Keep from recall the sentences the value rested on, and those that state it."""
        quotes = grave.quotes
        if quotes is None:
            quotes = tuple(
                (each.message_id, each.quote)
                for each in repository.evidence_of(self.unit, memory_id)
                if each.message_id is not None and each.quote
            )
        changed = withholding.withhold(
            self.unit,
            tombstone_id=grave.id,
            value=grave.text if grave.searches else None,
            quotes=list(quotes),
            event_seq=stamp.seq,
            index_seq=moved,
        )
        if changed:
            self.ask_for_vectors()
