"""The record of one recall: what each arm found, what became of it, how long it took. Pure.

Ids, numbers and reasons only: no text of the person's, so that a stored trace never has to be
cleared of words. `as_json()` is what is stored and shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from remembrancer.recall.reasons import Kind, Omitted, Part


@dataclass(frozen=True, slots=True)
class Standing:
    """One place in an arm's top 50: a memory (by its version) or a message."""

    id: UUID
    version_id: UUID | None
    score: float

    @property
    def kind(self) -> Kind:
        return Kind.MESSAGE if self.version_id is None else Kind.MEMORY


@dataclass(frozen=True, slots=True)
class ArmTrace:
    """An arm's top 50, best first. `state` is ok, off or failed."""

    name: str
    state: str
    top: tuple[Standing, ...] = ()


@dataclass(frozen=True, slots=True)
class Fused:
    """A place in the one ranking: of what was given, or stood in an arm's top 50 and might be."""

    id: UUID
    kind: Kind
    score: float
    relevance: float
    given: bool


@dataclass(frozen=True, slots=True)
class FloorTrace:
    """The bar, and how the question itself was judged."""

    floor: float = 0.0
    asks: float | None = None
    calibrated: bool = False
    applied: bool = True


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything about one recall but its words."""

    turns: int
    """How many turns the question was made of."""
    index_seq: int | None = None
    """The state of the index that was searched; None when it failed."""
    documents: int = 0
    pending: int = 0
    """Documents without a vector: the vector arm can't see them yet."""
    embedding_space: int | None = None
    arms: tuple[ArmTrace, ...] = ()
    fused: tuple[Fused, ...] = ()
    floor: FloorTrace = FloorTrace()
    omitted: tuple[Omitted, ...] = ()
    omitted_counts: Mapping[str, int] | None = None
    degraded: tuple[Part, ...] = ()
    failures: tuple[tuple[Part, str], ...] = ()
    """Of each degraded part the error's code."""
    timings: tuple[tuple[str, float], ...] = ()
    """Milliseconds by stage."""

    def as_json(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {
            "turns": self.turns,
            "index_seq": self.index_seq,
            "documents": self.documents,
            "pending": self.pending,
            "embedding_space": self.embedding_space,
            "arms": [_arm(each) for each in self.arms],
            "fused": [
                {
                    "id": str(each.id),
                    "kind": each.kind.value,
                    "score": each.score,
                    "relevance": each.relevance,
                    "given": each.given,
                }
                for each in self.fused
            ],
            "floor": {
                "floor": self.floor.floor,
                "asks": self.floor.asks,
                "calibrated": self.floor.calibrated,
                "applied": self.floor.applied,
            },
            "omitted": [
                {"id": str(each.id), "kind": each.kind.value, "reason": each.reason.value}
                for each in self.omitted
            ],
            "omitted_counts": dict(self.omitted_counts or {}),
            "degraded": [each.value for each in self.degraded],
            "failures": {part.value: code for part, code in self.failures},
            "timings": dict(self.timings),
        }


def _arm(arm: ArmTrace) -> dict[str, object]:
    top = [
        {
            "id": str(each.id),
            "version_id": None if each.version_id is None else str(each.version_id),
            "score": each.score,
        }
        for each in arm.top
    ]
    return {"name": arm.name, "state": arm.state, "top": top}
