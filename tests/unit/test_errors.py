"""The tree of errors: stable codes, one line for a person, a form for programs."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

import remembrancer
from remembrancer import errors
from remembrancer.errors import RemembrancerError


def tree(root: type[RemembrancerError] = RemembrancerError) -> list[type[RemembrancerError]]:
    return [root, *(each for child in root.__subclasses__() for each in tree(child))]


OURS = [each for each in tree() if each.__module__ == errors.__name__]


def test_codes_are_stable_and_nobody_shares_one() -> None:
    assert {each.__name__: each.code for each in OURS} == {
        "RemembrancerError": "error",
        "InvalidInputError": "invalid",
        "NotFoundError": "not_found",
        "ConflictError": "conflict",
        "StaleVersionError": "stale_version",
        "DuplicateError": "duplicate_of",
        "TransitionError": "transition",
        "IdempotencyError": "idempotency_key_reused",
        "RefusedError": "refused",
        "ConfigurationError": "configuration",
        "StoreError": "store",
        "StoreLockedError": "store_locked",
        "StoreUnavailableError": "store_unavailable",
        "SchemaError": "schema",
        "UnsupportedServerError": "unsupported_server",
        "PrivilegedRoleError": "privileged_role",
        "DamageFoundError": "damage_found",
        "EmbedderError": "embedder",
        "EmbedderUnavailableError": "embedder_unavailable",
        "ModelMissingError": "model_missing",
    }


def test_every_error_stands_in_the_drawing() -> None:
    drawn = set(re.findall(r"\b[A-Z]\w+Error\b", errors.__doc__ or ""))
    assert drawn == {each.__name__ for each in OURS}
    assert remembrancer.errors is errors


@pytest.mark.parametrize("kind", OURS)
def test_an_error_says_what_and_the_way_out(kind: type[RemembrancerError]) -> None:
    made = kind("It is so.", field="path", value=UUID(int=7), limit=3, hint="Do otherwise.")
    assert str(made) == "It is so. Do otherwise."
    assert made.as_dict() == {
        "code": kind.code,
        "message": "It is so.",
        "field": "path",
        "value": str(UUID(int=7)),
        "limit": 3,
        "hint": "Do otherwise.",
    }


def test_what_is_not_known_is_left_out() -> None:
    assert str(RemembrancerError("It is so.")) == "It is so."
    assert RemembrancerError("It is so.").as_dict() == {"code": "error", "message": "It is so."}
