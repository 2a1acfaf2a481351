"""What one person's memory says: everything that reads, and nothing that writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer import clock
from remembrancer.accounts.models import Account
from remembrancer.clock import Instant
from remembrancer.conversations.models import Chat, Message, SpaceInfo
from remembrancer.errors import InvalidInputError
from remembrancer.events.log import Event
from remembrancer.ids import parse_id
from remembrancer.library.inputs import Id, When, as_trust, as_type
from remembrancer.memory.models import Filter, History, Memory, Proposal, Trust, Type
from remembrancer.memory.verifying import Report
from remembrancer.policy.models import MachineWrites
from remembrancer.recall.models import K, Recall, Request
from remembrancer.scope import ALL, Actor, Scope, SpaceChoice
from remembrancer.tombstones.models import Tombstone

if TYPE_CHECKING:
    from remembrancer.library.engine import Engine


class ReadableMemory:
    """The reading half of `PersonalMemory`. Raises the errors of `remembrancer.errors`."""

    def __init__(self, engine: Engine, account: Account, actor: Actor, scope: Scope) -> None:
        self._engine = engine
        self.account = account
        self.actor = actor
        self._scope = scope

    def _at(self, value: When | None, field: str) -> Instant | None:
        return None if value is None else clock.parse(value, self.account.zone, field=field)

    async def _may_read(self) -> None:
        """Off means off: a machine doesn't read either. The person always sees their own."""
        if not self.actor.is_person:
            await self._engine.memory.check_reading(self._scope, self.actor)

    async def get(
        self, memory_id: Id, *, valid_at: When | None = None, known_at: When | None = None
    ) -> Memory | None:
        """One memory, as of two times."""
        await self._may_read()
        return await self._engine.memory.get(
            self._scope,
            parse_id(memory_id),
            valid_at=self._at(valid_at, "valid_at"),
            known_at=self._at(known_at, "known_at"),
        )

    async def list(
        self,
        *,
        type: Type | str | None = None,
        trust: Sequence[Trust | str] = (),
        path: str = "",
        contains: str = "",
        meta: Mapping[str, object] | None = None,
        valid_at: When | None = None,
        known_at: When | None = None,
        limit: int = 100,
        offset: int = 0,
        all_spaces: bool = True,
    ) -> Sequence[Memory]:
        """The person's memories, oldest first. Archived and rejected ones only when asked for."""
        await self._may_read()
        wanted = Filter(
            types=frozenset() if type is None else frozenset({as_type(type)}),
            trusts=frozenset(as_trust(each) for each in trust),
            path=path,
            contains=contains,
            meta=meta or {},
            valid_at=self._at(valid_at, "valid_at"),
            known_at=self._at(known_at, "known_at"),
            limit=limit,
            offset=offset,
        )
        scope = self._scope
        if all_spaces and scope.space is SpaceChoice.NONE:
            scope = scope.within(ALL)
        return await self._engine.memory.list(scope, wanted)

    async def history(self, memory_id: Id) -> History:
        """Everything the record holds about one memory."""
        await self._may_read()
        return await self._engine.memory.history(self._scope, parse_id(memory_id))

    async def recall(
        self,
        query: str | Sequence[str] | Request,
        *,
        k: int | None = None,
        valid_at: When | None = None,
        known_at: When | None = None,
        timeout: float = 30.0,
    ) -> Recall:
        """The ranked, budgeted set for a turn: at most `k` entries, 8 unless it is said.

        `query` is the last turn, or the last turns, newest last. A `Request` says everything there
        is to say, so that `k`, `valid_at` and `known_at` don't go with it (`InvalidInputError`).
        """
        await self._may_read()
        if not isinstance(query, Request):
            query = Request(
                query,
                k=K if k is None else k,
                valid_at=self._at(valid_at, "valid_at"),
                known_at=self._at(known_at, "known_at"),
            )
        else:
            _not_beside_a_request(k=k, valid_at=valid_at, known_at=known_at)
        return await self._engine.recall.recall(self._scope, query, timeout=timeout)

    async def chats(self) -> Sequence[Chat]:
        """The person's chats."""
        await self._may_read()
        return await self._engine.conversations.chats(self._scope)

    async def messages(self, ids: Sequence[Id]) -> Mapping[UUID, Message]:
        """These messages, those that there are, by id."""
        await self._may_read()
        wanted = [parse_id(each) for each in ids]
        return await self._engine.conversations.messages_by_id(self._scope, wanted)

    async def metas(self, ids: Sequence[Id]) -> Mapping[UUID, Mapping[str, object]]:
        """The meta of these memories by id, in one read; of a forgotten one there is none."""
        await self._may_read()
        return await self._engine.memory.metas(self._scope, [parse_id(each) for each in ids])

    async def spaces(self) -> Sequence[SpaceInfo]:
        """The person's spaces."""
        await self._may_read()
        return await self._engine.conversations.spaces(self._scope)

    async def machine_writes(self) -> MachineWrites:
        """What becomes of what machines want to remember."""
        await self._may_read()
        return await self._engine.memory.machine_writes(self._scope)

    async def proposals(self, state: str = "open") -> Sequence[Proposal]:
        """What waits for the person."""
        await self._may_read()
        return await self._engine.memory.proposals(self._scope, state)

    async def tombstones(self) -> Sequence[Tombstone]:
        """What was rejected, refuted or forgotten, newest first."""
        await self._may_read()
        return await self._engine.memory.tombstones(self._scope)

    async def events(self, *, after: int = 0, limit: int = 500) -> Sequence[Event]:
        """The log, in order."""
        await self._may_read()
        return await self._engine.memory.events(self._scope, after, limit)

    async def verify(self) -> Report:
        """Check the whole record."""
        await self._may_read()
        return await self._engine.memory.verify(self._scope)


def _not_beside_a_request(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidInputError(
                f"{name} stands beside a request.",
                field=name,
                hint="Say it in the request, or give the query alone.",
            )
