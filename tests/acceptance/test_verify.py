"""A1: damage is found, named without anybody's words, and doesn't hide other people's state."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from remembrancer import SyncRemembrancer
from remembrancer.cli.main import app
from remembrancer.embeddings.base import Kind, Vectors
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import SchemaError

SECRET = "The cellar holds a harpsichord."


class Folder:
    """SQLite files of two people."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.opened() as store:
            self.memory = store.person("ada@example.org").add(SECRET).id
            self.ada = store.person("ada@example.org").account.user_id
            store.person("ben@example.org").add("I row on Sundays.")
        self.file = next(self.path.glob(f"people/*{str(self.ada)[-12:]}*.db"))

    def opened(self) -> SyncRemembrancer:
        return SyncRemembrancer(self.path, embedder=TrigramEmbedder())

    def run(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            names = connection.execute("select name from sqlite_master where type = 'trigger'")
            for (name,) in names.fetchall():
                connection.execute(f"drop trigger {name}")
            for each in statements:
                connection.execute(each)

    def said(self, verb: str, *, code: int) -> str:
        result = CliRunner().invoke(
            app,
            [verb, "--data", str(self.path)],
            env={"REMEMBRANCER_EMBEDDER": "trigram", "REMEMBRANCER_USER": None, "COLUMNS": "200"},
        )
        assert result.exit_code == code, result.output
        return str(result.output)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "data")


def test_A1_a_whole_record_is_whole(folder: Folder):
    said = folder.said("verify", code=0)
    assert said.count("whole") == 2


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("update texts set text = cast(x'54d6' || text as text)", "Text "),
        ("update texts set text = x'd6d6'", "Text "),
        ("update texts set text = null", "lost its words"),
        ("update texts set salt = null", "Text "),
        ("update versions set trust = 'bogus'", "differs from what the log says"),
        ("update memories set created_by = 'agent:x'", "another maker"),
        ("update memories set forgotten_seq = 1", "marked forgotten"),
        ("update events set payload = cast(x'd6' as text)", "The log"),
        ("update events set kind = 'bogus'", "The log"),
    ],
)
def test_A1_damage_is_named_without_words_and_others_are_still_checked(
    folder: Folder, statement: str, names: str
):
    folder.run(statement)
    said = folder.said("verify", code=1)
    assert "ada@example.org · damaged" in said
    assert names in said
    assert "ben@example.org · whole" in said
    assert "harpsichord" not in said
    assert "Internal error" not in said


def test_A1_a_missing_file_is_damage_of_that_person_only(folder: Folder):
    folder.file.unlink()
    said = folder.said("verify", code=1)
    assert "missing" in said
    assert "ben@example.org · whole" in said
    assert "ada@example.org: their file or data is missing" in folder.said("doctor", code=1)


def test_A1_reading_damaged_text_never_prints_it(folder: Folder):
    folder.run("update texts set text = cast(text || x'd6' as text)")
    result = CliRunner().invoke(
        app,
        ["list", "--data", str(folder.path), "--user", "ada@example.org"],
        env={"REMEMBRANCER_EMBEDDER": "trigram"},
    )
    assert result.exit_code == 1
    assert "holds damaged text" in result.output
    assert "harpsichord" not in result.output


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("update tombstones set lifted_seq = 1", "in force by the log"),
        ("delete from tombstones", "not in the tables"),
        ("update memories set forgotten_seq = null", "not marked so"),
    ],
)
def test_A1_a_tombstone_can_not_go_silently(folder: Folder, statement: str, names: str):
    with folder.opened() as store:
        ada = store.person("ada@example.org")
        ada.forget(folder.memory)
    assert folder.said("verify", code=0).count("whole") == 2
    folder.run("pragma foreign_keys = off", statement)
    assert names in folder.said("verify", code=1)


@pytest.mark.parametrize("left", [None, b""])
def test_A1_a_lost_system_file_is_refused_not_replaced(folder: Folder, left: bytes | None):
    for each in folder.path.glob("system.db*"):
        each.unlink()
    if left is not None:
        (folder.path / "system.db").write_bytes(left)
    for verb in ("verify", "doctor", "migrate"):
        assert "beside the files of 2 people" in folder.said(verb, code=1)
    with pytest.raises(SchemaError), folder.opened() as store:
        store.person("cy@example.org")
    assert not (folder.path / "system.db").exists() or left is not None


def test_A1_doctor_names_files_that_no_account_owns(folder: Folder):
    people = folder.file.parent
    assert "people/" not in folder.said("doctor", code=0)
    (people / f".{folder.file.name}.1.2.new").write_bytes(b"")
    stray = people / "00000000-0000-7000-8000-000000000000.db"
    stray.write_bytes(folder.file.read_bytes())
    said = folder.said("doctor", code=0)
    assert f"people/{stray.name} belongs to no account" in said
    assert ".1.2.new is left of" in said


class Bad(TrigramEmbedder):
    """Answers documents with something that is no vector."""

    def __init__(self, answer: float, more: int = 0) -> None:
        super().__init__()
        self._answer, self._more = answer, more

    def embed(self, texts: list[str], kind: Kind) -> Vectors:
        good = super().embed(texts, kind)
        shape = (len(texts), good.shape[1] + self._more)
        return np.full(shape, self._answer, dtype=np.float32)


@pytest.mark.parametrize(("answer", "more"), [(np.nan, 0), (np.inf, 0), (0.0, 0), (0.5, 1)])
def test_a_vector_that_is_none_is_not_stored(tmp_path: Path, answer: float, more: int):
    with SyncRemembrancer(tmp_path, embedder=Bad(answer, more)) as store:
        assert store.person("ada@example.org").add("I row on Sundays.").pending
    with SyncRemembrancer(tmp_path / "good", embedder=TrigramEmbedder()) as store:
        assert not store.person("ada@example.org").add("I row on Sundays.").pending
