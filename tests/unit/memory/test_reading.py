"""Lists, filters, pages, differences: what a person sees of their record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.embeddings.factory import NoEmbedder
from remembrancer.errors import InvalidInputError, NotFoundError
from remembrancer.memory.listing import contains
from remembrancer.memory.models import Type, as_type
from remembrancer.memory.reading import difference


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[SyncPersonalMemory]:
    with SyncRemembrancer(tmp_path, embedder=NoEmbedder()) as store:
        yield store.person("ada")


def listed(ada: SyncPersonalMemory, **wanted: object) -> list[str]:
    return [each.content for each in ada.list(**wanted)]


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (
            "Ada lives in Bern.",
            "Ada lives in Basel now.",
            (
                ("same", "Ada lives in "),
                ("gone", "Bern"),
                ("new", "Basel now"),
                ("same", "."),
            ),
        ),
        ("She sings.", "She sings.", (("same", "She sings."),)),
        ("She sings.", "She sings well.", (("same", "She sings"), ("new", " well"), ("same", "."))),
        (
            "She sings well.",
            "She sings.",
            (("same", "She sings"), ("gone", " well"), ("same", ".")),
        ),
        (
            "她住在苏黎世",
            "她住在巴塞尔",
            (("same", "她住在"), ("gone", "苏黎世"), ("new", "巴塞尔")),
        ),
        ("", "New.", (("new", "New."),)),
    ],
)
def test_a_difference_is_word_by_word(
    old: str, new: str, parts: tuple[tuple[str, str], ...]
) -> None:
    found = difference(old, new)
    assert found == parts
    assert "".join(text for says, text in found if says != "new") == old
    assert "".join(text for says, text in found if says != "gone") == new


@pytest.mark.parametrize(
    ("path", "parent", "is_under"),
    [
        ("work", "work", True),
        ("work/atlas", "work", True),
        ("workshop", "work", False),
        ("start/here", "art", False),
        ("my/work", "work", False),
        ("work", "work/atlas", False),
        ("工作/项目", "工作", True),
        ("工作室", "工作", False),
        ("", "work", False),
    ],
)
def test_a_path_is_matched_by_whole_segments(
    ada: SyncPersonalMemory, path: str, parent: str, is_under: bool
) -> None:
    ada.add("Here.", path=path)
    assert listed(ada, path=parent) == (["Here."] if is_under else [])
    assert listed(ada) == ["Here."]


def test_words_are_found_whatever_their_form() -> None:
    assert contains("Ada lives in ZÜRICH.", "zürich")
    assert contains("Ｆｕｌｌ width", "full")
    assert not contains("Ada lives in Bern.", "zürich")


def test_types_are_never_coerced() -> None:
    assert as_type("user") is Type.USER
    assert as_type(Type.CONTEXT) is Type.CONTEXT
    for wrong in ("", "User", "fact"):
        with pytest.raises(InvalidInputError) as caught:
            as_type(wrong)
        assert (caught.value.field, caught.value.limit) == ("type", "user, context")


def test_a_list_is_filtered_by_each_member(ada: SyncPersonalMemory) -> None:
    ada.add("One.", path="work/atlas", meta={"lang": "en", "n": 1})
    ada.add("Two.", path="workshop", type="user", meta={"lang": "de", "n": 1})
    three = ada.add("Three.", path="work", meta={"n": {"deep": [1, 2]}})
    ada.dispute(three.id)
    assert listed(ada) == ["One.", "Two.", "Three."]
    assert listed(ada, path="work") == ["One.", "Three."]
    assert listed(ada, path="/work//atlas/") == ["One."]
    assert listed(ada, path="wor") == []
    assert listed(ada, type="user") == ["Two."]
    assert listed(ada, trust=["disputed"]) == ["Three."]
    assert listed(ada, contains="TWO") == ["Two."]
    assert listed(ada, meta={"n": 1}) == ["One.", "Two."]
    assert listed(ada, meta={"n": 1, "lang": "de"}) == ["Two."]
    assert listed(ada, meta={"n": {"deep": [1, 2]}}) == ["Three."]
    assert listed(ada, meta={"n": "1"}) == [], "a text is not a number"
    assert listed(ada, meta={"n": True}) == [], "nor is true"
    assert listed(ada, meta={"missing": 1}) == []
    assert listed(ada, meta={"missing": None}) == [], "what isn't there isn't null"
    assert listed(ada, path="work", meta={"n": 1}, contains="one", type="context") == ["One."]


def test_pages_are_whole_and_in_order(ada: SyncPersonalMemory) -> None:
    made = [ada.add(f"Line {count}.").id for count in range(7)]
    ada.correct(made[2], "Line two.")
    ada.pin(made[5], 1)
    pages = [ada.list(limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(each) for each in pages] == [3, 3, 1, 0]
    assert [each.id for page in pages for each in page] == made, "oldest first, changed or not"
    assert ada.list(limit=0) == []
    assert len(ada.list(limit=3, contains="line")) == 3
    assert [each.id for each in ada.list(limit=2, offset=1, contains="two")] == []


def test_a_history_tells_each_change_with_its_difference(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada lives in Bern.")
    ada.correct(made.id, "Ada lives in Basel.", was_wrong=True)
    ada.move(made.id, path="home")
    ada.dispute(made.id)
    history = ada.history(made.id)
    assert [each.kind for each in history.changes] == [
        "memory.added",
        "memory.corrected",
        "memory.moved",
        "memory.disputed",
    ]
    assert {each.actor for each in history.changes} == {"person:ada"}
    assert [each.at for each in history.changes] == sorted(each.at for each in history.changes)
    assert [each.difference for each in history.changes if each.difference] == [
        (("same", "Ada lives in "), ("gone", "Bern"), ("new", "Basel"), ("same", "."))
    ]
    assert (history.version, len(history.versions), history.forgotten) == (4, 4, False)
    closed = [each.recorded_to is None for each in history.versions]
    assert closed == [False, False, False, True]


def test_a_forgotten_memory_shows_its_skeleton(ada: SyncPersonalMemory) -> None:
    made = ada.add("Ada lives in Bern.")
    ada.forget(made.id)
    history = ada.history(made.id)
    assert history.forgotten
    assert [each.content for each in history.versions] == [None]
    assert [each.kind for each in history.changes] == ["memory.added", "memory.forgotten"]
    with pytest.raises(NotFoundError):
        ada.get(made.id)
    assert listed(ada, trust=["confirmed", "archived", "rejected"]) == []


def test_a_memory_that_says_nothing_then_is_none_and_an_unknown_one_an_error(
    ada: SyncPersonalMemory,
) -> None:
    made = ada.add("Ada lives in Bern.", valid_from="2020-01-01")
    assert ada.get(made.id, valid_at="2019-01-01") is None
    assert ada.get(made.id, known_at="2019-01-01") is None
    assert ada.get(made.id, valid_at="2021-01-01").id == made.id
    for unknown in ("01900000-0000-7000-8000-000000000000",):
        with pytest.raises(NotFoundError):
            ada.get(unknown)
        with pytest.raises(NotFoundError):
            ada.history(unknown)


def test_one_that_has_ended_is_listed_with_its_last_words(ada: SyncPersonalMemory) -> None:
    ada.add("Ada rents in Bern.", valid_to="2020-01-01")
    assert listed(ada) == ["Ada rents in Bern."]
    assert listed(ada, valid_at="2019-01-01") == ["Ada rents in Bern."]
    assert listed(ada, valid_at="2021-01-01") == []
