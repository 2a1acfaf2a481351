"""X2: what a machine says again in other words waits for the person, with a mark (local model)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer import SyncRemembrancer
from remembrancer.embeddings.local import LocalEmbedder
from remembrancer.memory.models import Op
from tests.support.stores import Place, somebody

SAID = {
    "en": ("Ada quit smoking in 2019.", "Ada stopped smoking in 2019.", "Ada collects stamps."),
    "de": (
        "Adas Schwester Mina wohnt in Lyon.",
        "Mina, die Schwester von Ada, lebt in Lyon.",
        "Ada sammelt alte Briefmarken.",
    ),
    "zh": ("艾达2019年戒了烟。", "艾达从2019年起不再抽烟。", "昨天的面包很好吃。"),
    "es": ("Ada prefiere el té al café.", "A Ada le gusta más el té que el café.", "Llueve hoy."),
}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncRemembrancer]:
    folder: Path = tmp_path_factory.mktemp("local")
    store = Place("sqlite", folder / "data").open(LocalEmbedder())
    yield store
    store.close()


@pytest.mark.parametrize("state", ["rejected", "refuted"])
@pytest.mark.parametrize("language", SAID)
def test_X2_a_paraphrase_becomes_a_candidate_that_is_marked(
    local: SyncRemembrancer, language: str, state: str
) -> None:
    value, paraphrase, other = SAID[language]
    ada = somebody(local)
    made = ada.add(value)
    assert made.id is not None
    if state == "rejected":
        ada.reject(made.id)
    else:
        ada.retract(made.id, was_wrong=True)
    ada.set_machine_writes("accept_all")
    agent = ada.as_agent("scribe")
    (stone,) = ada.tombstones()
    assert agent.add(value).code == "tombstoned"
    outcome = agent.add(paraphrase)
    assert (outcome.status, outcome.resembles) == ("candidate", stone.id)
    assert outcome.id not in {each.id for each in ada.recall(paraphrase).entries}
    free = agent.add(other)
    assert (free.status, free.resembles) == ("created", None)


def test_X2_a_correction_in_other_words_is_only_proposed(local: SyncRemembrancer) -> None:
    value, paraphrase, other = SAID["en"]
    ada = somebody(local)
    made = ada.add(value)
    assert made.id is not None
    ada.reject(made.id)
    ada.set_machine_writes("accept_all")
    agent = ada.as_agent("scribe")
    target = agent.add("Ada keeps bees behind the barn.")
    assert target.status == "created"
    assert target.id is not None
    outcome = agent.correct(target.id, paraphrase)
    assert (outcome.status, outcome.resembles) == ("proposed", ada.tombstones()[0].id)
    assert agent.correct(target.id, other).status == "updated"


def test_near_duplicates_are_offered_as_one_and_neighbours_are_not(
    local: SyncRemembrancer,
) -> None:
    ada = somebody(local)
    first = ada.add("Ada drives an old red Volvo.")
    ada.add("Ada rides a new blue bicycle.")
    assert ada.proposals() == []
    again = ada.add("The car Ada drives is an old red Volvo.")
    (proposal,) = ada.proposals()
    assert (proposal.op, proposal.target_id, proposal.other_id) == (Op.MERGE, first.id, again.id)
