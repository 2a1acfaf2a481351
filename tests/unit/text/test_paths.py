"""Paths, cleaned and named."""

import pytest

from remembrancer.errors import InvalidInputError
from remembrancer.text.paths import clean_path, named_share, naming_terms, path_terms


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("work/projects/atlas", "work/projects/atlas"),
        (" /work//projects/ ", "work/projects"),
        ("", ""),
        (" // ", ""),
        ("工作/计划 🚀", "工作/计划 🚀"),
        ("Ko\u0308ln", "Köln"),
        ("a..b/.c", "a..b/.c"),
        ("/".join(["x"] * 100), "/".join(["x"] * 100)),
        ("a" * 1024, "a" * 1024),
    ],
)
def test_W5_paths_within_the_limits(given, stored):
    assert clean_path(given) == stored
    assert clean_path(stored) == stored


@pytest.mark.parametrize(
    "path",
    [
        "a/../b",
        "..",
        "./a",
        "a/ .. /b",
        "a\x00b",
        "a\nb",
        "a\x85",
        "\ud800",
        "a" * 1025,
        "茶" * 342,
        "/".join(["x"] * 101),
    ],
)
def test_W5_other_paths_are_refused(path):
    with pytest.raises(InvalidInputError) as caught:
        clean_path(path)
    assert caught.value.field == "path"
    assert caught.value.limit is not None
    assert "path" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "query", "share"),
    [
        ("work/projects/atlas", "how is the atlas project going?", 2 / 3),
        ("art", "please start", 0),
        ("art", "what ART do I like?", 1),
        ("my-cat_photos", "show the cat photo", 1),
        ("my cats/food", "food", 1 / 2),
        ("工作/北京", "我在北京的工作怎么样？", 1),
        ("工作计划", "我的工作怎么样", 0),
        ("猫", "我的猫怎么样？", 1),
        ("猫", "熊猫在哪里", 0),
        ("猫", "猫", 1),
        ("学", "我学习中文", 0),
        ("arbeit/projekte", "Wie geht es dem Projekt?", 1 / 2),
        ("🚀", "🚀", 0),
        ("", "anything", 0),
        ("work", "", 0),
    ],
)
def test_R5_a_path_is_named_by_whole_segments(path, query, share):
    assert named_share(path_terms(path), naming_terms(query)) == pytest.approx(share)


def test_R5_terms_of_a_path():
    found = path_terms("Projects/工作计划")
    assert {"projects", "project", "工作计划", "工作", "计划"} <= found
