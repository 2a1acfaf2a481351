"""Off is off for reading too: every call of the reading half refuses a machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import RefusedError
from remembrancer.library.reading import ReadableMemory

READS = sorted(
    name
    for name, _ in inspect.getmembers(ReadableMemory, inspect.iscoroutinefunction)
    if not name.startswith("_")
)
GIVEN: Mapping[str, Callable[[UUID], object]] = {
    "memory_id": lambda memory: memory,
    "ids": lambda memory: [memory],
    "query": lambda _: "Where are the bees?",
}
"""A value for each argument that a call can't do without."""


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[SyncPersonalMemory]:
    with SyncRemembrancer(tmp_path, embedder=TrigramEmbedder()) as handle:
        yield handle.person("ada")


def call(face: SyncPersonalMemory, name: str, memory: UUID) -> object:
    parameters = inspect.signature(getattr(ReadableMemory, name)).parameters.values()
    needed = [
        each.name for each in parameters if each.default is each.empty and each.name != "self"
    ]
    return getattr(face, name)(**{each: GIVEN[each](memory) for each in needed})


def test_the_reading_half_is_found() -> None:
    assert {"get", "recall", "proposals", "tombstones", "events", "verify"} <= set(READS)


@pytest.mark.parametrize("name", READS)
def test_W7_off_lets_no_machine_read(ada: SyncPersonalMemory, name: str) -> None:
    made = ada.add("Ada keeps bees.")
    assert made.id is not None
    agent = ada.as_agent("scout")
    call(agent, name, made.id)
    ada.set_machine_writes("off")
    with pytest.raises(RefusedError) as caught:
        call(agent, name, made.id)
    assert caught.value.field == "policy"
    call(ada, name, made.id)
