"""The pure modules: no input, no output, no clock. Run as a program, it lists their files.

The list is a promise: each is covered to the last branch, and imports nothing that does I/O.
"""

from __future__ import annotations

from pathlib import Path

from tests.architecture.tree import PACKAGE, modules, name_of

PURE = (
    "remembrancer.memory.models",
    "remembrancer.memory.timeline",
    "remembrancer.memory.transitions",
    "remembrancer.text",
    "remembrancer.recall.fusion",
    "remembrancer.recall.floor",
    "remembrancer.recall.assembly",
)
COVERED_TOO = ("remembrancer.clock", "remembrancer.ids")
"""They ask the clock, and are small enough to be held to the same coverage."""


def existing(names: tuple[str, ...]) -> dict[str, Path]:
    """Those of `names` that are there, packages with all their modules."""
    return {
        module: path
        for module, path in modules().items()
        if any(module == name or module.startswith(f"{name}.") for name in names)
    }


if __name__ == "__main__":
    assert PACKAGE.is_dir()
    print(",".join(name_of(path) for path in existing(PURE + COVERED_TOO).values()))
