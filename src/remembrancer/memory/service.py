"""The one gateway: every change of the record, from whatever surface, passes `MemoryService`.

It sets actor and trust itself, embeds before the transaction opens, runs each batch in one write
unit, and answers per operation. Reading goes through it as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

import structlog

from remembrancer.clock import Instant
from remembrancer.db.database import Database
from remembrancer.db.units import Unit
from remembrancer.embeddings.serving import SpaceInUse
from remembrancer.embeddings.worker import EmbeddingWorker
from remembrancer.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    RemembrancerError,
)
from remembrancer.events import log
from remembrancer.events.kinds import Kind
from remembrancer.events.log import Event, journal
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.jobs import names, queue
from remembrancer.memory import (
    adding,
    checks,
    correcting,
    deciding,
    forgetting,
    orphaning,
    proposing,
    reading,
    retries,
    rules,
    undoing,
    verifying,
)
from remembrancer.memory.embedding import NewWords
from remembrancer.memory.models import (
    Add,
    Correct,
    Filter,
    Forget,
    History,
    Meaning,
    Memory,
    Move,
    Operation,
    Outcome,
    Pin,
    Proposal,
    Retract,
    SetTrust,
    Status,
    Undo,
)
from remembrancer.memory.orphaning import Choice, Deleted
from remembrancer.memory.writing import Vectors, Writing
from remembrancer.policy import service as policy
from remembrancer.policy.models import MachineWrites
from remembrancer.scope import Actor, Scope
from remembrancer.tombstones import repository as graves
from remembrancer.tombstones.models import Tombstone

T = TypeVar("T")
_log: Final = structlog.get_logger(__name__)
STATES: Final = ("open", "approved", "rejected", "expired")
"""Of a proposal."""
BATCH_LIMIT: Final = 1000
PATIENCE: Final = 30.0
"""Seconds a write outside a server waits for the embedder."""


@dataclass(frozen=True, slots=True)
class Request:
    """A batch of operations by one actor. `wait` bounds the embedder, in seconds."""

    operations: Sequence[Operation]
    actor: Actor
    atomic: bool = False
    idempotency_key: str | None = None
    cause: str | None = None
    wait: float = PATIENCE


def perform(writing: Writing, operation: Operation) -> Outcome:
    """Run one operation in an open unit."""
    checks.check_moments(operation)
    match operation:
        case Add():
            return adding.add(writing, adding.check(operation))
        case Correct():
            return correcting.correct(writing, operation)
        case Retract():
            return correcting.retract(writing, operation)
        case Move():
            return correcting.move(writing, operation)
        case SetTrust():
            return deciding.set_trust(writing, operation)
        case Pin():
            return deciding.pin(writing, operation)
        case Forget():
            return forgetting.forget(writing, operation)
        case Undo():
            return undoing.undo(writing, operation)


def _digest(request: Request) -> bytes:
    """What a retry must repeat to be the same request."""
    written = f"[{', '.join(checks.written(each) for each in request.operations)}]"
    return hashlib.sha256(f"{request.actor}\n{written}".encode()).digest()


class MemoryService:
    """Reads and writes one store's memories. Writing asks `space` for vectors; reading never
    waits for the embedder."""

    def __init__(
        self,
        db: Database,
        worker: EmbeddingWorker,
        space: SpaceInUse,
        indexes: PersonalIndexes | None = None,
    ) -> None:
        self.db = db
        self._indexes = indexes
        self._worker = worker
        self._space = space
        self._embedding = NewWords(db, space.serving, indexes)

    async def apply(self, scope: Scope, request: Request) -> Sequence[Outcome]:
        """Carry out a batch; one outcome an operation, in order.

        A failing operation is an `ERROR` outcome and leaves the others alone, unless `atomic`: then
        it raises, and nothing of the batch is stored.
        """
        if not 1 <= len(request.operations) <= BATCH_LIMIT:
            raise InvalidInputError(
                f"A batch has {len(request.operations)} operations.",
                field="operations",
                value=len(request.operations),
                limit=BATCH_LIMIT,
            )
        vectors = await self._embedding.of(scope, _texts(request.operations), request.wait)
        digest = None if request.idempotency_key is None else _digest(request)
        outcomes = await self.db.write(
            scope, lambda unit: self._run(unit, request, vectors, digest)
        )
        if any(each.status is Status.FORGOTTEN for each in outcomes):
            await self.sweep(scope)
        return outcomes

    async def sweep(self, scope: Scope) -> bool:
        """After a forget or a deletion: nothing of it stays in caches or beside the tables.

        What was forgotten is forgotten by now, so nothing here fails: False while somebody still
        reads the store as it was, or when the store refuses. The job for it then waits.
        """
        if self._indexes is not None:
            self._indexes.drop(scope.user_id)
        self._worker.drop_queries()
        try:
            done = await self.db.scrub(scope)
            if done:
                await self.db.write(scope, lambda unit: queue.finish_named(unit, names.SCRUB))
        except RemembrancerError as error:
            _log.warning("scrub.failed", code=error.code)
            return False
        return done

    def _run(
        self, unit: Unit, request: Request, vectors: Vectors, digest: bytes | None
    ) -> Sequence[Outcome]:
        key = request.idempotency_key
        with journal(unit) as held:
            if key is not None and digest is not None:
                answered = retries.find(unit, key, digest)
                if answered is not None:
                    return answered
            writing = Writing(unit, held, request.actor, vectors=vectors, cause=request.cause)
            outcomes = [self._step(writing, each, request) for each in request.operations]
            if key is not None and digest is not None:
                retries.keep(unit, key, digest, outcomes)
            return outcomes

    def _step(self, writing: Writing, operation: Operation, request: Request) -> Outcome:
        if request.atomic:
            return perform(writing, operation)
        try:
            with writing.journal.attempt():
                return perform(writing, operation)
        except (InvalidInputError, NotFoundError, ConflictError, RefusedError) as error:
            return Outcome(Status.ERROR, code=error.code, detail=str(error))

    async def write(
        self,
        scope: Scope,
        actor: Actor,
        work: Callable[[Writing], T],
        *,
        vectors: Vectors | None = None,
    ) -> T:
        """Run several steps of this domain in one write unit (imports, deletions, decisions)."""

        def run(unit: Unit) -> T:
            with journal(unit) as held:
                return work(Writing(unit, held, actor, vectors=vectors))

        return await self.db.write(scope, run)

    async def _only_a_person(self, scope: Scope, actor: Actor, does: str) -> None:
        """`RefusedError`, once it is logged, when a machine asks for what only a person does."""
        if not actor.is_person:
            await self.write(scope, actor, lambda writing: rules.only_a_person(writing, None, does))
            raise RefusedError(f"Only a person {does}.", field="authority")

    async def approve(
        self,
        scope: Scope,
        actor: Actor,
        proposal: UUID,
        *,
        meaning: Meaning | None = None,
        at: Instant | None = None,
    ) -> Outcome:
        """Carry out a proposal. Only a person may."""
        await self._only_a_person(scope, actor, "decides about a proposal")
        found = await self.db.read(scope, lambda unit: proposing.get(unit, proposal))
        vectors = await self._embedding.of(
            scope, [found.content] if found.content else [], PATIENCE
        )
        checks.check_moment(at, "changed_at")
        outcome = await self.write(
            scope,
            actor,
            lambda writing: deciding.approve(writing, proposal, meaning=meaning, at=at),
            vectors=vectors,
        )
        if outcome.status is Status.FORGOTTEN:
            await self.sweep(scope)
        return outcome

    async def reject(self, scope: Scope, actor: Actor, proposal: UUID) -> Outcome:
        """Say no to a proposal. Only a person may."""
        await self._only_a_person(scope, actor, "decides about a proposal")
        return await self.write(scope, actor, lambda writing: deciding.reject(writing, proposal))

    async def clear_all(self, scope: Scope, actor: Actor, *, tombstones: bool = True) -> int:
        """Forget everything of a person's; returns how many memories. Only a person may."""
        await self._only_a_person(scope, actor, "forgets")
        count = await self.write(
            scope, actor, lambda writing: forgetting.clear_all(writing, tombstones=tombstones)
        )
        await self.sweep(scope)
        return count

    async def get(
        self,
        scope: Scope,
        memory_id: UUID,
        *,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
    ) -> Memory | None:
        """One memory, as of two times."""
        spaces = await self._space.known()
        return await self.db.read(
            scope,
            lambda unit: reading.get(
                unit, memory_id, valid_at=valid_at, known_at=known_at, spaces=spaces
            ),
        )

    async def list(self, scope: Scope, wanted: Filter) -> Sequence[Memory]:
        """Memories of the scope, filtered and paged."""
        spaces = await self._space.known()
        return await self.db.read(
            scope, lambda unit: reading.list_memories(unit, wanted, spaces=spaces)
        )

    async def metas(self, scope: Scope, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, object]]:
        """The meta of these memories by id, those that are there."""
        return await self.db.read(scope, lambda unit: reading.metas(unit, ids))

    async def history(self, scope: Scope, memory_id: UUID) -> History:
        """Everything the record holds about one memory."""
        return await self.db.read(scope, lambda unit: reading.history(unit, memory_id))

    async def proposals(self, scope: Scope, state: str = "open") -> Sequence[Proposal]:
        """What waits for the person, oldest first; or what was decided, by its state."""
        if state not in STATES:
            raise InvalidInputError(
                "That state of a proposal is unknown.", field="state", limit=", ".join(STATES)
            )
        return await self.db.read(scope, lambda unit: proposing.in_state(unit, state))

    async def delete_message(
        self, scope: Scope, actor: Actor, message_id: UUID, choice: Choice
    ) -> Deleted:
        """Remove one message; the report says what became of what rested on it."""
        return await self._delete(
            scope, actor, lambda writing: orphaning.delete_message(writing, message_id, choice)
        )

    async def delete_chat(
        self, scope: Scope, actor: Actor, chat_id: UUID, choice: Choice
    ) -> Deleted:
        """Remove a chat; the report says what became of what rested on it."""
        return await self._delete(
            scope, actor, lambda writing: orphaning.delete_chat(writing, chat_id, choice)
        )

    async def delete_import(
        self, scope: Scope, actor: Actor, import_id: UUID, choice: Choice
    ) -> Deleted:
        """Remove what one import brought."""
        return await self._delete(
            scope, actor, lambda writing: orphaning.delete_import(writing, import_id, choice)
        )

    async def _delete(
        self, scope: Scope, actor: Actor, work: Callable[[Writing], Deleted]
    ) -> Deleted:
        await self._only_a_person(scope, actor, "deletes what was said")
        report = await self.write(scope, actor, work)
        await self.sweep(scope)
        return report

    async def check_reading(self, scope: Scope, actor: Actor) -> None:
        """`RefusedError` when the actor is a machine and the person lets none read."""
        if await self.db.read(scope, lambda unit: policy.machines_are_off(unit, actor)):
            raise RefusedError(
                "Memory is off for machines.", field="policy", hint="The person can allow it."
            )

    async def machine_writes(self, scope: Scope) -> MachineWrites:
        """The person's rule about machines."""
        return await self.db.read(scope, policy.machine_writes)

    async def set_machine_writes(self, scope: Scope, actor: Actor, rule: MachineWrites) -> None:
        """Store the person's rule about machines. Only a person may."""
        await self._only_a_person(scope, actor, "changes their policy")

        def work(writing: Writing) -> None:
            stamp = writing.note(Kind.POLICY_CHANGED, None, machine_writes=rule.value)
            policy.set_machine_writes(writing.unit, rule, event_seq=stamp.seq)

        await self.write(scope, actor, work)

    async def tombstones(self, scope: Scope) -> Sequence[Tombstone]:
        """What was rejected, refuted or forgotten, newest first."""
        return await self.db.read(scope, graves.list_all)

    async def events(self, scope: Scope, after: int = 0, limit: int = 500) -> Sequence[Event]:
        """The person's log, in order."""
        for field, value in (("after", after), ("limit", limit)):
            checks.check_whole(value, log.LAST_SEQ, field)
        return await self.db.read(scope, lambda unit: log.after(unit, after, limit=limit))

    async def verify(self, scope: Scope) -> verifying.Report:
        """Check the person's whole record."""
        return await self.db.read(scope, verifying.verify)


def _texts(operations: Sequence[Operation]) -> list[str]:
    """The new words of a batch, each once. What breaks a limit is refused in the unit."""
    found = [
        each.content
        for each in operations
        if isinstance(each, Add | Correct) and 0 < len(each.content) <= 10_000
    ]
    return list(dict.fromkeys(found))
