"""Words for everything a recall can say of itself."""

from __future__ import annotations

import re
from pathlib import Path

from remembrancer.cli import wording
from remembrancer.memory.models import Trust
from remembrancer.recall.reasons import Part, Reason

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "cli-json.md"


def test_C4_every_part_that_can_fail_has_its_words():
    assert set(wording.DEGRADED) == {each.value for each in Part}


def test_every_reason_and_every_state_has_its_words():
    assert set(wording.REASONS) == {each.value for each in Reason}
    assert set(wording.MARKS) == {each.value for each in Trust} | {"forgotten"}


def test_the_reference_names_every_part_and_reason():
    text = REFERENCE.read_text("utf-8")
    parts = text[text.index("`degraded` names") : text.index("Tokens are estimates")]
    assert set(re.findall(r"`(\w+)`", parts)) - {"degraded"} == {each.value for each in Part}
    reasons = text[text.index("Reasons: ") : text.index("`degraded` names")]
    assert set(re.findall(r"`(\w+)`", reasons)) == {each.value for each in Reason}
