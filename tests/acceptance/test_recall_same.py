"""R7: the same data and the same question give the same ranking on SQLite and on PostgreSQL.

Two people do the same things, each on another store, with the default model. Ids differ, and are
compared as what they stand for.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer, clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.errors import RemembrancerError
from remembrancer.evals.people import Corpus, load_cases, load_people
from remembrancer.recall.models import Recall, Request
from tests.acceptance.forgetting import NOON, said
from tests.acceptance.recalling import (
    assert_accounted,
    assert_in_order,
    fix_clock,
    id_of,
    local_model,
    without_ids,
)
from tests.support.stores import Place, somebody

PERSON = "mixed-mei"
DAY = 86_400 * clock.SECOND
SPACES = ("", "north", "south")
ROLES = (Role.USER, Role.ASSISTANT, Role.OTHER)


def corpus() -> Corpus:
    """One of the project's people, in four languages."""
    (person,) = [each for each in load_people() if each.id == PERSON]
    return person.corpus


class Life:
    """One person's doings, decided by a seed alone, and what their ids stand for."""

    def __init__(self, store: SyncRemembrancer, seed: int) -> None:
        self.ada = somebody(store)
        self.names: dict[UUID, str] = {}
        self.done: list[str] = []
        self._dice = Random(seed)
        self._memories: list[UUID] = []

    def live(self) -> None:
        """Say and remember everything, and change one's mind about a third of it."""
        mine = corpus()
        for at, text in enumerate(mine.texts):
            if mine.sessions[at] < 0:
                self._add(text)
            if at % 3 == 2:
                self._change(self._dice.choice(self._memories))
        for chat in sorted(set(mine.sessions.tolist()) - {-1}):
            texts = [
                text for text, one in zip(mine.texts, mine.sessions, strict=True) if one == chat
            ]
            self._tell(f"chat {chat}", texts, SPACES[chat % len(SPACES)])
        for id_ in self._dice.sample(self._memories, 6):
            self._change(id_)

    def _add(self, text: str) -> None:
        dice, memory = self._dice, self.ada
        space = dice.choice((*SPACES, "", ""))
        if space:
            memory = memory.in_space(space)
        if dice.random() < 0.15:
            memory = memory.as_agent("scribe")
        dated = clock.to_datetime(NOON - dice.randint(1, 400) * DAY)
        made = memory.add(
            text,
            type="user" if dice.random() < 0.1 else "context",
            path=dice.choice(("", "family", "work/plans", "健康", "reisen")),
            valid_from=dated if dice.random() < 0.3 else None,
        )
        self.names[id_of(made)] = text
        self._memories.append(id_of(made))

    def _change(self, id_: UUID) -> None:
        ada, words = self.ada, f"{self.names[id_]} ({self._dice.randint(2, 9)})"
        then = clock.to_datetime(NOON - DAY)
        changes = (
            lambda: ada.correct(id_, words, was_wrong=True),
            lambda: ada.correct(id_, words, changed_at=then),
            lambda: ada.retract(id_, ended_at=then),
            lambda: ada.archive(id_),
            lambda: ada.dispute(id_),
            lambda: ada.confirm(id_),
            lambda: ada.reject(id_),
            lambda: ada.move(id_, path="moved"),
            lambda: ada.pin(id_, 1),
            lambda: ada.forget(id_),
            ada.undo,
        )
        try:
            self.done.append(self._dice.choice(changes)().status)
        except RemembrancerError as error:
            self.done.append(error.code)

    def _tell(self, chat: str, texts: list[str], space: str) -> None:
        messages: list[IncomingMessage] = []
        for at, text in enumerate(texts):
            role = ROLES[at % len(ROLES)]
            messages.append(said(role, text, at, speaker="Noor" if role is Role.OTHER else ""))
        told = Conversation("test", tuple(messages), chat, space=space)
        stored = self.ada.tell(told)
        self.names.update(zip(stored.messages, texts, strict=True))

    def answers(self, memory: SyncPersonalMemory) -> list[object]:
        """What a handle of theirs answers to everything that is asked."""
        asked = [each.text for each in load_cases() if each.person == PERSON][::3]
        found: list[object] = []
        for at, query in enumerate(asked):
            space = SPACES[at % len(SPACES)]
            face = memory.in_space(space) if space else memory
            plain = face.recall(query)
            turns = [asked[at - 1], query]
            wide = Request(turns, k=30, total_budget=9_000, floor=False, messages=at % 2 == 0)
            found += [self._told(each) for each in (plain, face.recall(wide))]
            assert_in_order(plain)
            assert_accounted(plain)
        found.append(self._told(memory.recall(Request("", use_all=True))))
        past = memory.recall(asked[0], valid_at=clock.to_datetime(NOON - 2 * DAY))
        return [*found, self._told(past)]

    def _told(self, recall: Recall) -> object:
        name, trace = self.names.get, recall.trace
        return {
            "profile": without_ids(recall.profile_block),
            "recalled": without_ids(recall.recalled_block),
            "entries": [
                (name(e.id), e.rank, e.score, e.relevance, e.arms, e.at, e.path, e.trust, e.why)
                for e in recall.entries
            ],
            "omitted": sorted((str(name(each.id)), each.reason) for each in recall.omitted),
            "counts": dict(recall.omitted_counts),
            "fused": sorted(
                (each.score, str(name(each.id)), each.relevance, each.given) for each in trace.fused
            ),
            "arms": [
                (arm.name, arm.state, sorted((each.score, str(name(each.id))) for each in arm.top))
                for arm in trace.arms
            ],
            "rest": (recall.tokens, recall.degraded, trace.floor, trace.documents),
        }


def opened(place: Place) -> SyncRemembrancer:
    store = place.open(local_model())
    fix_clock(store, NOON + 30 * DAY)
    return store


@pytest.mark.postgresql
@pytest.mark.parametrize("seed", [7, 8])
def test_R7_both_stores_rank_alike(tmp_path: Path, migrated: tuple[str, str], seed: int) -> None:
    owner, log_in = migrated
    places = (
        Place("sqlite", tmp_path / "one"),
        Place("postgresql", tmp_path / "two", log_in, owner),
    )
    found: dict[str, object] = {}
    done = []
    for place in places:
        store = opened(place)
        life = Life(store, seed)
        life.live()
        done.append(life.done)
        found[place.kind] = life.answers(life.ada)
        again = opened(place)
        found[f"{place.kind}, a new handle"] = life.answers(again.person(life.ada.account.email))
        again.close()
        life.ada.reindex(pending=False)
        found[f"{place.kind}, made anew"] = life.answers(life.ada)
        store.close()
    assert done[0] == done[1]
    assert {"updated", "forgotten"} <= set(done[0])
    first = found.pop("sqlite")
    assert isinstance(first, list)
    assert sum(bool(each["entries"]) for each in first) > len(first) / 2
    for where, answers in found.items():
        for mine, theirs in zip(first, answers, strict=True):
            assert mine == theirs, where
