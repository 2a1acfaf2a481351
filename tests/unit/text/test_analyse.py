"""Analysed terms, for queries and documents alike."""

import threading

import numpy as np
import pytest

from remembrancer.errors import DamageFoundError
from remembrancer.text.analyse import pack_terms, term_counts, term_hash, terms, unpack_terms
from remembrancer.text.languages import STOP_WORDS, vote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada's cats are running", ["ada", "cats", "cat", "running", "run"]),
        ("The RUNNING of ＣＡＴＳ", ["running", "run", "cats", "cat"]),
        ("what is it", ["what", "is", "it"]),
        ("我住在北京", ["我住", "住在", "在北", "北京"]),
        ("猫", ["猫"]),
        ("JR東日本", ["jr", "東日", "日本"]),
        ("ポ\u309aケ", ["ポ\u309a", "\u309aケ"]),
        ("3.5 kg for 10,000 at 10:30, covid19", ["3.5", "kg", "10,000", "10:30", "covid19"]),
        ("snake_case a/b", ["snake", "case", "b"]),
        ("o'brien", ["o", "brien"]),
        ("I like 🍕", ["like"]),
        ("", []),
    ],
)
def test_terms(text, expected):
    assert terms(text) == expected


def test_words_of_many_languages_meet_their_stems():
    assert "haus" in terms("Ich wohne in dem Haus")
    assert "haus" in terms("die Farbe des Hauses")
    assert {"munchen", "münchen"} <= set(terms("Ich bin in München"))
    assert set(terms("los gatos de mi casa")) & set(terms("el gato es mi amigo"))
    assert terms("Qu'il mange l'orange que j'ai") == ["mange", "mang", "orange", "orang"]
    assert set(terms("я живу в Москве")) & set(terms("моя Москва"))
    assert set(terms("كتابٌ")) & set(terms("كتاب"))
    assert "हिन्दी" in terms("मैं हिन्दी में लिखता हूँ")
    assert terms("שלום") == ["שלום"]
    assert "σπιτι" in {form[:5] for form in terms("σπιτια")}
    assert terms("tiếng Việt")[:2] == ["tiếng", "tieng"]


def test_the_vote_is_deterministic():
    assert vote([]) == "english"
    assert vote(["der", "hund", "ist", "mein"]) == "german"
    assert vote(["min", "mamma", "är", "här"]) == "swedish"
    assert all(words for words in STOP_WORDS.values())


def test_hashes_are_stable():
    assert term_hash("berlin") == int.from_bytes(bytes.fromhex("a9cca1ec"), "little")
    assert 0 <= term_hash("茶") < 2**32


def test_counts_are_capped_and_packed():
    counts = term_counts("tea " * 300 + "茶")
    assert counts == {term_hash("tea"): 255, term_hash("茶"): 1}
    found, times = unpack_terms(pack_terms(counts))
    assert found.dtype == np.uint32
    assert times.dtype == np.uint8
    assert dict(zip(found.tolist(), times.tolist(), strict=True)) == counts
    assert found.tolist() == sorted(counts)
    assert int(times.sum()) == 256
    assert len(unpack_terms(b"")[0]) == 0


def test_a_damaged_list_is_found():
    with pytest.raises(DamageFoundError):
        unpack_terms(b"1234")


def test_threads_get_the_same_terms():
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(terms("running cats"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [terms("running cats")] * 4
