"""One run of the program: its settings, the store, the person, and the loop calls run on.

Everything is opened when it is first asked for, so that a verb pays for what it uses.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from remembrancer.cli.output import Output
from remembrancer.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    import asyncio

    from remembrancer.accounts.models import Account
    from remembrancer.config import Config
    from remembrancer.library.engine import Engine
    from remembrancer.library.person import PersonalMemory
    from remembrancer.scope import Actor

T = TypeVar("T")
SURFACE = "cli"


@dataclass(frozen=True, slots=True)
class Given:
    """The common options as they stood on the command line."""

    user: str | None = None
    data: Path | None = None
    database_url: str | None = None
    json: bool = False
    as_agent: str | None = None


class Session:
    """What a verb works with. Close it, or use it as a context manager."""

    logs_to_stderr: ClassVar[bool] = False
    """Set by the program itself; a process that hosts it keeps its own logging."""

    def __init__(self, given: Given, *, alone: bool = False) -> None:
        self.given = given
        self._alone = alone
        self.out = Output(as_json=given.json)
        self._runner: asyncio.Runner | None = None

    @cached_property
    def config(self) -> Config:
        """The settings, with the command line's on top. Alone: of the others the embedder's."""
        from remembrancer import config

        data = None if self.given.data is None else str(self.given.data)
        options = {"data": data, "database_url": self.given.database_url, "user": self.given.user}
        settings = config.load(options)
        if not self._alone:
            return settings
        kept = {
            name: each.value
            for name, each in settings.values.items()
            if name.startswith("embedder")
        }
        return config.load({**options, **kept}, {})

    @cached_property
    def engine(self) -> Engine:
        """The store, opened."""
        from remembrancer.library.engine import Engine

        if Session.logs_to_stderr:
            _log_to_stderr()
        return Engine.from_config(self.config)

    @cached_property
    def account(self) -> Account:
        """The person named, set, or the only one there is."""
        from remembrancer.library.inputs import as_email

        named = self.config.text("user")
        if named:
            return self.engine.accounts.find(as_email(named))
        people = self.engine.accounts.everybody()
        if len(people) == 1:
            return people[0]
        if not people:
            raise NotFoundError(
                "There is no account yet.",
                field="user",
                hint="`remembrancer user add EMAIL` makes one.",
            )
        raise InvalidInputError(
            f"There are {len(people)} accounts: say whose memory.",
            field="user",
            hint="Give --user EMAIL, or set REMEMBRANCER_USER.",
        )

    @cached_property
    def memory(self) -> PersonalMemory:
        """The person's memory; `--as-agent` writes to it as a machine."""
        whole = self.memory_of(self.account)
        return whole if self.given.as_agent is None else whole.as_agent(self.given.as_agent)

    @property
    def actor(self) -> Actor:
        """Who acts: the person, or the agent for them."""
        return self.memory.actor

    def memory_of(self, account: Account) -> PersonalMemory:
        """Anybody's memory, as the operator who vouches for them."""
        from remembrancer.library.person import PersonalMemory
        from remembrancer.scope import Actor, ActorKind

        actor = Actor(ActorKind.PERSON, account.email, SURFACE)
        return PersonalMemory(self.engine, account, actor, self.engine.accounts.scope(account))

    def in_space(self, name: str | None, *, make: bool) -> PersonalMemory:
        """The memory, looking at a space; a read doesn't make one that isn't there."""
        if name is None:
            return self.memory
        if not make:
            scope = self.engine.accounts.scope(self.account)
            self.run(self.engine.conversations.find_space(scope, name))
        return self.run(self.memory.in_space(name))

    def people(self) -> list[Account]:
        """The person that `--user` names, else everybody."""
        from remembrancer.library.inputs import as_email

        if self.given.user is not None:
            return [self.engine.accounts.find(as_email(self.given.user))]
        return self.engine.accounts.everybody()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run one call of the library to its end."""
        import asyncio

        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(work)

    def asks(self) -> bool:
        """Whether somebody is there to be asked."""
        return not self.given.json and sys.stdin.isatty() and sys.stderr.isatty()

    def close(self) -> None:
        """Finish what is under way and close everything that was opened."""
        if "engine" in self.__dict__:
            self.engine.close()
        if self._runner is not None:
            self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _log_to_stderr() -> None:
    """Keep standard output for answers; what is degraded is said by the verb itself."""
    import logging

    import structlog

    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_names: structlog.WriteLogger(sys.stderr),
    )
