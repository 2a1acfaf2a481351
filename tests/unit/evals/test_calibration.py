"""The program that fits a space's numbers; its parts are tested beside the floor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remembrancer.embeddings import local
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.evals import calibration
from remembrancer.evals.people import load_cases


def test_the_program_prints_its_figures_and_writes_the_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = load_cases()[::16]
    monkeypatch.setattr(local, "LocalEmbedder", lambda: TrigramEmbedder(24))
    monkeypatch.setattr(calibration, "load_cases", lambda: some)
    calibration.main(tmp_path)
    said = capsys.readouterr().out
    assert "report greeting" in said
    assert "By the stated default:" in said
    assert str(tmp_path / "trigram.json") in said
    written = json.loads((tmp_path / "trigram.json").read_text("utf-8"))
    assert written["model"] == "trigram"
    assert len(written["calibration"]["head"]) == 24
    assert 0.0 < written["calibration"]["floor"] < 1.0
    asked = written["figures"]["tune"]["questions"] + written["figures"]["report"]["questions"]
    assert asked == len(some)
