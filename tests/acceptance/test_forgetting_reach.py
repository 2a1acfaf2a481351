"""What a forget reaches, what it leaves to the person, and what it never touches."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module

import pytest
from sqlalchemy import LargeBinary

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.db.migrations.model import personal
from remembrancer.db.types import Str
from remembrancer.embeddings.base import Kind as TextKind
from remembrancer.embeddings.base import Vectors
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import ConflictError, NotFoundError, RefusedError
from remembrancer.events.kinds import Kind
from remembrancer.jobs import names, queue
from tests.acceptance.forgetting import (
    STATES,
    Secret,
    add_quoted,
    complete,
    engine_of,
    mine,
    word,
)
from tests.support.everywhere import Traces, found_in_rows
from tests.support.stores import Place, somebody

ERASURES = (
    "accounts",
    "conversations",
    "events",
    "index",
    "jobs",
    "memory",
    "policy",
    "tombstones",
)


def test_X1_every_personal_text_column_says_how_it_is_cleared() -> None:
    declared: set[tuple[str, str]] = set()
    for domain in ERASURES:
        erasure = getattr(import_module(f"remembrancer.{domain}.tables"), "ERASURE", None)
        if erasure is None:
            continue
        declared |= set(erasure.exempt)
        for each in erasure.texts:
            declared.add((each.table, each.column))
            module, name = each.cleared_by.rsplit(".", 1)
            assert callable(getattr(import_module(f"remembrancer.{module}"), name))
    wordy = {
        (table.name, column.name)
        for table in personal.tables.values()
        for column in table.columns
        if isinstance(column.type, Str | LargeBinary)
    }
    assert wordy, "no column was looked at"
    assert wordy - declared == set()
    assert declared - wordy == set()


def test_X1_all_versions_of_all_times_go_and_the_skeleton_stays(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada lives at Nygata 7.", path="home")
    assert made.id is not None
    ada.correct(made.id, "Ada lives at Strandgata 9.", changed_at="2026-03-01")
    ada.correct(made.id, "Ada lives at Strandgata 11.", was_wrong=True)
    before = ada.history(made.id)
    ada.forget(made.id)
    history = ada.history(made.id)
    assert history.forgotten
    assert len(history.versions) == len(before.versions) > 2
    assert {each.content for each in history.versions} == {None}
    assert [each.id for each in history.versions] == [each.id for each in before.versions]
    assert [each.kind for each in history.changes][-1] == "memory.forgotten"
    assert len(history.changes) == len(before.changes) + 1
    for at in ("2026-02-01", "2026-06-01"):
        assert ada.list(valid_at=at, known_at=None, trust=STATES) == []
    with pytest.raises(NotFoundError):
        ada.get(made.id)
    assert ada.verify().damage == ()
    assert len([each for each in ada.tombstones() if each.kind == "forgotten"]) == 3
    for value in ("Ada lives at Nygata 7.", "Ada lives at Strandgata 11."):
        assert ada.as_agent("scribe").add(value).code == "tombstoned"


def test_X1_a_twin_in_another_space_goes_too_and_its_neighbours_stay(
    ada: SyncPersonalMemory,
) -> None:
    value = "Ada owes Mina forty euros."
    house = ada.in_space("house")
    first, twin = ada.add(value), house.add(f"{value[:-1]}!?")
    beside = house.add("Ada owes Mina a book.")
    assert first.id is not None
    assert twin.id is not None
    assert beside.id is not None
    assert first.id != twin.id
    ada.forget(first.id)
    assert ada.history(twin.id).forgotten
    assert "forty" not in house.recall(value).recalled_block
    recalled = house.recall("Ada owes Mina a book.")
    assert [each.id for each in recalled.entries] == [beside.id]


def test_X1_another_memory_loses_only_the_versions_that_said_it(ada: SyncPersonalMemory) -> None:
    value = "Ada's boss is called Torstein."
    ada.tell(mine("The boss I have is Torstein. I like him.", external_id="c"))
    other = add_quoted(ada, value, "The boss I have is Torstein.", meta={"note": value})
    assert other.id is not None
    ada.correct(other.id, "Ada's boss is called Ragnhild.", changed_at="2026-05-01")
    same = ada.in_space("work").add(value)
    assert same.id is not None
    ada.forget(same.id)
    history = ada.history(other.id)
    assert not history.forgotten
    assert {each.content for each in history.versions} == {None, "Ada's boss is called Ragnhild."}
    assert [each.quote for each in history.evidence] == [None]
    found = ada.get(other.id)
    assert found is not None
    assert (found.content, found.meta) == ("Ada's boss is called Ragnhild.", {})
    blocks = [ada.recall(query).recalled_block for query in ("What is Ada's boss called?", value)]
    assert "Ragnhild" in blocks[0]
    assert "Torstein" not in "".join(blocks)
    assert ada.verify().damage == ()


def test_X1_a_longer_memory_that_says_it_is_proposed_to_be_forgotten(
    ada: SyncPersonalMemory,
) -> None:
    value = "Ada banks with Sparebanken Vest"
    longer = ada.add(f"{value} and pays the rent from there.")
    former = ada.add(f"Since May, {value} again.")
    assert longer.id is not None
    assert former.id is not None
    ada.correct(former.id, "Ada keeps her money at home.", changed_at="2026-06-01")
    other = ada.add("Ada banks on good weather.")
    made = ada.add(value)
    assert made.id is not None
    ada.forget(made.id)
    proposals = ada.proposals()
    assert {(each.op.value, each.target_id) for each in proposals} == {
        ("forget", longer.id),
        ("forget", former.id),
    }
    assert value in {each.content for each in ada.list()} or longer.id in {
        each.id for each in ada.list()
    }
    chosen = next(each for each in proposals if each.target_id == longer.id)
    assert ada.approve(chosen.id).status == "forgotten"
    assert {each.id for each in ada.list()} == {former.id, other.id}


def test_X1_a_candidate_whose_quote_says_it_keeps_its_place_in_the_inbox(
    ada: SyncPersonalMemory,
) -> None:
    value = "Ada hides her diary in the attic."
    ada.tell(mine(f"{value} It is red.", external_id="c"))
    ada.set_machine_writes("ask")
    waiting = add_quoted(ada, "Ada's diary is red.", f"{value} It is red.")
    assert waiting.status == "candidate"
    assert waiting.proposal is not None
    decided = ada.as_agent("scribe").add(f"Ada said: {value}")
    assert decided.proposal is not None
    assert decided.id is not None
    ada.decline(decided.proposal)
    made = ada.add(value)
    assert made.id is not None
    ada.forget(made.id)
    still = [each for each in ada.proposals() if each.id == waiting.proposal]
    assert [(each.op.value, each.quote) for each in still] == [("add", None)]
    assert decided.proposal in {each.id for each in ada.proposals("rejected")}
    assert ada.approve(waiting.proposal).status == "updated"


def test_X1_undo_never_covers_forgetting(ada: SyncPersonalMemory) -> None:
    kept = ada.add("Ada has a cat.")
    made = ada.add("Ada has a secret.")
    assert made.id is not None
    assert kept.id is not None
    outcome = ada.forget(made.id)
    for event in (outcome.event, made.event):
        with pytest.raises(ConflictError):
            ada.undo(event)
    ada.undo()
    assert ada.list() == []
    with pytest.raises(NotFoundError):
        ada.undo()
    assert ada.history(made.id).forgotten


def test_X1_a_machine_only_proposes_and_never_deletes(ada: SyncPersonalMemory) -> None:
    told = ada.tell(mine("I have a cat.", external_id="c"))
    made = ada.add("Ada has a cat.")
    assert made.id is not None
    agent = ada.as_agent("scribe")
    proposal = agent.forget(made.id)
    assert proposal.status == "proposed"
    assert proposal.proposal is not None
    with pytest.raises(RefusedError):
        agent.clear_all()
    with pytest.raises(RefusedError):
        agent.delete_chat(told.chat_id)
    with pytest.raises(RefusedError):
        agent.approve(proposal.proposal)
    with pytest.raises(RefusedError):
        agent.decline(proposal.proposal)
    assert [each.id for each in ada.list()] == [made.id]
    assert ada.approve(proposal.proposal).status == "forgotten"


@pytest.mark.parametrize("tombstones", [True, False])
def test_X1_clear_all_leaves_nothing_of_anything(
    place: Place, store: SyncRemembrancer, ada: SyncPersonalMemory, tombstones: bool
) -> None:
    secret = Secret(store, ada)
    secret.tell()
    ben = somebody(store, "ben")
    kept = ben.add(f"Ben knows of {word()}.")
    count = ada.clear_all(tombstones=tombstones)
    assert count == 4
    assert ada.list(trust=STATES) == []
    assert ada.proposals() == []
    found = found_in_rows(place, secret.traces)
    in_messages = {(each.table, each.column) for each in found} <= {
        ("messages", "text"),
        ("messages", "terms"),
    }
    assert in_messages
    returned = ada.as_agent("scribe").add(secret.value)
    assert returned.status == ("refused" if tombstones else "candidate")
    assert [each.id for each in ben.list()] == [kept.id]
    assert ada.verify().damage == ()


def test_X1_one_event_and_one_tombstone_a_value(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada has a secret garden.")
    assert made.id is not None
    before = len(ada.events())
    outcome = ada.forget(made.id)
    new = ada.events()[before:]
    assert [(each.kind, each.subject_id) for each in new] == [(Kind.MEMORY_FORGOTTEN, made.id)]
    (stone,) = ada.tombstones()
    assert new[0].payload.made == (stone.id,)
    assert new[0].seq == outcome.event
    assert (stone.kind, stone.text, stone.memory_id) == ("forgotten", None, made.id)


def test_X1_forgetting_in_a_batch_is_swept_as_well(
    store: SyncRemembrancer, ada: SyncPersonalMemory
) -> None:
    made = ada.add("Ada has a secret garden.")
    assert made.id is not None
    ada.forget(made.id)
    jobs = engine_of(store).db.read_now(ada._memory._scope, queue.open_jobs)
    assert names.SCRUB not in {each.name for each in jobs}


def test_X1_a_scrub_that_a_reader_blocks_is_tried_again(place: Place) -> None:
    if place.kind != "sqlite":
        pytest.skip("PostgreSQL has no write-ahead log of a person's own to cut.")
    store = place.open()
    ada = somebody(store)
    engine, scope = engine_of(store), ada._memory._scope
    token = word()
    made = ada.add(f"Ada keeps {token} in a drawer.")
    assert made.id is not None
    reading, done = threading.Event(), threading.Event()

    def read(unit: object) -> None:
        engine.memory  # noqa: B018
        queue.open_jobs(unit)  # type: ignore[arg-type]
        reading.set()
        done.wait(60)

    reader = threading.Thread(target=engine.db.read_now, args=(scope, read))
    reader.start()
    reading.wait(10)
    try:
        ada.forget(made.id)
        waiting = {each.name for each in engine.db.read_now(scope, queue.open_jobs)}
        assert names.SCRUB in waiting
    finally:
        done.set()
        reader.join()
    from tests.acceptance.forgetting import run
    from tests.support.everywhere import found_in_files

    assert run(store, engine.memory.sweep(scope))
    waiting = {each.name for each in engine.db.read_now(scope, queue.open_jobs)}
    assert names.SCRUB not in waiting
    assert found_in_files(place, Traces((token,), ())) == set()
    store.close()


class _Gate(TrigramEmbedder):
    """Embeds once it is let; says when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.asked, self.opened = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        if self.closed:
            self.asked.set()
            assert self.opened.wait(30)
        return super().embed(texts, kind)


@pytest.mark.parametrize("first", ["forget", "vector"])
def test_X1_a_vector_completed_meanwhile_never_comes_back(place: Place, first: str) -> None:
    gate = _Gate()
    store = place.open(gate)
    ada = somebody(store)
    engine, scope = engine_of(store), ada._memory._scope
    ada.add("Ada likes soup.")
    token = word()
    ada.tell(mine(f"Hello. Ada keeps {token} in a drawer. Bye.", external_id="c"))
    made = ada.add(f"Ada keeps {token} in a drawer.")
    assert made.id is not None
    from tests.acceptance.forgetting import rebuild

    if first == "vector":
        rebuild(store, ada)
        ada.forget(made.id)
    else:
        from remembrancer.memory import reindexing

        engine.db.write_now(scope, reindexing._drop_vectors)
        gate.closed = True
        completing = threading.Thread(target=complete, args=(store, ada))
        completing.start()
        assert gate.asked.wait(30)
        ada.forget(made.id)
        gate.opened.set()
        completing.join(60)
        gate.closed = False
    complete(store, ada)
    traces = Traces((), (f"Ada keeps {token} in a drawer.",))
    assert found_in_rows(place, traces) == set()
    assert "soup" in ada.recall("Does Ada like soup?").recalled_block
    assert "drawer" not in ada.recall("What is in the drawer?").recalled_block
    store.close()
