"""The project's own files, as the architecture tests look at them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PACKAGE = TOP / "src" / "remembrancer"

_SKIPPED = {"__pycache__", "build", "dist", "htmlcov", "node_modules"}


@cache
def files() -> tuple[Path, ...]:
    """What is or would be committed; outside of a git checkout, all but caches and `.venv`."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        found = [TOP / name for name in listing.stdout.decode().split("\0") if name]
    else:
        found = list(_walk(TOP))
    return tuple(sorted(path for path in set(found) if path.is_file()))


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        hidden = path.name.startswith(".") and path.name != ".ci"
        if path.is_dir():
            if not hidden and path.name not in _SKIPPED:
                yield from _walk(path)
        else:
            yield path


def python_files(under: Path = TOP) -> list[Path]:
    return [path for path in files() if path.suffix == ".py" and path.is_relative_to(under)]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """The path from the top of the project, with forward slashes."""
    return path.relative_to(TOP).as_posix()


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name; a package by its own."""
    found = {}
    for path in python_files(PACKAGE):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path: Path) -> set[str]:
    """Dotted names that a module imports, `from a import b` as `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found
