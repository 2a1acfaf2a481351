"""Spaces, the trigram embedder, storage forms and the factory."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest

from remembrancer.embeddings.base import Kind, SpaceSpec, clean, normalised
from remembrancer.embeddings.factory import EmbedderSettings, make_embedder
from remembrancer.embeddings.http import HttpEmbedder
from remembrancer.embeddings.local import LocalEmbedder
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.embeddings.vectors import from_half, rows_to_half, to_half
from remembrancer.errors import (
    ConfigurationError,
    DamageFoundError,
    EmbedderError,
    EmbedderUnavailableError,
)

TEXTS = ["I live in Lisbon", "Ich wohne in Lissabon", "我住在里斯本", "🍏"]


def test_the_key_is_stable_and_follows_all_that_decides_a_vector():
    spec = SpaceSpec(model="m", revision="r", dimension=4)
    assert spec.key == "5f3da5b7d037fd5bf0c52287a7cd7f8f"
    assert spec.key == SpaceSpec(model="m", revision="r", dimension=4).key
    assert replace(spec, external=True).key == spec.key
    others = [
        replace(spec, model="n"),
        replace(spec, revision="s"),
        replace(spec, dimension=5),
        replace(spec, query_prefix="q"),
        replace(spec, passage_prefix="q"),
        replace(spec, max_tokens=9),
        replace(spec, window="w"),
    ]
    assert len({spec.key, *(other.key for other in others)}) == 8


def test_trigrams_are_the_described_ones():
    text = "Ab c"
    expected = np.zeros(384)
    padded = f" {text.lower()} "
    for at in range(len(padded) - 2):
        number = zlib.crc32(padded[at : at + 3].encode())
        expected[number % 384] += 1 if number & (1 << 20) else -1
    expected /= np.linalg.norm(expected)
    found = TrigramEmbedder().embed([text], Kind.QUERY)
    assert found.dtype == np.float32
    assert np.allclose(found[0], expected, atol=1e-6)


def test_trigrams_know_equal_near_and_far():
    embedder = TrigramEmbedder()
    found = embedder.embed(
        ["my dog is called Rex", "MY DOG is called  Rex", "my dog was called Rex", "税务局"],
        Kind.PASSAGE,
    )
    assert found[0] @ found[1] == pytest.approx(1.0)
    assert found[0] @ found[2] > 0.6
    assert abs(found[0] @ found[3]) < 0.3
    assert not embedder.embed([""], Kind.QUERY).any()
    assert embedder.embed([], Kind.QUERY).shape == (0, 384)


def test_clean_and_normalised():
    assert clean("a\0b\ud800 \n c") == "a b? c"
    assert np.allclose(normalised(np.array([[3.0, 4.0], [0.0, 0.0]]), source="x")[0], [0.6, 0.8])
    with pytest.raises(EmbedderError, match="x returned"):
        normalised(np.array([[np.nan, 1.0]]), source="x")


def test_half_round_trips_and_refuses_broken_bytes():
    vectors = TrigramEmbedder().embed(TEXTS, Kind.PASSAGE)
    blob = to_half(vectors)
    assert len(blob) == 4 * 384 * 2
    assert b"".join(rows_to_half(vectors)) == blob
    assert to_half(np.ones((1, 1), np.float32)) == b"\x00\x3c"
    back = from_half(blob, 384)
    assert back.dtype == np.float32
    assert np.abs(back - vectors).max() < 2**-11
    with pytest.raises(DamageFoundError, match="not a multiple"):
        from_half(blob[:-1], 384)


def test_the_factory_makes_each_kind():
    local = make_embedder(EmbedderSettings())
    assert isinstance(local, LocalEmbedder)
    trigram = make_embedder(EmbedderSettings(kind="trigram", dimension=16))
    assert trigram.spec.dimension == 16
    http = make_embedder(
        EmbedderSettings(kind="http", url="http://127.0.0.1:1", model="m", dimension=3)
    )
    assert isinstance(http, HttpEmbedder)
    assert (http.spec.model, http.spec.dimension) == ("m", 3)
    for embedder in (local, trigram, http):
        embedder.close()


def test_none_says_so():
    embedder = make_embedder(EmbedderSettings(kind="none"))
    with pytest.raises(EmbedderUnavailableError, match="No embedder is configured"):
        embedder.embed(["x"], Kind.QUERY)
    with pytest.raises(EmbedderUnavailableError, match="No embedder is configured"):
        _ = embedder.spec
    embedder.close()


def test_bad_settings_are_named():
    with pytest.raises(ConfigurationError, match="url"):
        make_embedder(EmbedderSettings(kind="http", model="m"))
    with pytest.raises(ConfigurationError, match="model"):
        make_embedder(EmbedderSettings(kind="http", url="http://127.0.0.1"))
    with pytest.raises(ConfigurationError, match="'magic'"):
        make_embedder(EmbedderSettings(kind="magic"))
    assert "sk-1" not in repr(EmbedderSettings(api_key="sk-1"))
