"""Any OpenAI-compatible embeddings endpoint, over a synchronous client.

Errors name the host, the status and the wait; never the key, the texts or what the service wrote.
What may be sent to an external service is the policy's business: this only says that it is one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx
import numpy as np

from remembrancer.embeddings.address import endpoint, is_external
from remembrancer.embeddings.answer import parse_answer
from remembrancer.embeddings.base import Kind, SpaceSpec, Vectors, clean
from remembrancer.errors import ConfigurationError, EmbedderError, EmbedderUnavailableError

BATCH: Final = 64
"""Inputs per request: far under what services allow (OpenAI 2,048), small enough to time out."""
RETRIES: Final = 2
LONGEST_WAIT_SECONDS: Final = 5.0
"""A service that asks for more than this is treated as unavailable at once."""
MAX_CHARACTERS: Final = 8_000
"""Of a longer text only the beginning is sent: within the 8,191 tokens OpenAI's models take, in
every script. A server whose model takes less must cut by itself."""

_TRY_LATER: Final = frozenset({429, 500, 502, 503, 504})
_HINTS: Final = {
    401: "Check the embedder's API key.",
    403: "Check what the embedder's API key may do.",
    404: "Check the embedder's URL and model name.",
}


class HttpEmbedder:
    """`POST …/v1/embeddings` behind the port; safe to share between threads.

    `base_url` may end at the host, at `/v1` or at `/embeddings`. Without `dimension` the first
    answer decides it. `timeout` is seconds per request.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dimension: int | None = None,
        timeout: float = 10.0,
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        self._url = endpoint(base_url)
        self._host = self._url.host
        self._model = model
        self._dimension = dimension
        self._prefixes = {Kind.QUERY: query_prefix, Kind.PASSAGE: passage_prefix}
        self._max_characters = max_characters
        self._closed = threading.Event()
        self.external = is_external(self._host)
        # A proxy from the environment would carry private texts away from a private address.
        self._client = httpx.Client(
            timeout=timeout, headers=_headers(api_key), trust_env=self.external
        )

    @property
    def spec(self) -> SpaceSpec:
        """The space; asks the service for its dimension if that is not known yet."""
        if self._dimension is None:
            self.embed(["dimension"], Kind.PASSAGE)
        assert self._dimension is not None
        return SpaceSpec(
            model=self._model,
            revision=self._model,
            dimension=self._dimension,
            query_prefix=self._prefixes[Kind.QUERY],
            passage_prefix=self._prefixes[Kind.PASSAGE],
            window=f"first {self._max_characters} characters",
            external=self.external,
        )

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Unit vectors, asked for in requests of at most 64 texts."""
        if not texts:
            return np.zeros((0, self.spec.dimension), dtype=np.float32)
        prepared = [self._prepared(text, kind) for text in texts]
        parts = [self._batch(prepared[at : at + BATCH]) for at in range(0, len(prepared), BATCH)]
        return np.concatenate(parts)

    def close(self) -> None:
        """Ends a wait for a retry and closes the connections; a later `embed` is refused."""
        self._closed.set()
        self._client.close()

    def _prepared(self, text: str, kind: Kind) -> str:
        """Cleaned, cut, prefixed; services refuse an empty input, so that becomes a space."""
        return self._prefixes[kind] + clean(text)[: self._max_characters] or " "

    def _batch(self, texts: list[str]) -> Vectors:
        response = self._post(texts)
        try:
            body = response.json()
        except ValueError:
            raise EmbedderError(
                f"The embedding service at {self._host} answered something that is not JSON.",
                hint=_HINTS[404],
            ) from None
        vectors = parse_answer(body, len(texts), self._dimension, source=self._name)
        self._dimension = vectors.shape[1]
        return vectors

    def _post(self, texts: list[str]) -> httpx.Response:
        """The first usable response, after at most two retries."""
        payload: dict[str, object] = {
            "model": self._model,
            "input": texts,
            "encoding_format": "float",
        }
        for attempt in range(RETRIES + 1):
            response = self._send(payload)
            if response.is_success:
                return response
            status = response.status_code
            if status not in _TRY_LATER:
                raise EmbedderError(
                    f"{self._name} refused the request with status {status}.",
                    value=status,
                    hint=_HINTS.get(status),
                )
            wait = retry_after(response.headers.get("Retry-After"), attempt)
            if attempt == RETRIES or wait > LONGEST_WAIT_SECONDS or self._closed.wait(wait):
                raise EmbedderUnavailableError(
                    f"{self._name} answered with status {status} "
                    f"({attempt + 1} tries; the next would wait {wait:g} s).",
                    value=status,
                    hint="It is busy or broken; try again later.",
                )
        raise AssertionError("The loop returns or raises.")

    def _send(self, payload: dict[str, object]) -> httpx.Response:
        if self._closed.is_set():
            raise EmbedderUnavailableError(f"The embedder for {self._host} is closed.")
        try:
            return self._client.post(self._url, json=payload)
        except httpx.TimeoutException as error:
            seconds = self._client.timeout.read
            raise EmbedderUnavailableError(
                f"{self._name} did not answer within {seconds:g} s.", limit=seconds
            ) from error
        except (httpx.HTTPError, RuntimeError) as error:
            # RuntimeError: the client was closed under the request.
            raise EmbedderUnavailableError(
                f"{self._name} can't be reached ({type(error).__name__}).",
                hint="Check that it runs, and the embedder's URL.",
            ) from error

    @property
    def _name(self) -> str:
        return f"The embedding service at {self._host}"


def _headers(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        raise ConfigurationError(
            "The embedder's API key holds characters that no HTTP header can.",
            field="api_key",
            hint="Look for a line break or a typographic quote around it.",
        )
    return {"Authorization": f"Bearer {api_key}"}


def retry_after(value: str | None, attempt: int) -> float:
    """Seconds to wait: the header's number or date (RFC 9110, 10.2.3), else 0.5 · 2^attempt."""
    fallback: float = 0.5 * (1 << attempt)
    if value is None:
        return fallback
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return fallback
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
