"""Keyed digests of tokens, and commitments."""

import hashlib

import pytest

from remembrancer.errors import InvalidInputError
from remembrancer.text.digest import commitment, keyed_digest, window_digests

KEY = b"k" * 32


def test_a_digest_depends_on_key_and_token_borders():
    assert keyed_digest(KEY, ["ab", "c"]) == keyed_digest(KEY, ("ab", "c"))
    assert keyed_digest(KEY, ["ab", "c"]) != keyed_digest(KEY, ["a", "bc"])
    assert keyed_digest(KEY, ["ab"]) != keyed_digest(KEY, ["ab", ""])
    assert keyed_digest(KEY, ["ab"]) != keyed_digest(b"other", ["ab"])
    assert len(keyed_digest(KEY, [])) == 16


def test_windows_are_the_digests_of_all_runs():
    tokens = ["i", "live", "in", "berlin"]
    assert window_digests(KEY, tokens, 3) == [
        keyed_digest(KEY, tokens[:3]),
        keyed_digest(KEY, tokens[1:]),
    ]
    assert window_digests(KEY, tokens, 5) == []


def test_a_wrong_key_or_size_is_named():
    with pytest.raises(InvalidInputError) as caught:
        keyed_digest(b"", ["a"])
    assert caught.value.field == "key"
    with pytest.raises(InvalidInputError):
        window_digests(b"k" * 65, ["a"], 1)
    with pytest.raises(InvalidInputError) as caught:
        window_digests(KEY, ["a"], 0)
    assert caught.value.field == "size"


def test_A1_a_commitment_is_sha256_of_salt_and_text():
    assert commitment(b"salt", "茶") == hashlib.sha256(b"salt" + "茶".encode()).digest()
    assert commitment(b"salt", "a") != commitment(b"pepper", "a")
