"""What the tests of evidence share: a source, and one of each kind of thing that rests on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Role
from remembrancer.events.kinds import Kind
from remembrancer.memory.models import Trust
from remembrancer.recall.models import Recall, Request
from tests.acceptance.forgetting import engine_of, import_all, mine, run, word

EVERYTHING = Request("", k=200, total_budget=100_000, profile_budget=50_000, floor=False)
ACTS = {Kind.MEMORY_ADDED, Kind.MEMORY_CORRECTED, Kind.MEMORY_CONFIRMED}


def unresolved(store: SyncRemembrancer, memory: SyncPersonalMemory, recalled: Recall) -> list[str]:
    """What of an assembled prompt leads to no surviving message and to no act of the person's."""
    service, scope = engine_of(store).conversations, memory._memory._scope
    messages = {
        each.id: each
        for chat in memory.chats()
        for each in run(store, service.messages(scope, chat.id))
    }
    acts = {
        each.subject_id
        for each in memory.events(limit=5000)
        if each.kind in ACTS and each.actor.is_person
    }
    loose = []
    for each in (*recalled.profile, *recalled.entries):
        if each.id in messages:
            assert messages[each.id].live
            continue
        rests = [
            messages[found.message_id]
            for found in memory.history(each.id).evidence
            if found.message_id in messages and not found.deleted
        ]
        said_so = any(found.live and found.role is Role.USER for found in rests)
        if each.id not in acts and not said_so:
            loose.append(each.content)
    return loose


def recalled_all(memory: SyncPersonalMemory, query: str) -> Recall:
    return memory.recall(replace(EVERYTHING, query=query))


def given_to(memory: SyncPersonalMemory, query: str) -> set[UUID]:
    recalled = recalled_all(memory, query)
    return {each.id for each in (*recalled.profile, *recalled.entries)}


@dataclass
class Source:
    """A message, and one of each kind of thing that may rest on it. Contents hold `token`."""

    memory: SyncPersonalMemory
    chat_id: UUID
    token: str
    candidate: UUID
    active: UUID
    confirmed: UUID
    proposal: UUID
    target: UUID

    @property
    def derived(self) -> set[UUID]:
        return {self.candidate, self.active, self.confirmed}

    def state(self, memory_id: UUID) -> Trust | None:
        """Its trust state, None when it is forgotten."""
        found = self.memory.list(trust=list(Trust), limit=1000)
        return next((each.trust for each in found if each.id == memory_id), None)


def rest_on(memory: SyncPersonalMemory, chat_id: UUID, token: str, *texts: str) -> Source:
    """Let a candidate, an active and a confirmed memory and a proposal rest on what was said."""
    first, second = texts
    agent = memory.as_agent("scribe")
    target = memory.add(f"Ada owns something else than {word()}.")
    active = agent.add(f"Ada's boat is called {token}.", quote=first, chat_id=chat_id)
    confirmed = agent.add(f"Ada moors {token} in Voss.", quote=second, chat_id=chat_id)
    memory.set_machine_writes("ask")
    candidate = agent.add(f"Ada sails with {token} often.", quote=first, chat_id=chat_id)
    memory.set_machine_writes("accept_quotes")
    assert target.id
    assert active.id
    assert confirmed.id
    assert candidate.id
    memory.confirm(confirmed.id)
    proposal = agent.correct(target.id, f"Ada owns {token}.", quote=second)
    assert (candidate.status, proposal.status) == ("candidate", "proposed")
    assert proposal.proposal is not None
    return Source(
        memory,
        chat_id,
        token,
        candidate.id,
        active.id,
        confirmed.id,
        proposal.proposal,
        target.id,
    )


def sentences(token: str) -> tuple[str, str]:
    return f"My boat is called {token}.", f"I moor {token} in Voss."


def told(memory: SyncPersonalMemory, name: str) -> tuple[Source, list[UUID]]:
    """A chat of one message, and what rests on it; the ids of its messages."""
    token = word()
    stored = memory.tell(mine(" ".join(sentences(token)), source=name, external_id=name))
    source = rest_on(memory, stored.chat_id, token, *sentences(token))
    assert source.state(source.active) == Trust.ACTIVE
    return source, list(stored.messages)


def imported(
    store: SyncRemembrancer, memory: SyncPersonalMemory
) -> tuple[Source, list[UUID], UUID]:
    """An imported chat, and what rests on it. Its words earn nothing but by a person's yes."""
    token = word()
    import_id = import_all(store, memory, mine(" ".join(sentences(token)), source="file"))
    assert import_id is not None
    chat = next(each for each in memory.chats() if each.import_id == import_id)
    agent = memory.as_agent("scribe")
    memory.set_machine_writes("accept_all")
    first, second = sentences(token)
    target = memory.add(f"Ada owns something else than {word()}.")
    active = agent.add(f"Ada's boat is called {token}.", quote=first)
    confirmed = agent.add(f"Ada moors {token} in Voss.", quote=second)
    memory.set_machine_writes("accept_quotes")
    candidate = agent.add(f"Ada sails with {token} often.", quote=first)
    assert target.id
    assert active.id
    assert confirmed.id
    assert candidate.id
    memory.confirm(confirmed.id)
    proposal = agent.correct(target.id, f"Ada owns {token}.", quote=second)
    assert proposal.proposal is not None
    source = Source(
        memory,
        chat.id,
        token,
        candidate.id,
        active.id,
        confirmed.id,
        proposal.proposal,
        target.id,
    )
    return source, [], import_id
