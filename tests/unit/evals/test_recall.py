"""`eval recall` end to end on a tiny set: through a real store, index and model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remembrancer.embeddings.factory import NoEmbedder
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import EmbedderUnavailableError, InvalidInputError
from remembrancer.evals.recall import run_recall


class Broken(TrigramEmbedder):
    """Says which space it is, and embeds nothing."""

    def embed(self, texts, kind):
        raise EmbedderUnavailableError("The wire was cut.")


def test_the_local_model_finds_each_answer(tiny: Path) -> None:
    told: list[tuple[str, int, int]] = []
    found = run_recall(tiny, progress=lambda *step: told.append(step))
    assert found.conversations == 2
    assert found.seconds_storing > 0.0
    assert found.seconds_asking > 0.0
    assert found.overall.turn.n == found.overall.session.n == 5
    assert dict(found.overall.turn.recall)[10] == 1.0, "a ranking holds every turn"
    assert dict(found.overall.session.recall)[2] == 1.0
    categories = dict(found.categories)
    assert list(categories) == ["1", "2", "4", "5"]
    assert categories["4"].turn.n == 2
    assert categories["2"].turn.ndcg10 == 1.0, "the kiln is named in one turn"
    assert told[0] == ("storing turns", 7, 9)
    assert ("storing turns", 9, 9) in told
    assert told[-1] == ("asking questions", 5, 5)


def test_the_form_is_as_documented(tiny: Path) -> None:
    form: Any = run_recall(tiny, embedder=TrigramEmbedder()).as_json()
    assert set(form) == {"overall", "categories"}
    levels = [form["overall"], *form["categories"].values()]
    assert set(form["categories"]) == {"1", "2", "4", "5"}
    for level in levels:
        assert set(level) == {"turn", "session"}
        assert set(level["turn"]["recall"]) == {"5", "10", "25", "50"}
        assert set(level["session"]["recall"]) == {"2", "5", "10", "25", "50"}
        for figures in level.values():
            assert set(figures) == {"recall", "hit10", "ndcg10", "n"}
            assert figures["n"] > 0
            shares = [*figures["recall"].values(), figures["hit10"], figures["ndcg10"]]
            assert all(0.0 <= share <= 1.0 for share in shares)


def test_corrected_evidence_changes_what_is_right(tiny: Path) -> None:
    original = run_recall(tiny, conversations=[1], embedder=TrigramEmbedder())
    audited = run_recall(tiny, conversations=[1], audited=True, embedder=TrigramEmbedder())
    assert original.overall.turn.ndcg10 == 1.0
    assert 0.0 < audited.overall.turn.ndcg10 < 1.0, "its answer is now the other turn"


def test_some_conversations_can_be_picked_by_number(tiny: Path) -> None:
    assert run_recall(tiny, conversations=[1], embedder=TrigramEmbedder()).overall.turn.n == 1
    assert run_recall(tiny, conversations=[1, 0, 1], embedder=NoEmbedder()).overall.turn.n == 5


@pytest.mark.parametrize("number", [-1, 2])
def test_a_conversation_that_is_not_there_is_named(tiny: Path, number: int) -> None:
    with pytest.raises(InvalidInputError, match=f"no conversation {number}") as raised:
        run_recall(tiny, conversations=[number])
    assert raised.value.limit == "0…1"


def test_a_model_that_fails_is_not_measured_as_if_it_worked(tiny: Path) -> None:
    with pytest.raises(EmbedderUnavailableError, match="7 texts got no vector"):
        run_recall(tiny, embedder=Broken())
    by_words = run_recall(tiny, embedder=NoEmbedder())
    assert by_words.overall.turn.n == 5
