"""Scopes are minted by authentication: `accounts/service.py`, and nobody else.

Tests may mint; the package may not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGE, name_of, python_files, tree_of

MAY_MINT = "src/remembrancer/accounts/service.py"
SECRETS = {"mint", "_MINT"}


def mints(tree: ast.AST) -> Iterator[str]:
    """Where the mint is imported from `remembrancer.scope`, reached through it, or handed on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "remembrancer.scope":
            yield from (f"{node.lineno}: {a.name}" for a in node.names if a.name in SECRETS | {"*"})
        elif isinstance(node, ast.Attribute) and node.attr in SECRETS:
            yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.keyword) and node.arg == "mint":
            yield f"{node.value.lineno}: mint="
        elif isinstance(node, ast.Constant) and node.value in SECRETS:
            yield f"{node.lineno}: {node.value!r}"


def test_S1_only_the_accounts_service_mints_a_scope():
    others = {
        name_of(path): found
        for path in python_files(PACKAGE)
        if name_of(path) not in {MAY_MINT, "src/remembrancer/scope.py"}
        and (found := list(mints(tree_of(path))))
    }
    assert others == {}


def test_S1_the_accounts_service_does_mint():
    path = PACKAGE / "accounts" / "service.py"
    if not path.exists():
        pytest.skip("accounts.service is not there yet")
    assert list(mints(tree_of(path)))


@pytest.mark.parametrize(
    "source",
    [
        "from remembrancer.scope import mint",
        "from remembrancer.scope import *",
        "from remembrancer import scope\nscope.mint(who)",
        "import remembrancer.scope\nremembrancer.scope.mint(who)",
        "from remembrancer import scope\nx = scope._MINT",
        "Scope(who, mint=secret)",
        "getattr(scope, 'mint')(who)",
    ],
)
def test_each_way_to_the_mint_is_seen(source):
    assert list(mints(ast.parse(source)))


def test_an_ordinary_scope_is_not_taken_for_minting():
    source = "from remembrancer.scope import Scope\ndef f(s: Scope):\n    return s.within(x)"
    assert list(mints(ast.parse(source))) == []
