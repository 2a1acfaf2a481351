"""What the tests of forgetting share: a person who said something, and wants it gone."""

from __future__ import annotations

import json
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import AuthoredBy, Conversation, IncomingMessage, Role
from remembrancer.library.engine import Engine
from remembrancer.memory import reindexing
from remembrancer.memory.models import Add, Outcome, Quote
from remembrancer.memory.orphaning import Choice, Deleted
from remembrancer.scope import Actor, ActorKind
from tests.support.everywhere import Traces
from tests.support.stores import Place

T = TypeVar("T")
NOON = 1_790_000_000_000_000
STATES = ("candidate", "active", "confirmed", "disputed", "archived", "rejected")
IMPORTER = Actor(ActorKind.IMPORTER, "file", "cli")


def word() -> str:
    """A word that nothing else contains."""
    return "zq" + "".join(secrets.choice("bcdfghjklmnpqrstvwx") for _ in range(12))


def engine_of(store: SyncRemembrancer) -> Engine:
    """What a store is made of."""
    return store._store.engine


def run(store: SyncRemembrancer, work: Coroutine[Any, Any, T]) -> T:
    """Await something of the store's own, on its loop."""
    return store._loop.run(work)


def said(role: Role, text: str, minute: int, **more: Any) -> IncomingMessage:
    """A message at noon and some minutes."""
    return IncomingMessage(role, text, NOON + minute * 60_000_000, **more)


def mine(*texts: str, source: str = "test", **more: Any) -> Conversation:
    """A conversation in which the person alone speaks."""
    told = tuple(said(Role.USER, text, at) for at, text in enumerate(texts))
    return Conversation(source, told, **more)


def add_quoted(memory: SyncPersonalMemory, content: str, quote: str, **more: Any) -> Outcome:
    """An agent's memory that rests on the person's words."""
    return memory.as_agent("scribe").add(content, quote=quote, **more)


def import_all(
    store: SyncRemembrancer, memory: SyncPersonalMemory, *conversations: Conversation
) -> UUID | None:
    """Import conversations; the import's id."""
    conversation_service = engine_of(store).conversations
    made = conversation_service.import_all(memory._memory._scope, IMPORTER, conversations)
    return run(store, made).import_id


def tell_as_client(
    store: SyncRemembrancer, memory: SyncPersonalMemory, conversation: Conversation
) -> None:
    """Store what a client's own history says was said."""
    service, actor = engine_of(store).conversations, Actor(ActorKind.MODEL, "client", "proxy")
    run(
        store,
        service.store(memory._memory._scope, actor, conversation, AuthoredBy.CLIENT),
    )


def rebuild(store: SyncRemembrancer, memory: SyncPersonalMemory) -> None:
    """Drop what is derived and make it again, as `reindex` does."""
    engine, scope = engine_of(store), memory._memory._scope
    run(store, reindexing.rebuild(engine.db, engine.space.now(), scope))


def complete(store: SyncRemembrancer, memory: SyncPersonalMemory) -> int:
    """Make the vectors that are missing, as the job does."""
    engine, scope = engine_of(store), memory._memory._scope
    return run(store, reindexing.complete(engine.db, engine.space.now(), scope))


def delete_message(
    store: SyncRemembrancer, memory: SyncPersonalMemory, message_id: UUID, choice: Choice
) -> Deleted:
    """Remove one message, as the person."""
    service, face = engine_of(store).memory, memory._memory
    return run(store, service.delete_message(face._scope, face.actor, message_id, choice))


def everything_shown(memory: SyncPersonalMemory, ids: list[UUID], queries: list[str]) -> str:
    """All that the person's own surfaces say, as one text; without the messages of their chats."""
    proposals = [memory.proposals(state) for state in ("open", "approved", "rejected", "expired")]
    recalls = [memory.recall(query) for query in queries]
    parts: list[object] = [
        memory.list(trust=STATES),
        [memory.history(each) for each in ids],
        memory.tombstones(),
        memory.events(limit=1000),
        memory.chats(),
        proposals,
        [
            (each.recalled_block, each.profile_block, each.entries, each.trace.omitted)
            for each in recalls
        ],
        [json.dumps(each.as_json(), ensure_ascii=False) for each in recalls],
    ]
    return "\n".join(map(repr, parts))


@dataclass
class Secret:
    """A person's secret, told and remembered in every way there is, beside a harmless sibling."""

    store: SyncRemembrancer
    ada: SyncPersonalMemory
    token: str = field(default_factory=word)
    kind: str = field(default_factory=word)
    sibling: str = field(default_factory=word)

    @property
    def value(self) -> str:
        return f"Ada's safe {self.token} opens with {self.kind}."

    @property
    def former(self) -> str:
        return f"Ada's safe {self.token} opens with a {self.kind} key."

    @property
    def neighbour(self) -> str:
        return f"Ada's cat is called {self.sibling}."

    @property
    def sentence(self) -> str:
        """Words the memory rests on, which don't say the value as such."""
        return f"By the way, my safe ({self.token}) is opened with {self.kind}, please keep it."

    @property
    def query(self) -> str:
        return f"How does Ada's safe {self.token} open, with {self.kind}?"

    @property
    def traces(self) -> Traces:
        return Traces((self.token, self.kind), (self.value, self.former))

    def conversation(self, source: str = "test") -> Conversation:
        """The chat in which it was said: by the person, and repeated by the model."""
        told = (
            said(Role.USER, "The weather is fine in Bergen today.", 0),
            said(Role.USER, f"{self.sentence} I had soup.", 1),
            said(Role.ASSISTANT, f"Understood. {self.value} Enjoy the soup!", 2),
            said(Role.USER, f"My cat is called {self.sibling}.", 3),
        )
        title = f"Note: {self.value}"
        return Conversation(source, told, external_id="c1", title=title)

    def tell(self) -> list[UUID]:
        """Say it, and have it remembered. Returns the ids of the secret's memories."""
        ada, agent = self.ada, self.ada.as_agent("scribe")
        ada.tell(self.conversation())
        made = agent.apply(
            [
                Add(
                    self.former,
                    path=f"home/{self.token}",
                    meta={"about": self.token, "says": self.former},
                    quote=Quote(self.sentence),
                ),
                Add(self.neighbour, quote=Quote(f"My cat is called {self.sibling}.")),
            ],
            idempotency_key=self.former,
        )
        first = made[0].id
        assert first is not None
        assert made[0].status == "created"
        twin = ada.in_space("house").add(self.value, idempotency_key=f"k {self.token}")
        assert twin.status == "created"
        assert twin.id is not None
        ada.correct(first, self.value, was_wrong=True)
        agent.correct(first, f"{self.value} Or with {self.token}.")
        agent.move(first, path=f"elsewhere/{self.token}")
        agent.add(f"Ada is careful with {self.token}.", quote=self.sentence)
        ada.recall(self.query)
        return [first, twin.id]


def opened(place: Place, email: str) -> tuple[SyncRemembrancer, SyncPersonalMemory]:
    """Another handle, as after a restart."""
    store = place.open()
    return store, store.person(email, create=False)
