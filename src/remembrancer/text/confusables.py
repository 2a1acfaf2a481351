"""Look-alike letters, undone in words of mixed script only.

The pairs are those of Unicode's confusables (UTS 39, `confusables.txt`) that join one letter to
one ASCII letter of the same case, for the scripts that are mixed into Latin words; a few of them
(к, η) are near rather than exact. Case matters here: В looks like B, but в doesn't look like b.
A word in one script is never touched, however Latin it looks, and no digit is ever a letter.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

_PAIRS: Final = {
    "CYRILLIC": (
        "АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ЅS ІI ЈJ ҺH ԌG ԚQ ԜW ѴV ҮY ӀI "
        "аa еe кk оo рp сc уy хx ѕs іi јj һh ԁd ԛq ԝw ѵv үy ӏl гr ҽe ѡw"
    ),
    "GREEK": (
        "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϜF ϺM ͿJ αa γy ηn ιi κk νv οo ρp σo υu ϳj"
    ),
    "ARMENIAN": "ՍU ՏS ՕO աw գq զq հh ոn ռn սu ցg օo",
    "CHEROKEE": "ᎠD ᎡR ᎢT ᎩY ᎪA ᎫJ ᎬE ᎳW ᎷM ᎻH ᏀG ᏃZ ᏒR ᏔW ᏕS ᏙV ᏚS ᏞL ᏟC ᏢP ᏦK ᏴB",
    "COPTIC": "ⲎH ⲒI ⲔK ⲘM ⲚN ⲞO ⲢP ⲤC ⲦT ⲨY ⲬX ⲟo ⲣp ⲥc ⲅr",
    "LISU": "ꓐB ꓑP ꓓD ꓔT ꓖG ꓗK ꓙJ ꓚC ꓜZ ꓝF ꓟM ꓠN ꓡL ꓢS ꓣR ꓦV ꓧH ꓪW ꓫX ꓬY ꓮA ꓰE ꓲI ꓳO ꓴU",
}


def _tables() -> dict[tuple[str, str], dict[int, str]]:
    """For each (from, to) pair of scripts, what each letter becomes; always by way of Latin."""
    tables: dict[tuple[str, str], dict[int, str]] = {}
    for script, pairs in _PAIRS.items():
        to_latin: dict[int, str] = {}
        from_latin: dict[int, str] = {}
        for pair in pairs.split():
            letter, latin = pair[0], pair[1]
            to_latin[ord(letter)] = latin
            from_latin.setdefault(ord(latin), letter)
        tables[script, "LATIN"] = to_latin
        tables["LATIN", script] = from_latin
    return tables


_TABLES: Final = _tables()


def unconfused(word: str) -> str:
    """The word with its look-alikes in one script, if it mixes scripts; else unchanged.

    The script is the one most letters can only belong to (the м of "Мoсква" makes its Latin o
    Cyrillic); Latin if that says nothing. The word should be in NFKC with its case kept, which
    decides: an honest word that mixes scripts may so differ from itself in capitals.
    """
    scripts = Counter(script for letter in word if (script := _script(letter)))
    if len(scripts) < 2:
        return word
    plain = unicodedata.normalize("NFD", word)
    own: Counter[str] = Counter()
    for letter in plain:
        script = _script(letter)
        if script and not any(ord(letter) in _table(script, other) for other in scripts):
            own[script] += 1
    target = max(sorted(scripts), key=lambda script: (own[script], script == "LATIN"))
    for script in scripts:
        plain = plain.translate(_table(script, target))
    return unicodedata.normalize("NFC", plain)


def latinised(word: str) -> str:
    """The word with every look-alike of a Latin letter as that letter, whatever it mixes.

    For comparing with a few known Latin words only: honest words of other scripts are changed too.
    """
    for script in _PAIRS:
        word = word.translate(_table(script, "LATIN"))
    return word


def _table(script: str, target: str) -> dict[int, str]:
    return _TABLES.get((script, target), {})


@lru_cache(maxsize=4_096)
def _script(letter: str) -> str:
    """The first word of a letter's Unicode name, which is its script; "" for what is no letter."""
    return unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""
