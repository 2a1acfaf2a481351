"""`Remembrancer`: one store as a developer holds it, and the façade many know from elsewhere.

    async with Remembrancer(data="./memory") as memory:
        ada = await memory.person("ada@example.org")
        await ada.add("Ada is vegan.", type="user")
        print((await ada.recall("what can I cook for Ada?")).recalled_block)

`add` and `search` take `user_id`: it names a person, whom `add` makes on first use. The
operator vouches for who that is. `SyncRemembrancer` is the same, without `await`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from remembrancer import clock, config
from remembrancer.accounts.models import Account, Removal
from remembrancer.clock import Instant
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.embeddings.base import Embedder
from remembrancer.errors import InvalidInputError, NotFoundError, RefusedError
from remembrancer.library.engine import Engine
from remembrancer.library.inputs import as_agent_name, as_email, as_text
from remembrancer.library.person import PersonalMemory
from remembrancer.memory.listing import holds
from remembrancer.memory.models import Outcome
from remembrancer.recall.models import Entry, Request
from remembrancer.scope import Actor, ActorKind

CHAT_SOURCE = "library"
SEARCH_BUDGET = 100_000


class Remembrancer:
    """A store: SQLite files under `data`, or PostgreSQL at `database_url`.

    What isn't given comes from the settings (`REMEMBRANCER_*`, the configuration file, defaults).
    Opens lazily; `close()` it, or use it as a context manager.
    """

    def __init__(
        self,
        data: str | Path | None = None,
        *,
        database_url: str | None = None,
        migration_url: str | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        options = {
            "data": None if data is None else str(data),
            "database_url": database_url,
            "migration_url": migration_url,
        }
        self.engine = Engine.from_config(config.load(options), embedder=embedder)
        self._agent: str | None = None

    def as_agent(self, name: str) -> Remembrancer:
        """The same store, writing as a machine of that name."""
        other = Remembrancer.__new__(Remembrancer)
        other.engine = self.engine
        other._agent = as_agent_name(name)
        return other

    async def migrate(self) -> Sequence[str]:
        """Make or upgrade the schema. SQLite does it by itself. Refused to an agent."""
        self._only_the_operator("changes the schema")
        db = self.engine.db
        return await db.call(db.backend.migrate)

    async def person(self, user_id: str, *, create: bool = True) -> PersonalMemory:
        """One person's memory; the account is made on first use unless `create` is False."""
        accounts = self.engine.accounts
        find = accounts.find_or_add if create else accounts.find
        email = as_email(user_id)
        return self.memory_of(await self.engine.db.call(lambda: find(email)))

    def memory_of(self, account: Account, *, surface: str = "library") -> PersonalMemory:
        """The memory of a known account."""
        actor = Actor(ActorKind.PERSON, account.email, surface)
        memory = PersonalMemory(self.engine, account, actor, self.engine.accounts.scope(account))
        return memory if self._agent is None else memory.as_agent(self._agent)

    async def remove_person(self, user_id: str) -> Removal:
        """Remove a person and everything of theirs. Refused to an agent."""
        self._only_the_operator("removes a person")
        email = as_email(user_id)
        operator = Actor(ActorKind.PERSON, "operator", "library")
        return await self.engine.db.call(lambda: self.engine.remove_person(email, operator))

    def _only_the_operator(self, does: str) -> None:
        if self._agent is not None:
            raise RefusedError(f"Only the operator {does}.", field="authority")

    async def add(
        self,
        messages_or_text: str | Sequence[Mapping[str, str]],
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> Mapping[str, object]:
        """A text is a memory; messages (`role`, `content`, optionally `name`) are evidence.

        `agent_id` writes as that agent, `run_id` names the chat the messages belong to. Returns
        `{"results": [{"id", "status", "version"}]}`, or for messages `{"results": [],
        "chat_id", "messages"}`: they make no memory by themselves.
        """
        memory = await self.person(user_id)
        if agent_id is not None:
            memory = memory.as_agent(agent_id)
        if isinstance(messages_or_text, str):
            outcome = await memory.add(messages_or_text, meta=metadata)
            return {"results": [_result(outcome)]}
        stored = await memory.tell(_conversation(messages_or_text, run_id, self._now()))
        return {
            "results": [],
            "chat_id": str(stored.chat_id),
            "messages": [str(each) for each in stored.messages],
        }

    def _now(self) -> Instant:
        return clock.now()

    async def search(
        self,
        query: str,
        *,
        user_id: str,
        filters: Mapping[str, object] | None = None,
        limit: int = 10,
    ) -> Mapping[str, object]:
        """What ranks highest for a query, memories only, no floor, best first.

        `filters` are compared with `metadata`. Returns `{"results": [{"id", "memory", "score",
        "relevance", "metadata"}], "degraded"}`: `score` orders, `relevance` is a probability. An
        unknown person has no results, and no account is made.
        """
        if limit < 0:
            raise InvalidInputError(
                f"limit is {limit}.", field="limit", value=limit, limit="0 or more"
            )
        wide = Request(
            query,
            k=min(500, limit if not filters else 500),
            total_budget=SEARCH_BUDGET,
            floor=False,
            messages=False,
            profile_apart=False,
        )
        try:
            memory = await self.person(user_id, create=False)
        except NotFoundError:
            return {"results": [], "degraded": []}
        found = await memory.recall(wide)
        metas = await memory.metas([each.id for each in found.entries])
        wanted = (
            _found(each, metas[each.id])
            for each in found.entries
            if each.id in metas and holds(metas[each.id], filters or {})
        )
        return {
            "results": list(islice(wanted, limit)),
            "degraded": [each.value for each in found.degraded],
        }

    async def close(self) -> None:
        """Finish what is under way and close everything."""
        await asyncio.to_thread(self.engine.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _result(outcome: Outcome) -> Mapping[str, object]:
    return {
        "id": None if outcome.id is None else str(outcome.id),
        "status": outcome.status.value,
        "version": outcome.version,
    }


def _found(entry: Entry, meta: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "id": str(entry.id),
        "memory": entry.content,
        "score": entry.score,
        "relevance": entry.relevance,
        "metadata": dict(meta),
    }


def _conversation(
    messages: Sequence[Mapping[str, str]], run_id: str | None, now: Instant
) -> Conversation:
    told = []
    for index, each in enumerate(messages):
        if "content" not in each or "role" not in each:
            raise InvalidInputError(
                f"messages[{index}] needs role and content.", field=f"messages[{index}]"
            )
        place = f"messages[{index}]"
        content = as_text(each["content"], f"{place}.content")
        named = as_text(each.get("name", ""), f"{place}.name")
        said_by = as_text(each["role"], f"{place}.role")
        try:
            role = Role(said_by)
        except ValueError:
            raise InvalidInputError(
                f"messages[{index}].role is {said_by[:40]!r}.",
                field=f"messages[{index}].role",
                limit="user, assistant, other",
            ) from None
        told.append(IncomingMessage(role, content, now + index, speaker=named))
    return Conversation(
        CHAT_SOURCE, tuple(told), external_id=run_id or "", continues=run_id is not None
    )
