"""The HTTP embedder against a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from remembrancer.embeddings.address import endpoint, is_external
from remembrancer.embeddings.base import Kind
from remembrancer.embeddings.http import HttpEmbedder, retry_after
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import ConfigurationError, EmbedderError, EmbedderUnavailableError
from tests.support.embed_server import EmbedServer, Turn

KEY = "sk-very-secret"
NOW = {"Retry-After": "0"}


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer() as running:
        yield running


@pytest.fixture
def embedder(server: EmbedServer) -> Iterator[HttpEmbedder]:
    made = HttpEmbedder(server.url, "tiny", KEY, timeout=5)
    yield made
    made.close()


def test_vectors_come_back_in_order_and_of_length_one(server, embedder):
    server.script.append(Turn(reverse=True))
    texts = ["a red apple", "the tax office", "un perro"]
    found = embedder.embed(texts, Kind.PASSAGE)
    assert found.dtype == np.float32
    assert np.allclose(found, TrigramEmbedder(32).embed(texts, Kind.PASSAGE), atol=1e-6)
    assert server.requests[0] == {"model": "tiny", "input": texts, "encoding_format": "float"}
    assert server.authorizations == [f"Bearer {KEY}"]
    assert server.paths == ["/v1/embeddings"]


def test_base64_is_understood(server, embedder):
    server.script.append(Turn(base64=True))
    found = embedder.embed(["a red apple"], Kind.QUERY)
    assert np.allclose(found, TrigramEmbedder(32).embed(["a red apple"], Kind.QUERY), atol=1e-6)


def test_dimension_is_asked_for_once(server, embedder):
    assert embedder.spec.dimension == 32
    assert embedder.embed([], Kind.QUERY).shape == (0, 32)
    assert embedder.spec.model == embedder.spec.revision == "tiny"
    assert len(server.requests) == 1


def test_many_texts_go_in_requests_of_64(server, embedder):
    texts = [f"text number {n}" for n in range(130)]
    found = embedder.embed(texts, Kind.PASSAGE)
    assert [len(request["input"]) for request in server.requests] == [64, 64, 2]
    assert np.allclose(found, TrigramEmbedder(32).embed(texts, Kind.PASSAGE), atol=1e-6)


def test_prefixes_cleaning_and_the_cut(server):
    made = HttpEmbedder(
        server.url, "tiny", query_prefix="query: ", passage_prefix="passage: ", max_characters=10
    )
    made.embed(["a\0b \ud800"], Kind.QUERY)
    made.embed(["x" * 50], Kind.PASSAGE)
    made.close()
    assert [request["input"] for request in server.requests] == [
        ["query: a b ?"],
        ["passage: " + "x" * 10],
    ]
    assert server.authorizations == [None, None]


def test_an_empty_text_is_sent_as_a_space(server, embedder):
    server.script.append(Turn(body=b'{"data": [{"embedding": [0.6, 0.8]}]}'))
    assert embedder.embed([""], Kind.PASSAGE).shape == (1, 2)
    assert server.requests[0]["input"] == [" "]


def test_busy_then_well_is_retried(server, embedder):
    server.script.extend([Turn(status=429, headers=NOW), Turn(status=503, headers=NOW)])
    assert embedder.embed(["hello there"], Kind.QUERY).shape == (1, 32)
    assert len(server.requests) == 3


def test_busy_for_good_is_unavailable_and_names_host_and_status(server, embedder):
    server.script.extend([Turn(status=500, headers=NOW)] * 3)
    with pytest.raises(EmbedderUnavailableError) as caught:
        embedder.embed(["private words"], Kind.QUERY)
    assert "127.0.0.1" in str(caught.value)
    assert "500" in str(caught.value)
    assert len(server.requests) == 3
    assert embedder.embed(["private words"], Kind.QUERY).shape == (1, 32)


def test_a_long_wait_is_not_waited_for(server, embedder):
    server.script.append(Turn(status=429, headers={"Retry-After": "3600"}))
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailableError, match="3600 s"):
        embedder.embed(["x"], Kind.QUERY)
    assert time.monotonic() - began < 3
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "hint"), [(401, "API key"), (404, "model name"), (400, "400")])
def test_a_refusal_is_not_retried_and_says_what_to_check(server, embedder, status, hint):
    server.script.append(Turn(status=status))
    with pytest.raises(EmbedderError, match=hint) as caught:
        embedder.embed(["private words"], Kind.QUERY)
    assert len(server.requests) == 1
    assert KEY not in str(caught.value) + repr(caught.value)
    assert "private" not in str(caught.value)


def test_slow_is_unavailable(server):
    server.script.append(Turn(delay=0.5))
    made = HttpEmbedder(server.url, "tiny", timeout=0.1)
    with pytest.raises(EmbedderUnavailableError, match=r"within 0\.1 s"):
        made.embed(["x"], Kind.QUERY)
    assert made.embed(["x y z"], Kind.QUERY).shape == (1, 32)
    made.close()


def test_nobody_there_is_unavailable():
    with EmbedServer() as gone:
        url = gone.url
    made = HttpEmbedder(url, "tiny", KEY)
    with pytest.raises(EmbedderUnavailableError, match=r"127\.0\.0\.1 can't be reached"):
        _ = made.spec
    made.close()


def test_another_dimension_than_before_is_an_error(server, embedder):
    assert embedder.spec.dimension == 32
    server.script.append(Turn(dimension=16))
    with pytest.raises(EmbedderError, match="16 numbers, not 32"):
        embedder.embed(["x"], Kind.QUERY)
    assert embedder.embed(["hello"], Kind.QUERY).shape == (1, 32)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>", "not JSON"),
        (b"[]", "no embeddings for 1 texts"),
        (b'{"data": []}', "0 embeddings for 1 texts"),
        (b'{"data": [{"index": 4, "embedding": [1.0]}]}', "numbered"),
        (b'{"data": [3]}', "numbered"),
        (b'{"data": [{"embedding": [NaN, 1.0]}]}', "NaN"),
        (b'{"data": [{"embedding": [1.0, 1e999]}]}', "infinity"),
        (b'{"data": [{"embedding": [0.0, 0.0]}]}', "zeros"),
        (b'{"data": [{"embedding": []}]}', "not a list of numbers"),
        (b'{"data": [{"embedding": null}]}', "not a"),
        (b'{"data": [{"embedding": ["a"]}]}', "not numbers"),
        (b'{"data": [{"embedding": "%%%"}]}', "not numbers"),
        (b'{"data": [{"embedding": "YWJj"}]}', "not numbers"),
    ],
)
def test_an_unusable_answer_is_said_in_words(server, embedder, body, words):
    server.script.append(Turn(body=body))
    with pytest.raises(EmbedderError, match=words):
        embedder.embed(["x"], Kind.QUERY)
    assert embedder.embed(["hello"], Kind.QUERY).shape == (1, 32)


def test_a_short_answer_is_an_error(server, embedder):
    server.script.append(Turn(drop=1))
    with pytest.raises(EmbedderError, match="1 embeddings for 2 texts"):
        embedder.embed(["x y", "z w"], Kind.QUERY)


def test_close_ends_a_wait_for_a_retry(server, embedder):
    server.script.append(Turn(status=503, headers={"Retry-After": "4"}))
    threading.Timer(0.2, embedder.close).start()
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailableError):
        embedder.embed(["x"], Kind.QUERY)
    assert time.monotonic() - began < 3
    with pytest.raises(EmbedderUnavailableError, match="closed"):
        embedder.embed(["x"], Kind.QUERY)


def test_a_key_that_no_header_can_hold():
    with pytest.raises(ConfigurationError) as caught:
        HttpEmbedder("http://127.0.0.1/v1", "tiny", "sk-se\ncret")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://h:8080", "http://h:8080/v1/embeddings"),
        ("http://h/", "http://h/v1/embeddings"),
        ("https://h/v1/", "https://h/v1/embeddings"),
        ("https://h/api/openai", "https://h/api/openai/embeddings"),
        ("https://h/v1/embeddings", "https://h/v1/embeddings"),
    ],
)
def test_the_endpoint_of_a_base_url(given, asked):
    assert str(endpoint(given)) == asked


@pytest.mark.parametrize("given", ["", "ftp://h/v1", "h:80", "http://", "http://[::1"])
def test_a_url_that_is_none(given):
    with pytest.raises(ConfigurationError, match="http"):
        endpoint(given)


@pytest.mark.parametrize(
    ("host", "external"),
    [
        ("127.0.0.1", False),
        ("localhost", False),
        ("10.1.2.3", False),
        ("192.168.0.9", False),
        ("169.254.1.1", False),
        ("::1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("8.8.8.8", True),
        ("::ffff:8.8.8.8", True),
        ("2606:4700::1111", True),
        ("no-such-host.invalid", True),
    ],
)
def test_P5_what_counts_as_external(host, external):
    assert is_external(host) is external


def test_P5_the_space_says_whether_it_is_external(embedder):
    assert embedder.spec.external is embedder.external is False
    away = HttpEmbedder("https://8.8.8.8/v1", "tiny", dimension=32)
    assert away.spec.external is True
    assert away.spec.key == embedder.spec.key
    away.close()


def test_retry_after_reads_numbers_dates_and_nonsense():
    assert retry_after("7", 0) == 7
    assert retry_after(None, 1) == 1.0
    assert retry_after("soon", 0) == 0.5
    later = datetime.now(UTC) + timedelta(seconds=60)
    assert 50 < retry_after(format_datetime(later, usegmt=True), 0) <= 60
    assert retry_after("Thu, 01 Jan 1970 00:00:00 -0000", 0) == 0
