"""What counts as the same text, for duplicates and for tombstones."""

import sys
import unicodedata

import pytest

from remembrancer.text.confusables import unconfused
from remembrancer.text.normalise import (
    TokenSpan,
    bare,
    fingerprint,
    fold,
    is_run_length,
    matches,
    normalise,
    token_spans,
    tombstone_tokens,
)


@pytest.mark.parametrize(
    "again",
    [
        "I LIVE IN MÜNCHEN",
        "  I  live\tin\nMünchen. ",
        "I live in München . !",
        "Ｉ ｌｉｖｅ ｉｎ München！",
        unicodedata.normalize("NFD", "I live in München"),
        "I li\u200bve in Mün\u00adchen\ufe0f",
        "\u202bI live in München\u202c",
    ],
)
def test_W1_the_same_value_has_the_same_fingerprint(again):
    assert fingerprint(again) == fingerprint("I live in München")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in München", "I live in Munchen"),
        ("I live in Berlin", "I don't live in Berlin"),
        ("我喜欢茶", "我喜欢咖啡"),
        ("He is 30.", "He is 3O."),
        ("Is it so?", "Is it so."),
        ("!!!", "!"),
        ("!", "."),
        ("\u200b", "\u200c"),
        ("🍕", "🍺"),
    ],
)
def test_W1_different_values_have_different_fingerprints(one, other):
    assert fingerprint(one) != fingerprint(other)
    assert len(fingerprint(one)) == 16


def test_W1_more_scripts():
    assert fingerprint("我住在北京。") == fingerprint("我住在北京")
    assert fingerprint("STRASSE") == fingerprint("Straße")
    assert fingerprint("ｶﾞｷﾞ") == fingerprint("ガギ")
    assert fingerprint("한국") == fingerprint(unicodedata.normalize("NFD", "한국"))
    assert fingerprint("Vivo en ESPAÑA!") == fingerprint("vivo en españa")
    assert normalise("  أعيش في القاهرة. ") == "أعيش في القاهرة"


def test_every_format_character_is_invisible():
    left = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf" and fold(f"a{chr(code)}b") != "ab"
    ]
    assert left == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I live, in Berlin!", ("i", "live", "in", "berlin")),
        ("Ada's C++ code", ("ada", "s", "c", "code")),
        ("I live in Ｂｅｒｌｉｎ", ("i", "live", "in", "berlin")),
        ("Ber\u200blin", ("berlin",)),
        ("我住在北京。", ("我", "住", "在", "北", "京")),
        ("ｶﾞｷ", ("ガ", "キ")),
        ("JR東日本", ("jr", "東", "日", "本")),
        ("か\u309aき", ("か\u309a", "き")),
        (unicodedata.normalize("NFD", "각가"), ("각", "가")),
        ("Straße", ("strasse",)),
        ("مرحبًا بك", ("مرحبًا", "بك")),
        ("हिन्दी में", ("हिन्दी", "में")),
        ("1½ kg", ("11", "2", "kg")),
        ("℡ 5 ㎏", ("tel", "5", "kg")),
        ("-\u0301 a", ("a",)),
        ("👍🏽", ("👍", "🏽")),
        ("!!", ("!", "!")),
        (" \u200b ", ()),
        ("", ()),
    ],
)
def test_tombstone_tokens(text, tokens):
    assert tombstone_tokens(text) == tokens
    assert tuple(span.token for span in token_spans(text)) == tokens


def test_token_spans_point_into_the_original():
    text = "Ｍｙ ca\u200bt, 猫"
    spans = token_spans(text)
    assert spans == [
        TokenSpan("my", 0, 2, False),
        TokenSpan("cat", 3, 7, False),
        TokenSpan("猫", 9, 10, True),
    ]


@pytest.mark.parametrize(
    ("spoofed", "meant"),
    [
        ("Aliсe", "alice"),  # Cyrillic с
        ("Вerlin", "berlin"),  # Cyrillic В
        ("Асmе", "acme"),
        ("Νora", "nora"),  # Greek Ν
        ("café\u0301".replace("a", "а"), "café\u0301"),
        ("Мoсква", "москва"),  # Latin o
        ("μoνή", "μονή"),  # Latin o in Greek
        ("hеllօ", "hello"),  # three scripts
    ],
)
def test_X2_look_alikes_in_mixed_words(spoofed, meant):
    assert tombstone_tokens(spoofed) == tombstone_tokens(meant)


@pytest.mark.parametrize("text", ["Москва", "сор", "Ελλάδα", "5μg", "Δx", "l33t", "paypa1"])
def test_X2_one_script_and_digits_stay(text):
    assert tombstone_tokens(text) == (normalise(text),)


def test_unconfused_leaves_a_word_of_one_script():
    assert unconfused("сор") == "сор"
    assert unconfused("cop1") == "cop1"


@pytest.mark.parametrize(
    ("value", "long"),
    [
        ("likes jazz", False),
        ("likes cool jazz", True),
        ("我喜欢喝茶", False),
        ("我很喜欢喝茶", True),
        ("我很喜欢 jazz", True),
        ("我喜欢 jazz", False),
        ("", False),
    ],
)
def test_run_length(value, long):
    assert is_run_length(tombstone_tokens(value)) is long


def test_X2_a_long_value_is_found_inside_a_short_one_only_when_equal():
    assert matches("By the way, I LIVE in Вerlin now.", "I live in Berlin")
    assert matches("其实我住在北京市，你知道吗", "我住在北京市")
    assert matches("Likes jazz!", "likes jazz")
    assert not matches("She likes jazz a lot", "likes jazz")
    assert not matches("I live here in Berlin", "I live in Berlin")
    assert not matches("🍺", "🍕")
    assert matches("🍕", "🍕")
    assert not matches("", "")


@pytest.mark.parametrize(
    "text",
    [
        "System",
        "ＳＹＳＴＥＭ",
        "S\u0332ys\u00adtem",
        "ѕуstem",
        "⒮⒴⒮⒯⒠⒨",
    ],
)
def test_bare_is_what_a_word_looks_like(text):
    assert bare(text) == "system"
