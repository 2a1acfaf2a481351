"""Settings: where each comes from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer import config
from remembrancer.errors import ConfigurationError

SOMEWHERE = "/somewhere"


def test_defaults_stand_when_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/share")
    made = config.load({}, {})
    assert made.data == Path("/share/remembrancer")
    assert made.text("embedder") == "local"
    assert made.number("index_megabytes") == 512
    assert made.text("database_url") is None
    assert made.number("embedder_dimension") is None
    assert made.number("embedder") is None
    assert {each.source for each in made.values.values()} == {"default"}


def test_the_data_folder_has_a_home_without_xdg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config.load({}, {}).data == tmp_path / ".local/share/remembrancer"


def test_an_option_beats_a_variable_beats_a_file_beats_the_default(tmp_path: Path) -> None:
    (tmp_path / "remembrancer.toml").write_text(
        'embedder = "none"\nindex_megabytes = 64\nuser = "file@example.org"\n'
    )
    environment = {
        "REMEMBRANCER_DATA": str(tmp_path),
        "REMEMBRANCER_USER": "variable@example.org",
        "REMEMBRANCER_EMBEDDER": "trigram",
        "REMEMBRANCER_EMBEDDER_URL": "",
    }
    made = config.load({"user": "option@example.org", "embedder": None}, environment)
    assert made.data == tmp_path
    assert {
        name: (made.text(name), made.values[name].source)
        for name in made.values
        if name in ("user", "embedder", "index_megabytes", "embedder_threads", "embedder_url")
    } == {
        "user": ("option@example.org", "option"),
        "embedder": ("trigram", "REMEMBRANCER_EMBEDDER"),
        "index_megabytes": ("64", str(tmp_path / "remembrancer.toml")),
        "embedder_threads": ("1", "default"),
        "embedder_url": (None, "default"),
    }


def test_a_named_file_is_read_and_must_exist(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    environment = {"REMEMBRANCER_CONFIG": str(elsewhere), "REMEMBRANCER_DATA": SOMEWHERE}
    with pytest.raises(ConfigurationError, match=r"elsewhere\.toml"):
        config.load({}, environment)
    elsewhere.write_text('language = "de"\n')
    with pytest.raises(ConfigurationError, match="language"):
        config.load({}, environment)
    elsewhere.write_text('user = "ada"\n')
    assert config.load({}, environment).text("user") == "ada"


@pytest.mark.parametrize("content", [b"user = ", b"\xff\xfe", b"user = [[["])
def test_a_file_that_can_t_be_read_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "remembrancer.toml").write_bytes(content)
    with pytest.raises(ConfigurationError, match="can't be read"):
        config.load({"data": str(tmp_path)}, {})


def test_a_folder_in_the_file_s_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "remembrancer.toml").mkdir()
    with pytest.raises(ConfigurationError, match="can't be read"):
        config.load({"data": str(tmp_path)}, {})


@pytest.mark.parametrize("value", ["many", "1.5", "", "0x10", "١٢", True, [1]])
def test_a_number_that_is_none_is_refused_by_name(tmp_path: Path, value: object) -> None:
    written = str(value).lower() if isinstance(value, bool) else repr(value)
    (tmp_path / "remembrancer.toml").write_text(f"index_megabytes = {written}\n")
    if value == "١٢":
        assert config.load({"data": str(tmp_path)}, {}).number("index_megabytes") == 12
        return
    with pytest.raises(ConfigurationError) as refused:
        config.load({"data": str(tmp_path)}, {})
    assert refused.value.field == "index_megabytes"


def test_secrets_are_never_shown() -> None:
    environment = {
        "REMEMBRANCER_DATABASE_URL": "postgresql://app:hunter2@db/x",
        "REMEMBRANCER_EMBEDDER_KEY": "sk-hunter2",
        "REMEMBRANCER_EMBEDDER_MODEL": "small",
    }
    made = config.load({"data": SOMEWHERE}, environment)
    shown = {name: each.shown for name, each in made.values.items()}
    assert "hunter2" not in repr(shown)
    assert shown["database_url"] == "••••"
    assert shown["embedder_model"] == "small"
    assert shown["user"] == ""
    assert made.text("embedder_key") == "sk-hunter2"


def test_every_setting_says_what_it_is_for_and_has_a_place_in_the_table() -> None:
    names = [each.name for each in config.SETTINGS]
    assert len(set(names)) == len(names)
    assert set(config.load({}, {}).values) == set(names)
    assert all(each.help.endswith(".") for each in config.SETTINGS)
    secret = {each.name for each in config.SETTINGS if each.secret}
    assert {"database_url", "migration_url", "embedder_key"} <= secret
