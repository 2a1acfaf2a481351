"""`PersonalMemory`: one person's memory, as a developer holds it. Async.

`as_agent(NAME)` gives the same face, writing as a machine. Times are RFC 3339 text, dates or aware
datetimes; a date is local midnight of the person's zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from remembrancer import clock
from remembrancer.clock import MAX, MIN
from remembrancer.conversations.models import AuthoredBy, Conversation
from remembrancer.conversations.service import Imported, Stored
from remembrancer.ids import parse_id
from remembrancer.library.inputs import (
    Id,
    When,
    as_agent_name,
    as_meaning,
    as_quote,
    as_rule,
    as_type,
)
from remembrancer.library.reading import ReadableMemory
from remembrancer.memory.models import (
    Add,
    Correct,
    Forget,
    Move,
    Operation,
    Outcome,
    Pin,
    Retract,
    SetTrust,
    Trust,
    Type,
    Undo,
)
from remembrancer.memory.orphaning import Choice, Deleted
from remembrancer.memory.reindexing import Done
from remembrancer.memory.service import Request
from remembrancer.policy.models import MachineWrites
from remembrancer.scope import Actor, ActorKind


class PersonalMemory(ReadableMemory):
    """Everything one person (or an agent for them) does with their memory.

    Writes return an `Outcome`; with an `idempotency_key` a retry has no second effect. Raises the
    errors of `remembrancer.errors`.
    """

    def as_agent(self, name: str) -> PersonalMemory:
        """The same memory, written to by a machine of that name."""
        actor = Actor(ActorKind.MODEL, as_agent_name(name), self.actor.surface)
        return PersonalMemory(self._engine, self.account, actor, self._scope)

    async def in_space(self, name: str) -> PersonalMemory:
        """The same memory, looking at one of the person's spaces; made on first use."""
        space = await self._engine.conversations.ensure_space(self._scope, self.actor, name)
        return PersonalMemory(self._engine, self.account, self.actor, self._scope.within(space.id))

    async def _one(self, operation: Operation, *, key: str | None = None) -> Outcome:
        request = Request((operation,), self.actor, atomic=True, idempotency_key=key)
        return (await self._engine.memory.apply(self._scope, request))[0]

    @property
    def _space(self) -> UUID | None:
        return self._scope.space if isinstance(self._scope.space, UUID) else None

    async def add(
        self,
        content: str,
        *,
        type: Type | str = Type.CONTEXT,
        path: str = "",
        valid_from: When | None = None,
        valid_to: When | None = None,
        meta: Mapping[str, object] | None = None,
        quote: str | None = None,
        message_id: Id | None = None,
        chat_id: Id | None = None,
        model: str | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Remember something. An agent's `quote` says which words of the person's carry it."""
        zone = self.account.zone
        return await self._one(
            Add(
                content,
                type=as_type(type),
                path=path,
                space=self._space,
                valid_from=MIN
                if valid_from is None
                else clock.parse(valid_from, zone, field="valid_from"),
                valid_to=MAX if valid_to is None else clock.parse_end(valid_to, zone),
                meta=meta,
                quote=as_quote(quote, message_id, chat_id, model),
            ),
            key=idempotency_key,
        )

    async def correct(
        self,
        memory_id: Id,
        content: str,
        *,
        was_wrong: bool = False,
        changed_at: When | None = None,
        valid_at: When | None = None,
        path: str | None = None,
        type: Type | str | None = None,
        quote: str | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Replace a value: it was wrong, or the world changed at a time.

        Neither stated means changed now.
        """
        return await self._one(
            Correct(
                parse_id(memory_id),
                content,
                as_meaning(was_wrong, changed_at, "changed_at"),
                at=self._at(changed_at, "changed_at"),
                valid_at=self._at(valid_at, "valid_at"),
                path=path,
                type=None if type is None else as_type(type),
                quote=as_quote(quote, None, None, None),
                expected_version=expected_version,
            ),
            key=idempotency_key,
        )

    async def retract(
        self,
        memory_id: Id,
        *,
        was_wrong: bool = False,
        ended_at: When | None = None,
        valid_at: When | None = None,
        quote: str | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Stop believing a value, with nothing in its place."""
        return await self._one(
            Retract(
                parse_id(memory_id),
                as_meaning(was_wrong, ended_at, "ended_at"),
                at=None
                if ended_at is None
                else clock.parse_end(ended_at, self.account.zone, field="ended_at"),
                valid_at=self._at(valid_at, "valid_at"),
                quote=as_quote(quote, None, None, None),
                expected_version=expected_version,
            ),
            key=idempotency_key,
        )

    async def move(
        self,
        memory_id: Id,
        *,
        path: str | None = None,
        type: Type | str | None = None,
        space: str | None = None,
        leave_space: bool = False,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Change where a memory stands; `space` by name."""
        space_id = None
        if space is not None:
            found = await self._engine.conversations.ensure_space(self._scope, self.actor, space)
            space_id = found.id
        return await self._one(
            Move(
                parse_id(memory_id),
                path=path,
                type=None if type is None else as_type(type),
                space=space_id,
                leave_space=leave_space,
                expected_version=expected_version,
            ),
            key=idempotency_key,
        )

    async def confirm(
        self,
        memory_id: Id,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Say that it is so; brings back an archived or rejected memory."""
        wanted = SetTrust(parse_id(memory_id), Trust.CONFIRMED, expected_version)
        return await self._one(wanted, key=idempotency_key)

    async def dispute(
        self,
        memory_id: Id,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Doubt it: not given to a model until decided."""
        wanted = SetTrust(parse_id(memory_id), Trust.DISPUTED, expected_version)
        return await self._one(wanted, key=idempotency_key)

    async def archive(
        self,
        memory_id: Id,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Put it away; `confirm` brings it back."""
        wanted = SetTrust(parse_id(memory_id), Trust.ARCHIVED, expected_version)
        return await self._one(wanted, key=idempotency_key)

    async def reject(
        self,
        memory_id: Id,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Say no: no machine may bring the value back."""
        wanted = SetTrust(parse_id(memory_id), Trust.REJECTED, expected_version)
        return await self._one(wanted, key=idempotency_key)

    async def pin(
        self,
        memory_id: Id,
        rank: int | None = 0,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Give it a place in the profile's order (lowest first); None unpins."""
        wanted = Pin(parse_id(memory_id), rank, expected_version)
        return await self._one(wanted, key=idempotency_key)

    async def forget(
        self,
        memory_id: Id,
        *,
        redact: bool = False,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Remove the words for good, from every version. Can't be undone."""
        wanted = Forget(parse_id(memory_id), redact=redact, expected_version=expected_version)
        return await self._one(wanted, key=idempotency_key)

    async def undo(
        self, event: int | None = None, *, idempotency_key: str | None = None
    ) -> Outcome:
        """Undo one event, or the last one that can be."""
        return await self._one(Undo(event), key=idempotency_key)

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        atomic: bool = False,
        idempotency_key: str | None = None,
    ) -> Sequence[Outcome]:
        """A batch: one outcome an operation. Failing ones are outcomes, unless `atomic`.

        An `Add` that names no space goes to the one this face looks at.
        """
        placed = [
            replace(each, space=self._space)
            if isinstance(each, Add) and each.space is None
            else each
            for each in operations
        ]
        request = Request(placed, self.actor, atomic, idempotency_key)
        return await self._engine.memory.apply(self._scope, request)

    async def clear_all(self, *, tombstones: bool = True) -> int:
        """Forget everything; returns how many memories."""
        return await self._engine.memory.clear_all(self._scope, self.actor, tombstones=tombstones)

    async def tell(self, conversation: Conversation) -> Stored:
        """Store messages as evidence; they make no memory by themselves."""
        authored = AuthoredBy.PERSON if self.actor.is_person else AuthoredBy.CLIENT
        return await self._engine.conversations.store(
            self._scope, self.actor, conversation, authored
        )

    async def import_conversations(
        self,
        conversations: Sequence[Conversation],
        *,
        progress: Callable[[int], None] | None = None,
        embed: bool = True,
    ) -> Imported:
        """Import what others recorded, as evidence; again, and nothing is stored twice.

        `progress` is called with how many messages were stored. Without `embed` their vectors are
        left to `reindex`.
        """
        return await self._engine.conversations.import_all(
            self._scope, self.actor, conversations, progress=progress, embed=embed
        )

    async def delete_message(self, message_id: Id, *, choice: Choice = Choice.KEEP) -> Deleted:
        """Remove one message; what rested on it is kept or removed, with a report."""
        return await self._engine.memory.delete_message(
            self._scope, self.actor, parse_id(message_id), choice
        )

    async def delete_chat(self, chat_id: Id, *, choice: Choice = Choice.KEEP) -> Deleted:
        """Remove a chat; what rested on it is kept or removed, with a report."""
        return await self._engine.memory.delete_chat(
            self._scope, self.actor, parse_id(chat_id), choice
        )

    async def delete_import(self, import_id: Id, *, choice: Choice = Choice.KEEP) -> Deleted:
        """Remove what one import brought."""
        return await self._engine.memory.delete_import(
            self._scope, self.actor, parse_id(import_id), choice
        )

    async def approve(
        self, proposal_id: Id, *, was_wrong: bool = False, changed_at: When | None = None
    ) -> Outcome:
        """Carry out a proposal; a correction's meaning may be given here."""
        stated = was_wrong or changed_at is not None
        return await self._engine.memory.approve(
            self._scope,
            self.actor,
            parse_id(proposal_id),
            meaning=as_meaning(was_wrong, changed_at, "changed_at") if stated else None,
            at=self._at(changed_at, "changed_at"),
        )

    async def decline(self, proposal_id: Id) -> Outcome:
        """Say no to a proposal."""
        return await self._engine.memory.reject(self._scope, self.actor, parse_id(proposal_id))

    async def set_machine_writes(self, rule: MachineWrites | str) -> None:
        """Choose what becomes of what machines want to remember."""
        await self._engine.memory.set_machine_writes(self._scope, self.actor, as_rule(rule))

    async def reindex(self, *, pending: bool = True) -> Done:
        """Make the vectors that are missing; with `pending=False` everything derived, anew.

        Raises `EmbedderError` while the model doesn't answer; what was made until then stays.
        """
        return await self._engine.reindex(self._scope, pending=pending)
