"""Conversations from outside: telling the store what was said, importing files, naming spaces.

Words are embedded before the unit that stores them opens. A conversation is idempotent by content:
telling it again stores nothing, and an import that was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias
from uuid import UUID

from remembrancer.conversations import branches, naming, planning, repository, storing
from remembrancer.conversations.models import AuthoredBy, Chat, Conversation, Message, SpaceInfo
from remembrancer.conversations.planning import Plan
from remembrancer.conversations.storing import UNIT_MESSAGES, MessageVectors
from remembrancer.db.database import Database
from remembrancer.db.units import Unit
from remembrancer.embeddings.serving import AskServing, try_passages
from remembrancer.embeddings.worker import Priority
from remembrancer.errors import NotFoundError, RefusedError
from remembrancer.events.kinds import Kind, Payload
from remembrancer.events.log import Journal, journal
from remembrancer.ids import new_id
from remembrancer.jobs import names, queue
from remembrancer.policy import service as policy
from remembrancer.scope import Actor, Scope
from remembrancer.text.limits import check_name

PATIENCE: Final = 600.0
"""Seconds that one unit's messages may take in the embedder."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing a conversation did. `pending` counts messages whose vector is to come."""

    chat_id: UUID
    messages: tuple[UUID, ...]
    known: int
    pending: int
    import_id: UUID | None = None
    edited_away: tuple[UUID, ...] = ()
    """Messages that are no longer on the live branch; what rests on them was settled."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do."""

    import_id: UUID | None
    chats: tuple[UUID, ...]
    new: int
    known: int
    pending: int


EditedAway: TypeAlias = Callable[[Unit, Journal, Sequence[UUID]], None]
"""What is to be done, in the same unit, about messages that left the live branch."""


class ConversationService:
    """Stores what was said. Memories are not its business: what becomes of those that rest on a
    message that is edited away is `edited_away`'s, in the unit that stores the edit."""

    def __init__(
        self,
        db: Database,
        serving: AskServing,
        edited_away: EditedAway | None = None,
    ) -> None:
        self._db = db
        self._serving = serving
        self._edited_away = edited_away

    async def ensure_space(self, scope: Scope, actor: Actor, name: str) -> SpaceInfo:
        """The space of that name, made on first use."""
        cleaned = check_name(name, "space", 100)

        def work(unit: Unit) -> SpaceInfo:
            with journal(unit) as held:
                found = repository.find_space(unit, cleaned)
                if found is not None:
                    return found
                space = new_id()
                stamp = held.append(Kind.SPACE_CREATED, actor, Payload(), subject=space)
                repository.insert_space(unit, space, cleaned, stamp.seq)
                return SpaceInfo(space, cleaned, unit.now)

        known = await self._db.read(scope, lambda unit: repository.find_space(unit, cleaned))
        if known is not None:
            return known
        await self._check_machine(scope, actor)
        if not actor.is_person:
            await self._check_names(scope, actor, (cleaned, actor.name))
        return await self._db.write(scope, work)

    async def _check_names(self, scope: Scope, actor: Actor, called: Sequence[str]) -> None:
        """`RefusedError`, once it is logged, when a name says what the person forgot."""
        if not called:
            return
        grave = await self._db.read(scope, lambda unit: naming.first_forgotten(unit, called))
        if grave is None:
            return

        def work(unit: Unit) -> None:
            with journal(unit) as held:
                naming.log_refusal(unit, held, actor, grave)

        await self._db.write(scope, work)
        raise RefusedError("The person asked for this to stay forgotten.", field="tombstone")

    async def _check_machine(self, scope: Scope, actor: Actor) -> None:
        """`RefusedError`, once it is logged, when the person lets no machine write."""
        if not await self._db.read(scope, lambda unit: policy.machines_are_off(unit, actor)):
            return

        await self._note_refusal(scope, actor, "policy")
        raise RefusedError("Memory is off for machines.", field="policy")

    async def _note_refusal(self, scope: Scope, actor: Actor, rule: str) -> None:
        def work(unit: Unit) -> None:
            with journal(unit) as held:
                held.append(Kind.MEMORY_REFUSED, actor, Payload(notes={"rule": rule}))

        await self._db.write(scope, work)

    async def find_space(self, scope: Scope, name: str) -> SpaceInfo:
        """The space of that name; `NotFoundError` when there is none."""
        found = await self._db.read(scope, lambda unit: repository.find_space(unit, name.strip()))
        if found is None:
            raise NotFoundError(
                f"There is no space {name[:60]!r}.",
                field="space",
                value=name[:60],
                hint="Adding something to it makes it.",
            )
        return found

    async def spaces(self, scope: Scope) -> list[SpaceInfo]:
        """The person's spaces."""
        return await self._db.read(scope, repository.list_spaces)

    async def chats(self, scope: Scope) -> list[Chat]:
        """The person's chats."""
        return await self._db.read(scope, repository.list_chats)

    async def messages(self, scope: Scope, chat_id: UUID) -> list[Message]:
        """A chat's messages, all branches, in order."""
        return await self._db.read(scope, lambda unit: repository.chat_messages(unit, chat_id))

    async def messages_by_id(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Message]:
        """These messages, those that there are, by id."""
        return await self._db.read(scope, lambda unit: repository.messages_by_id(unit, ids))

    async def store(
        self,
        scope: Scope,
        actor: Actor,
        conversation: Conversation,
        authored_by: AuthoredBy,
        *,
        import_id: UUID | None = None,
        progress: Callable[[int], None] | None = None,
        embed: bool = True,
    ) -> Stored:
        """Store what isn't stored yet, in units of bounded size.

        Raises `RefusedError` for a machine when the person lets none write, and when it edits
        away what the person said.
        """
        await self._check_machine(scope, actor)
        plan = planning.plan(conversation, authored_by)
        await self._check_names(scope, actor, naming.names_in(conversation, actor))
        space = (
            await self.ensure_space(scope, actor, conversation.space)
            if conversation.space
            else None
        )
        words = await self._db.read(scope, lambda unit: storing.to_embed(unit, plan))
        made = _Made(scope, actor, plan, None if space is None else space.id, import_id)
        chunks = _chunks(words, UNIT_MESSAGES) if embed else iter(())
        known: int | None = None
        new: list[storing.NewMessage] = []
        away: list[UUID] = []
        ready: MessageVectors | None = None
        while True:
            ready = _joined(ready, await self._vectors(next(chunks, [])))
            part = await self._store_part(made, ready)
            known = part.known if known is None else known
            new += part.new
            away += part.edited_away
            if progress is not None:
                progress(len(part.new))
            if not part.more:
                break
        return Stored(
            part.chat_id,
            tuple(each.id for each in new),
            known,
            sum(each.pending for each in new),
            import_id,
            tuple(away),
        )

    async def _vectors(self, chunk: Sequence[tuple[bytes, str]]) -> MessageVectors | None:
        """Vectors of one unit's messages; None when the embedder doesn't answer (then pending)."""
        words = [each for _, each in chunk]
        made = await try_passages(self._serving, words, Priority.BACKGROUND, PATIENCE)
        if made is None:
            return None
        digests = [digest for digest, _ in chunk]
        by_digest = dict(zip(digests, made.vectors, strict=True))
        return MessageVectors(made.serving.space_id, by_digest)

    async def _store_part(self, made: _Made, vectors: MessageVectors | None) -> storing.Stored:
        def work(unit: Unit) -> storing.Stored:
            with journal(unit) as held:
                part = storing.store(
                    unit,
                    held,
                    made.plan,
                    space_id=made.space_id,
                    import_id=made.import_id,
                    vectors=vectors,
                )
                branches.check_edit(unit, made.actor, part.chat_id, part.edited_away)
                if part.edited_away and self._edited_away is not None:
                    self._edited_away(unit, held, part.edited_away)
                if any(each.pending for each in part.new):
                    queue.enqueue(unit, lane="index", name=names.VECTORS, coalesce_key="")
                return part

        try:
            return await self._db.write(made.scope, work)
        except RefusedError:
            await self._note_refusal(made.scope, made.actor, "authority")
            raise

    async def count_new(self, scope: Scope, conversations: Sequence[Conversation]) -> int:
        """How many messages an import would store: a dry run."""
        total = 0
        for each in conversations:
            plan = planning.plan(each, AuthoredBy.IMPORTER)
            total += len(await self._db.read(scope, partial(storing.missing, plan=plan)))
        return total

    async def import_all(
        self,
        scope: Scope,
        actor: Actor,
        conversations: Sequence[Conversation],
        *,
        progress: Callable[[int], None] | None = None,
        embed: bool = True,
    ) -> Imported:
        """Import conversations as evidence. One event stands for the import; importing the same
        again stores nothing."""
        await self._check_machine(scope, actor)
        plans = [planning.plan(each, AuthoredBy.IMPORTER) for each in conversations]
        called = [name for each in conversations for name in naming.names_in(each, actor)]
        await self._check_names(scope, actor, list(dict.fromkeys(called)))
        new = await self.count_new(scope, conversations)
        import_id = None
        if new:
            import_id = new_id()
            await self._announce(scope, actor, import_id, len(plans), new)
        parts = [
            await self.store(
                scope,
                actor,
                each,
                AuthoredBy.IMPORTER,
                import_id=import_id,
                progress=progress,
                embed=embed,
            )
            for each in conversations
        ]
        return Imported(
            import_id,
            tuple(each.chat_id for each in parts),
            sum(len(each.messages) for each in parts),
            sum(each.known for each in parts),
            sum(each.pending for each in parts),
        )

    async def _announce(
        self, scope: Scope, actor: Actor, import_id: UUID, chats: int, new: int
    ) -> None:
        def work(unit: Unit) -> None:
            with journal(unit) as held:
                notes: dict[str, str | int | None] = {"chats": chats, "messages": new}
                held.append(
                    Kind.CONVERSATION_IMPORTED, actor, Payload(notes=notes), subject=import_id
                )

        await self._db.write(scope, work)


@dataclass(frozen=True, slots=True)
class _Made:
    """What every unit of one conversation's storing shares."""

    scope: Scope
    actor: Actor
    plan: Plan
    space_id: UUID | None
    import_id: UUID | None


def _chunks(words: Sequence[tuple[bytes, str]], size: int) -> Iterator[Sequence[tuple[bytes, str]]]:
    for start in range(0, len(words), size):
        yield words[start : start + size]


def _joined(before: MessageVectors | None, more: MessageVectors | None) -> MessageVectors | None:
    """The vectors of both; of the later one alone when the embedding space changed meanwhile."""
    if before is None or more is None or before.space != more.space:
        return more or before
    return MessageVectors(more.space, {**before.by_made_from, **more.by_made_from})
