"""The same library without `await`: each call runs on one event loop of its own thread.

Not a twin: every method here is made from the asynchronous one.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from remembrancer.embeddings.base import Embedder
from remembrancer.library.person import PersonalMemory
from remembrancer.library.remembrancer import Remembrancer

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F")


class _Loop:
    """An event loop on a thread, shared by everything of one store."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="remembrancer", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _person(
    method: Callable[Concatenate[PersonalMemory, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[SyncPersonalMemory, P], R]:
    def call(self: SyncPersonalMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._loop.run(method(self._memory, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


def _store(
    method: Callable[Concatenate[Remembrancer, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[SyncRemembrancer, P], R]:
    def call(self: SyncRemembrancer, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._loop.run(method(self._store, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


class SyncPersonalMemory:
    """`PersonalMemory`, without `await`."""

    def __init__(self, memory: PersonalMemory, loop: _Loop) -> None:
        self._memory = memory
        self._loop = loop
        self.account = memory.account

    def as_agent(self, name: str) -> SyncPersonalMemory:
        """The same memory, written to by a machine of that name."""
        return SyncPersonalMemory(self._memory.as_agent(name), self._loop)

    def in_space(self, name: str) -> SyncPersonalMemory:
        """The same memory, looking at one of the person's spaces."""
        return SyncPersonalMemory(self._loop.run(self._memory.in_space(name)), self._loop)

    add = _person(PersonalMemory.add)
    correct = _person(PersonalMemory.correct)
    retract = _person(PersonalMemory.retract)
    move = _person(PersonalMemory.move)
    confirm = _person(PersonalMemory.confirm)
    dispute = _person(PersonalMemory.dispute)
    archive = _person(PersonalMemory.archive)
    reject = _person(PersonalMemory.reject)
    pin = _person(PersonalMemory.pin)
    forget = _person(PersonalMemory.forget)
    undo = _person(PersonalMemory.undo)
    apply = _person(PersonalMemory.apply)
    clear_all = _person(PersonalMemory.clear_all)
    get = _person(PersonalMemory.get)
    list = _person(PersonalMemory.list)
    history = _person(PersonalMemory.history)
    recall = _person(PersonalMemory.recall)
    tell = _person(PersonalMemory.tell)
    chats = _person(PersonalMemory.chats)
    import_conversations = _person(PersonalMemory.import_conversations)
    delete_message = _person(PersonalMemory.delete_message)
    delete_chat = _person(PersonalMemory.delete_chat)
    delete_import = _person(PersonalMemory.delete_import)
    messages = _person(PersonalMemory.messages)
    metas = _person(PersonalMemory.metas)
    spaces = _person(PersonalMemory.spaces)
    machine_writes = _person(PersonalMemory.machine_writes)
    proposals = _person(PersonalMemory.proposals)
    approve = _person(PersonalMemory.approve)
    decline = _person(PersonalMemory.decline)
    tombstones = _person(PersonalMemory.tombstones)
    events = _person(PersonalMemory.events)
    set_machine_writes = _person(PersonalMemory.set_machine_writes)
    verify = _person(PersonalMemory.verify)
    reindex = _person(PersonalMemory.reindex)


class SyncRemembrancer:
    """`Remembrancer`, without `await`."""

    def __init__(
        self,
        data: str | Path | None = None,
        *,
        database_url: str | None = None,
        migration_url: str | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._store = Remembrancer(
            data, database_url=database_url, migration_url=migration_url, embedder=embedder
        )
        self._loop = _Loop()

    def as_agent(self, name: str) -> SyncRemembrancer:
        """The same store, writing as a machine of that name."""
        other = SyncRemembrancer.__new__(SyncRemembrancer)
        other._store, other._loop = self._store.as_agent(name), self._loop
        return other

    def person(self, user_id: str, *, create: bool = True) -> SyncPersonalMemory:
        """One person's memory; the account is made on first use unless `create` is False."""
        found = self._loop.run(self._store.person(user_id, create=create))
        return SyncPersonalMemory(found, self._loop)

    add = _store(Remembrancer.add)
    search = _store(Remembrancer.search)
    migrate = _store(Remembrancer.migrate)
    remove_person = _store(Remembrancer.remove_person)

    def close(self) -> None:
        """Finish what is under way and close everything."""
        self._loop.run(self._store.close())
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
