"""From settings to an embedder. Opens nothing: models and connections wait for the first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from remembrancer.embeddings.base import Embedder, Kind, SpaceSpec, Vectors
from remembrancer.embeddings.local import LocalEmbedder
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import ConfigurationError, EmbedderUnavailableError

EmbedderKind: TypeAlias = Literal["local", "http", "trigram", "none"]


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What is configured. `url` and `model` are for `http`; `threads` for `local`."""

    kind: EmbedderKind = "local"
    url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimension: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int = 1


class NoEmbedder:
    """Stands where embedding is switched off: says so, and recall is lexical."""

    @property
    def spec(self) -> SpaceSpec:
        """Always raises `EmbedderUnavailableError`: there is no space."""
        raise self._absence()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:  # noqa: ARG002  # the port's
        """Always raises `EmbedderUnavailableError`."""
        raise self._absence()

    def close(self) -> None:
        """Nothing is held."""

    def _absence(self) -> EmbedderUnavailableError:
        return EmbedderUnavailableError("No embedder is configured.")


def make_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder of that kind; `ConfigurationError` for what is missing or unknown."""
    match settings.kind:
        case "local":
            return LocalEmbedder(threads=settings.threads)
        case "http":
            from remembrancer.embeddings.http import HttpEmbedder  # an HTTP client is slow to load

            return HttpEmbedder(
                _required(settings.url, "url"),
                _required(settings.model, "model"),
                settings.api_key,
                settings.dimension,
                query_prefix=settings.query_prefix,
                passage_prefix=settings.passage_prefix,
            )
        case "trigram":
            return TrigramEmbedder(settings.dimension or 384)
        case "none":
            return NoEmbedder()
    raise ConfigurationError(
        f"There is no embedder kind {settings.kind!r}.",
        field="kind",
        value=settings.kind,
        limit="local, http, trigram, none",
    )


def _required(value: str | None, name: str) -> str:
    if not value:
        raise ConfigurationError(
            f"The http embedder needs a {name}.", field=name, hint=f"Set the embedder's {name}."
        )
    return value
