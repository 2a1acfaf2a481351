"""migrate, reindex, verify and doctor."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, environment
from tests.support.stores import Server


def person_file(shell: Shell) -> Path:
    found = list((shell.data / "people").glob("*.db"))
    assert len(found) == 1
    return found[0]


def test_A1_verify_proves_everybody(shell: Shell):
    shell.json("user", "add", "ben@example.org")
    shell.add("Mango is a cat.", "--user", "ada@example.org")
    found = shell.json("verify")
    assert found["ok"] is True
    assert [each["user"] for each in found["people"]] == ["ada@example.org", "ben@example.org"]
    assert set(found["people"][0]) == {
        "user", "events", "versions", "texts", "last_hash", "damage",
    }  # fmt: skip
    assert found["people"][0]["events"] == 1
    only = shell.json("verify", "--user", "ben@example.org")
    assert [each["user"] for each in only["people"]] == ["ben@example.org"]
    shell.environment["REMEMBRANCER_USER"] = "ben@example.org"
    assert len(shell.json("verify")["people"]) == 2
    assert "ada@example.org · whole · 1 events" in shell.ran("verify").stdout


def test_A1_verify_finds_damage_and_ends_in_1(shell: Shell):
    shell.add("Mango is a cat.")
    damaged = sqlite3.connect(person_file(shell))
    damaged.execute("UPDATE texts SET text = 'Mango is a dog.'")
    damaged.commit()
    damaged.close()
    found = shell.json("verify", code=1)
    assert found["ok"] is False
    assert "not what was committed to" in found["people"][0]["damage"][0]
    said = shell.ran("verify")
    assert said.exit_code == 1
    assert "ada@example.org · damaged" in said.stdout


def test_verify_names_a_file_that_cant_be_read_and_goes_on(shell: Shell):
    shell.add("Mango is a cat.")
    place = person_file(shell)
    shell.json("user", "add", "ben@example.org")
    for each in place.parent.glob(place.name + "-*"):
        each.unlink()
    place.write_bytes(b"not a database at all, whatever it was" * 200)
    found = shell.json("verify", code=1)
    assert [bool(each["damage"]) for each in found["people"]] == [True, False]


def test_verify_of_nobody(empty: Shell):
    assert empty.json("verify") == {"ok": True, "people": []}
    assert empty.ran("verify").stdout == "No accounts.\n"
    assert empty.ran("reindex").stdout == "No accounts.\n"


def test_E3_reindex_makes_the_same_again(either: Shell):
    either.add("Her sister Mina lives in Lyon.")
    asked = ("recall", "Where does her sister Mina live?")
    before = either.json(*asked)
    done = either.json("reindex")
    assert done["people"] == [{"user": either.user, "terms": 1, "vectors": 1}]
    assert either.json(*asked) == before
    assert before["entries"]


def test_reindex_says_what_it_did(shell: Shell):
    shell.add("Mango is a cat.")
    said = shell.ran("reindex").stdout.split()
    assert said == ["person", "terms", "vectors", "ada@example.org", "1", "1"]


def test_reindex_with_the_embedder_down_loses_nothing(shell: Shell):
    shell.add("Mango is a cat.")
    shell.environment["REMEMBRANCER_EMBEDDER"] = "none"
    assert shell.json("reindex", code=1)["code"] == "embedder_unavailable"
    shell.environment["REMEMBRANCER_EMBEDDER"] = "trigram"
    assert shell.json("list")["memories"][0]["vector"] == "ready"


def test_migrate_says_what_it_did(empty: Shell):
    assert empty.json("migrate")["done"][0].startswith("system.db: ")
    assert "system.db: " in empty.ran("migrate").stdout


@pytest.mark.postgresql
def test_migrate_of_postgresql_needs_the_owner(postgresql: Server, tmp_path: Path):
    owner, log_in = postgresql.database()
    shell = Shell(tmp_path / "data", log_in, environment=environment())
    assert shell.json("list", code=1)["code"] in {"schema", "store_unavailable"}
    problem = shell.json("migrate", code=1)
    assert (problem["code"], problem["field"]) == ("configuration", "migration_url")
    assert "REMEMBRANCER_MIGRATION_URL" in problem["hint"]
    shell.environment["REMEMBRANCER_MIGRATION_URL"] = owner
    assert shell.json("migrate")["done"]
    assert shell.json("user", "add", "ada")["role"] == "admin"


def test_O1_doctor_prints_each_setting_with_its_source(shell: Shell):
    (shell.data / "remembrancer.toml").write_text('embedder_key = "s3cret"\nindex_megabytes = 64\n')
    found = shell.json("doctor")
    assert found["ok"] is True
    assert {"version", "settings", "disk", "embedder", "store", "people"} <= set(found)
    settings = {each["name"]: each for each in found["settings"]}
    assert (settings["data"]["value"], settings["data"]["source"]) == (str(shell.data), "option")
    assert settings["embedder"]["source"] == "REMEMBRANCER_EMBEDDER"
    assert settings["index_megabytes"]["source"].endswith("remembrancer.toml")
    assert settings["eval_data"]["source"] in {"default", "REMEMBRANCER_EVAL_DATA"}
    said = shell.ran("doctor").stdout
    assert "s3cret" not in said + str(found)
    assert "Nothing is wrong." in said
    assert all(len(line) <= 80 or "/" in line for line in said.splitlines())


def test_doctor_describes_model_store_and_people(either: Shell):
    either.add("Mango is a cat.")
    found = either.json("doctor", "--user", str(either.user))
    assert found["embedder"]["state"] == "ready"
    assert {"model", "revision", "dimension", "space", "probe_ms"} <= set(found["embedder"])
    assert found["store"]["kind"] in {"sqlite", "postgresql"}
    person = found["people"][0]
    assert (person["documents"], person["pending"], person["jobs"]) == (1, 0, 0)
    assert found["disk"]["free_bytes"] > 0
    assert "Mango" not in str(found)


def test_doctor_finds_what_is_missing_and_names_the_way_out(shell: Shell):
    shell.environment["REMEMBRANCER_EMBEDDER"] = "none"
    shell.add("Mango is a cat.")
    noted = shell.json("doctor")
    assert noted["ok"] is True
    assert any("reindex --pending" in each for each in noted["notices"])
    assert "Note: " in shell.ran("doctor").stdout
    shell.environment["REMEMBRANCER_EMBEDDER"] = "http"
    broken = shell.json("doctor", code=1)
    assert "url" in broken["problems"][0]
    shell.environment["REMEMBRANCER_EMBEDDER_URL"] = "http://127.0.0.1:9"
    shell.environment["REMEMBRANCER_EMBEDDER_MODEL"] = "m"
    down = shell.json("doctor", code=1)
    assert down["embedder"]["state"] == "failed"
    assert "Problem: " in shell.ran("doctor").stdout


def test_doctor_refuses_a_server_that_isnt_there(tmp_path: Path):
    url = "postgresql://app@127.0.0.1:9/none"
    shell = Shell(tmp_path / "data", url, environment=environment())
    found = shell.json("doctor", code=1)
    assert found["problems"]
    assert "people" not in found


@pytest.mark.postgresql
def test_S4_doctor_finds_a_superuser(migrated: tuple[str, str], tmp_path: Path):
    shell = Shell(tmp_path / "data", migrated[0], environment=environment())
    found = shell.json("doctor", code=1)
    assert "superuser" in " ".join(found["problems"])
    assert shell.json("list", code=1)["code"] == "privileged_role"


def test_doctor_finds_a_full_disk(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("remembrancer.cli.doctor.LEAST_FREE", 2**62)
    assert "free" in shell.json("doctor", code=1)["problems"][0]
