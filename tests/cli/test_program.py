"""The installed program, as a shell runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Shell

PROGRAM = Path(sys.executable).parent / "remembrancer"


def ran(shell: Shell, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    known = {
        name: value for name, value in os.environ.items() if not name.startswith("REMEMBRANCER_")
    }
    known |= {"REMEMBRANCER_DATA": str(shell.data), "REMEMBRANCER_EMBEDDER": "trigram", **more}
    return subprocess.run(
        [str(PROGRAM), *words], env=known, capture_output=True, text=True, check=False
    )


def test_a_degraded_recall_answers_and_logs_nothing_to_stdout(shell: Shell):
    made = shell.add("Her sister Mina lives in Lyon.")
    down = {
        "REMEMBRANCER_EMBEDDER": "http",
        "REMEMBRANCER_EMBEDDER_MODEL": "m",
        "REMEMBRANCER_EMBEDDER_URL": "http://127.0.0.1:9",
    }
    done = ran(shell, "recall", "Where does her sister Mina live?", "--json", **down)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["degraded"] == ["vector"]
    assert [each["id"] for each in found["entries"]] == [made]


def test_a_terminal_that_knows_ascii_only(shell: Shell):
    shell.add("麻婆豆腐")
    done = ran(shell, "list", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\\u9ebb" in done.stdout


def test_a_refusal_is_one_line_and_a_code(shell: Shell):
    refused = ran(shell, "history", "nonsense")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.count("\n") == 1


def test_a_reader_that_goes_away_is_no_error(shell: Shell):
    shell.add("x " * 4000)
    shell.add("y " * 4000)
    line = f"{PROGRAM} list --data {shell.data} | true"
    environment = os.environ | {"REMEMBRANCER_EMBEDDER": "none"}
    done = subprocess.run(
        ["sh", "-c", line], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
