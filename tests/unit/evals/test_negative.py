"""`eval negative`: its figures by hand, and one person through the real engine."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.embeddings.base import Kind
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import EmbedderUnavailableError, InvalidInputError, RemembrancerError
from remembrancer.evals.negative import KINDS, Answer, measured, result, run_negative
from remembrancer.evals.people import Case, load_cases, load_people

FIELDS = {
    "n",
    "baseless",
    "near_miss",
    "relevant",
    "false_injection",
    "near_miss_given",
    "hit5",
    "hit5_without_floor",
    "hit5_lost",
    "given",
    "calibration_error",
}


def answer(
    kind: str,
    given: str = "",
    without_floor: str = "",
    *,
    half: str = "tune",
    language: str = "en",
    judged: tuple[tuple[float, bool], ...] = (),
) -> Answer:
    """Documents are letters; `z` is expected of a relevant question."""
    expects = ("z",) if kind == "relevant" else ()
    case = Case("c", "p", language, kind, "?", expects)
    return Answer(case, half, tuple(given), tuple(without_floor), judged)


ANSWERS = [
    answer("greeting"),
    answer("greeting", "a", language="zh"),
    answer("code", half="report"),
    answer("near_miss", "ab"),
    answer("relevant", "za", "zabcdefg", judged=((0.9, True), (0.3, False))),
    answer("relevant", "", "abzdefgh", half="report", judged=((0.1, True),)),
    answer("relevant", "abcdez", "abcdez", half="report", language="zh"),
]


def test_the_figures_by_hand() -> None:
    found = measured(ANSWERS)
    assert (found.n, found.baseless, found.near_miss, found.relevant) == (7, 3, 1, 3)
    assert found.false_injection == pytest.approx(1 / 3)
    assert found.near_miss_given == 1.0
    assert found.hit5 == pytest.approx(1 / 3), "the sixth entry is too late"
    assert found.hit5_without_floor == pytest.approx(2 / 3)
    assert found.hit5_lost == pytest.approx(1 / 3)
    assert found.given == pytest.approx((2 + 0 + 6) / 3)
    assert found.calibration_error == pytest.approx((0.1 + 0.3 + 0.9) / 3)


def test_what_a_group_has_no_question_of_is_none_and_not_zero() -> None:
    found = measured([answer("greeting")])
    assert found.false_injection == 0.0
    assert found.near_miss_given is found.hit5 is found.hit5_lost is found.given is None
    assert found.calibration_error is None
    assert measured(ANSWERS[4:5]).false_injection is None


def test_the_form_is_as_documented() -> None:
    form: Any = result(ANSWERS).as_json()
    assert set(form) == {"overall", "halves", "languages", "kinds"}
    assert set(form["halves"]) == {"tune", "report"}
    assert form["halves"]["report"]["n"] == 3
    assert set(form["languages"]) == {"en", "zh"}
    assert list(form["kinds"]) == ["relevant", "greeting", "code", "near_miss"]
    groups = [form["overall"], *form["halves"].values(), *form["kinds"].values()]
    assert all(set(group) == FIELDS for group in groups)
    assert form["overall"]["hit5"] == 0.3333
    assert form["kinds"]["greeting"]["hit5"] is None


@pytest.mark.slow
def test_R3_one_person_through_the_engine_is_within_the_first_gate() -> None:
    told: list[tuple[str, int, int]] = []
    found = run_negative(people=["de-kilian"], progress=lambda *step: told.append(step))
    figures = found.overall
    asked = [case for case in load_cases() if case.person == "de-kilian"]
    assert figures.n == len(asked) == figures.baseless + figures.near_miss + figures.relevant
    assert figures.false_injection is not None
    assert figures.false_injection <= 0.10
    assert figures.hit5_lost is not None
    assert figures.hit5_lost <= 0.10
    assert figures.hit5 is not None
    assert figures.hit5 >= 0.75, "it is no store that returns nothing"
    assert figures.given is not None
    assert 1.0 <= figures.given <= 8.0
    assert figures.calibration_error is not None
    assert figures.calibration_error <= 0.10
    assert list(found.halves) == ["report"]
    assert set(found.kinds) == set(KINDS)
    assert told[0] == ("storing people", 1, 1)
    assert told[-1] == ("asking questions", figures.n, figures.n)
    documents = set(next(p for p in load_people() if p.id == "de-kilian").corpus.ids)
    for each in found.answers:
        assert documents >= {*each.given, *each.without_floor}
        assert len(each.judged) == 10
        assert bool(each.without_floor) == (each.case.kind == "relevant")


def test_another_embedder_is_judged_by_the_stated_default() -> None:
    found = run_negative(half="tune", people=["es-remedios"], embedder=TrigramEmbedder())
    figures = found.overall
    assert list(found.halves) == ["tune"]
    assert figures.hit5_lost is not None
    assert figures.hit5_lost > 0.0
    assert figures.hit5 is not None
    assert figures.hit5 > 0.1


@pytest.mark.parametrize(
    ("half", "people", "field"),
    [
        ("both", [], "half"),
        ("all", ["en-maren", "nobody"], "people"),
        ("report", ["en-maren"], "people"),
    ],
)
def test_a_half_or_a_person_that_is_not_there_is_named(
    half: str, people: list[str], field: str
) -> None:
    with pytest.raises(InvalidInputError, match="There is no") as raised:
        run_negative(half=half, people=people)
    assert raised.value.field == field


class Forgetful(TrigramEmbedder):
    """Embeds what is stored and fails at a question."""

    def __init__(self, fails: Kind) -> None:
        super().__init__()
        self._fails = fails

    def embed(self, texts, kind):
        if kind is self._fails:
            raise EmbedderUnavailableError("The wire was cut.")
        return super().embed(texts, kind)


def test_recall_that_fails_in_part_is_not_measured_as_if_it_worked() -> None:
    with pytest.raises(RemembrancerError, match="degraded while it was measured: vector"):
        run_negative(people=["en-maren"], embedder=Forgetful(Kind.QUERY))
    with pytest.raises(EmbedderUnavailableError, match="43 texts got no vector"):
        run_negative(people=["en-maren"], embedder=Forgetful(Kind.PASSAGE))
