"""R3, R8: nothing for a greeting, in four languages; and what was remembered in another one, found.

With the default model and default settings, over the assembled block.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.conversations.models import Conversation, Role
from remembrancer.evals.figures import BASELESS
from remembrancer.evals.people import Case, load_cases, load_people, read_lines
from remembrancer.recall.models import Recall, Request
from remembrancer.recall.render import neutralise
from tests.acceptance.forgetting import said
from tests.acceptance.recalling import given, local_model, remember
from tests.support.stores import Place, somebody

LANGUAGES = ("en", "zh", "de", "es")
FALSE_INJECTION = 0.10
RECALL_LOST = 0.10
"""The first gate (R3), as shares."""


@pytest.fixture
def store(place: Place) -> Iterator[SyncRemembrancer]:
    """A handle on the store, with the default model."""
    handle = place.open(local_model())
    yield handle
    handle.close()


# R3, the project's own cases


@dataclass
class Tally:
    """How one language's questions fared."""

    counts: Counter[str] = field(default_factory=Counter)

    def share(self, name: str, of: str) -> float:
        return self.counts[name] / max(1, self.counts[of])

    @property
    def false_injection(self) -> float:
        return self.share("given for nothing", "baseless")

    @property
    def lost(self) -> float:
        return self.share("hit without a floor", "relevant") - self.share("hit", "relevant")

    def __str__(self) -> str:
        return (
            f"false injection {self.false_injection:6.1%} of {self.counts['baseless']:3}   "
            f"hit@5 {self.share('hit', 'relevant'):6.1%} of {self.counts['relevant']:3}, "
            f"lost {100 * self.lost:4.1f} points"
        )


def live_as(memory: SyncPersonalMemory, rows: list[dict[str, Any]]) -> Mapping[str, str]:
    """Remember and say everything of one of the project's people; the words by id."""
    remember(memory, (row["text"] for row in rows if row["kind"] == "memory"))
    spoken = [row for row in rows if row["kind"] == "message"]
    for chat in dict.fromkeys(row["chat"] for row in spoken):
        told = tuple(
            said(Role(row["role"]), row["text"], row["position"], speaker=row["speaker"])
            for row in spoken
            if row["chat"] == chat
        )
        memory.tell(Conversation("test", told, external_id=chat))
    return {row["id"]: row["text"] for row in rows if "text" in row}


def hits(recall: Recall, case: Case, words: Mapping[str, str]) -> bool:
    """Whether something that answers stands among the block's first five."""
    expected = {neutralise(words[each]) for each in case.expects}
    return not expected.isdisjoint(given(recall)[:5])


def ask(memory: SyncPersonalMemory, case: Case, words: Mapping[str, str], tally: Tally) -> None:
    recall = memory.recall(case.text)
    assert recall.degraded == ()
    if case.kind in BASELESS:
        tally.counts["baseless"] += 1
        tally.counts["given for nothing"] += recall.recalled_block != ""
    elif case.kind == "relevant":
        plain = memory.recall(Request(case.text, floor=False))
        tally.counts["relevant"] += 1
        tally.counts["hit"] += hits(recall, case, words)
        tally.counts["hit without a floor"] += hits(plain, case, words)


def test_R3_first_gate(
    store: SyncRemembrancer, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the people that nothing was fitted on."""
    tallies = {language: Tally() for language in LANGUAGES}
    for person in load_people():
        if person.half != "report":
            continue
        memory = somebody(store, person.id)
        words = live_as(memory, read_lines(f"people/{person.id}.jsonl")[1:])
        for case in load_cases():
            if case.person == person.id:
                ask(memory, case, words, tallies[case.language])
    whole = Tally(sum((each.counts for each in tallies.values()), Counter()))
    told = [f"\nR3, first gate, {place.kind}:"]
    told += [f"  {name:4}{tally}" for name, tally in {**tallies, "all": whole}.items()]
    with capsys.disabled():
        sys.stdout.write("\n".join([*told, ""]))
    for name, tally in {**tallies, "all": whole}.items():
        assert tally.false_injection <= FALSE_INJECTION, name
        assert tally.lost <= RECALL_LOST, name
        assert tally.share("hit", "relevant") > 0.6, name
        assert tally.counts["baseless"] >= 20, name


# R3, word for word

MEMORIES = {
    "en": (
        "My sister Tilda works as a midwife in Galway.",
        "I am allergic to walnuts.",
        "My bicycle is kept in the shed behind the bakery.",
        "My dentist is Dr Aldous Finch.",
        "I play the cello in a quartet on Tuesday evenings.",
    ),
    "zh": (
        "我姐姐在苏州开了一家茶馆。",
        "我对虾过敏。",
        "我的自行车放在面包店后面的棚子里。",
        "我的牙医姓邱，诊所在中山路。",
        "我每周二晚上在四重奏里拉大提琴。",
    ),
    "de": (
        "Meine Schwester Tilda arbeitet als Hebamme in Husum.",
        "Ich bin gegen Walnüsse allergisch.",
        "Mein Fahrrad steht im Schuppen hinter der Bäckerei.",
        "Mein Zahnarzt heißt Dr. Aldous Fink.",
        "Dienstags abends spiele ich Cello in einem Quartett.",
    ),
    "es": (
        "Mi hermana Tilda trabaja de comadrona en Cádiz.",
        "Soy alérgica a las nueces.",
        "Mi bicicleta está en el cobertizo detrás de la panadería.",
        "Mi dentista es el doctor Aldo Pinzón.",
        "Los martes por la noche toco el violonchelo en un cuarteto.",
    ),
}
PAIRS = {
    "en": (
        ("Hello!", "Where does my sister work?"),
        ("Good morning, how are you?", "What am I allergic to?"),
        ("Thanks, that was great.", "Where do I keep my bicycle?"),
        ("What is the capital of Australia?", "Who is my dentist?"),
        ("Write a Python function that reverses a list.", "What do I play in the quartet?"),
    ),
    "zh": (
        ("你好！", "我姐姐在哪里开茶馆？"),
        ("早上好，最近怎么样？", "我对什么过敏？"),
        ("谢谢，太好了。", "我的自行车放在哪里？"),
        ("澳大利亚的首都是哪里？", "我的牙医是谁？"),
        ("写一个反转列表的 Python 函数。", "我在四重奏里拉什么？"),
    ),
    "de": (
        ("Hallo!", "Wo arbeitet meine Schwester?"),
        ("Guten Morgen, wie geht's?", "Wogegen bin ich allergisch?"),
        ("Danke, das war super.", "Wo steht mein Fahrrad?"),
        ("Was ist die Hauptstadt von Australien?", "Wie heißt mein Zahnarzt?"),
        ("Schreib eine Python-Funktion, die eine Liste umdreht.", "Was spiele ich im Quartett?"),
    ),
    "es": (
        ("¡Hola!", "¿Dónde trabaja mi hermana?"),
        ("Buenos días, ¿qué tal?", "¿A qué soy alérgica?"),
        ("Gracias, estuvo genial.", "¿Dónde está mi bicicleta?"),
        ("¿Cuál es la capital de Australia?", "¿Quién es mi dentista?"),
        ("Escribe una función de Python que invierta una lista.", "¿Qué toco en el cuarteto?"),
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_R3_nothing_for_small_talk_and_the_memory_for_its_question(
    store: SyncRemembrancer, language: str
) -> None:
    ada = somebody(store)
    remember(ada, MEMORIES[language])
    for memory, (nothing, question) in zip(MEMORIES[language], PAIRS[language], strict=True):
        assert ada.recall(nothing).recalled_block == "", nothing
        assert memory in given(ada.recall(question))[:2], question


# R8

FACTS: dict[str, tuple[str, ...]] = {
    "en": (
        "My brother repairs church organs.",
        "I am afraid of flying.",
        "Our dog is called Biscuit and is deaf.",
        "I work as a nurse in a children's hospital.",
        "My mother's birthday is on the third of May.",
        "I sold my car last winter.",
        "I am learning to play chess.",
        "The key of the cellar is under the flower pot.",
    ),
    "de": (
        "Mein Bruder repariert Kirchenorgeln.",
        "Ich habe Flugangst.",
        "Unser Hund heißt Biscuit und ist taub.",
        "Ich arbeite als Krankenschwester in einer Kinderklinik.",
        "Meine Mutter hat am dritten Mai Geburtstag.",
        "Letzten Winter habe ich mein Auto verkauft.",
        "Ich lerne gerade Schach.",
        "Der Kellerschlüssel liegt unter dem Blumentopf.",
    ),
    "es": (
        "Mi hermano repara órganos de iglesia.",
        "Tengo miedo a volar.",
        "Nuestro perro se llama Biscuit y es sordo.",
        "Trabajo de enfermera en un hospital infantil.",
        "El cumpleaños de mi madre es el tres de mayo.",
        "El invierno pasado vendí mi coche.",
        "Estoy aprendiendo a jugar al ajedrez.",
        "La llave del sótano está debajo de la maceta.",
    ),
    "zh": (
        "我哥哥修理教堂的管风琴。",
        "我害怕坐飞机。",
        "我们的狗叫Biscuit，它听不见。",
        "我在一家儿童医院当护士。",
        "我妈妈的生日是五月三日。",
        "去年冬天我把车卖了。",
        "我正在学下国际象棋。",
        "地下室的钥匙在花盆下面。",
    ),
}
QUESTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        "What does my brother repair?",
        "Am I afraid of flying?",
        "What is our dog called?",
        "Where do I work?",
        "When is my mother's birthday?",
        "When did I sell my car?",
        "Which game am I learning?",
        "Where is the key of the cellar?",
    ),
    "de": (
        "Was repariert mein Bruder?",
        "Habe ich Angst vorm Fliegen?",
        "Wie heißt unser Hund?",
        "Wo arbeite ich?",
        "Wann hat meine Mutter Geburtstag?",
        "Wann habe ich mein Auto verkauft?",
        "Welches Spiel lerne ich gerade?",
        "Wo liegt der Schlüssel zum Keller?",
    ),
    "es": (
        "¿Qué repara mi hermano?",
        "¿Tengo miedo a volar?",
        "¿Cómo se llama nuestro perro?",
        "¿Dónde trabajo?",
        "¿Cuándo es el cumpleaños de mi madre?",
        "¿Cuándo vendí mi coche?",
        "¿Qué juego estoy aprendiendo?",
        "¿Dónde está la llave del sótano?",
    ),
    "zh": (
        "我哥哥修理什么？",
        "我怕坐飞机吗？",
        "我们的狗叫什么名字？",
        "我在哪里工作？",
        "我妈妈的生日是哪天？",
        "我什么时候把车卖了？",
        "我正在学什么游戏？",
        "地下室的钥匙在哪里？",
    ),
}
WAYS = [(other, "en") for other in ("zh", "de", "es")] + [("en", o) for o in ("zh", "de", "es")]


@pytest.mark.parametrize(("asked_in", "told_in"), WAYS)
def test_R8_asked_in_one_language_remembered_in_another(
    store: SyncRemembrancer, asked_in: str, told_in: str
) -> None:
    """Each of eight facts is found among thirteen; nearly always as the first."""
    ada = somebody(store)
    remember(ada, (*FACTS[told_in], *MEMORIES[told_in]))
    first = 0
    for fact, question in zip(FACTS[told_in], QUESTIONS[asked_in], strict=True):
        found = given(ada.recall(question))
        assert fact in found[:5], question
        first += found[0] == fact
    assert first >= 6
    assert ada.recall(PAIRS[asked_in][0][0]).recalled_block == "", "but nothing for a greeting"


@pytest.mark.parametrize(("asked_in", "told_in"), WAYS)
def test_R8_also_beside_memories_in_the_language_of_the_question(
    store: SyncRemembrancer, asked_in: str, told_in: str
) -> None:
    """Harder: the model favours a question's own language, so that another's work, said in it, can
    hide mine. Six of eight is the least."""
    ada = somebody(store)
    remember(ada, (*FACTS[told_in], *MEMORIES[told_in], *MEMORIES[asked_in]))
    pairs = zip(FACTS[told_in], QUESTIONS[asked_in], strict=True)
    found = [fact for fact, question in pairs if fact in given(ada.recall(question))]
    assert len(found) >= 6
