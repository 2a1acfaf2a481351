"""The numbers shipped with an embedding space: fusion's priors and the floor's calibration.

One JSON file a model in `spaces/`, written by `evals.calibration`. A space is known by its model
and the revision of its weights; another revision is another space, and without numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from remembrancer.errors import ConfigurationError
from remembrancer.recall.floor import Calibration, Weights
from remembrancer.recall.fusion import Prior, Priors

FOLDER: Final = "spaces"


@dataclass(frozen=True, slots=True)
class SpaceNumbers:
    """What recall knows of a space beforehand. No `calibration`: the stated default judges."""

    priors: Priors
    calibration: Calibration | None


UNCALIBRATED: Final = SpaceNumbers(
    priors=Priors(dense=Prior(0.0, 0.1), lexical=Prior(0.1, 0.6), dense_n0=0.0),
    calibration=None,
)
"""For a space without numbers. Its cosines are measured by the person's own documents alone, their
deviation taken for at least 0.05; BM25's prior doesn't depend on the space."""


@lru_cache(maxsize=32)
def for_space(model: str, revision: str) -> SpaceNumbers:
    """The shipped numbers of that model and revision, or `UNCALIBRATED`.

    Raises `ConfigurationError` if the shipped file can't be read.
    """
    for entry in sorted(files(__package__).joinpath(FOLDER).iterdir(), key=lambda file: file.name):
        if entry.name == f"{model}.json":
            numbers = _parsed(entry.read_text(encoding="utf-8"), entry.name)
            return numbers.get(revision, UNCALIBRATED)
    return UNCALIBRATED


def _parsed(text: str, name: str) -> Mapping[str, SpaceNumbers]:
    """By revision; all revisions listed in a file share its numbers."""
    try:
        found = json.loads(text)
        numbers = SpaceNumbers(_priors(found["priors"]), _calibration(found["calibration"]))
        return dict.fromkeys(found["revisions"], numbers)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"The numbers of an embedding space can't be read: {name} ({error!r}).",
            field="embedding space",
            value=name,
            hint="Reinstall the package.",
        ) from error


def _priors(found: Mapping[str, Any]) -> Priors:
    return Priors(
        dense=Prior(**found["cosine"]),
        lexical=Prior(**found["bm25"]),
        **found["weights"],
        n0=found["n0"],
        dense_n0=found["n0"],
    )


def _calibration(found: Mapping[str, Any]) -> Calibration:
    calibration = Calibration(
        head=np.array(found["head"], dtype=np.float64),
        head_bias=float(found["head_bias"]),
        centre=np.array(found["centre"], dtype=np.float64),
        weights=Weights(**found["weights"]),
        pending=Weights(**found["pending"]),
        floor=float(found["floor"]),
    )
    if calibration.head.shape != calibration.centre.shape or not 0.0 < calibration.floor < 1.0:
        raise ValueError("head and centre differ in length, or the floor is not between 0 and 1")
    return calibration
