"""What may be stored, and how large."""

import json

import pytest

from remembrancer.errors import InvalidInputError
from remembrancer.text.limits import (
    check_content,
    check_message,
    check_meta,
    check_name,
    estimate_tokens,
)


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 und Grüße",
        "أعيش في \u202bالقاهرة\u202c",
        "我住在北京。",
        " a\tb\r\nc ",
        "x" * 10_000,
    ],
)
def test_W5_content_within_the_limits_is_unchanged(text):
    assert check_content(text) is text
    assert check_message(text) is text


@pytest.mark.parametrize("text", ["", " \n\t", "a\x00b", "\ud800", "a\x1bb", "\x7f", "x" * 10_001])
def test_W5_other_content_is_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        check_content(text, field="value")
    assert caught.value.field == "value"
    assert caught.value.limit is not None
    assert "value" in str(caught.value)


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "\udfff", "茶" * 349_526])
def test_W5_messages_that_are_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        check_message(text)
    assert caught.value.field == "text"
    assert caught.value.limit is not None


def test_W5_messages_may_hold_pasted_controls_and_a_mebibyte():
    assert check_message("\x1b[31mred\x0c") == "\x1b[31mred\x0c"
    assert len(check_message("x" * 1_048_576)) == 1_048_576


def test_meta_is_canonical_json():
    one = check_meta({"b": [1, {"c": None}], "a": "茶", "t": (1.5, True)})
    assert one == '{"a":"茶","b":[1,{"c":null}],"t":[1.5,true]}'
    assert check_meta(dict(reversed(list(json.loads(one).items())))) == one
    assert check_meta({}) == "{}"


def _nested():
    value = {}
    for _ in range(40):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "meta",
    [
        {"a": float("nan")},
        {"a": object()},
        {"a": {1: 2}},
        {1: 2},
        {"a": ["\x00"]},
        {"\ud800": 1},
        {"a": "x" * 16_384},
        _nested(),
    ],
)
def test_W5_other_meta_is_refused(meta):
    with pytest.raises(InvalidInputError) as caught:
        check_meta(meta)
    assert caught.value.field == "meta"
    assert caught.value.limit is not None


def test_names():
    assert check_name(" Ko\u0308ln ", "space", 10) == "Köln"
    assert check_name("x" * 10, "space", 10) == "x" * 10
    for bad in ("", "  ", "x" * 11, "a\nb", "a\u2028b"):
        with pytest.raises(InvalidInputError) as caught:
            check_name(bad, "space", 10)
        assert caught.value.field == "space"
        assert caught.value.limit is not None


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("茶", 1)]
)
def test_estimate_tokens(text, tokens):
    assert estimate_tokens(text) == tokens
