"""Strange values meet typed errors that name the field, and nothing else of a batch is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from remembrancer import SyncPersonalMemory, SyncRemembrancer
from remembrancer.cli.main import app
from remembrancer.clock import MAX, MIN
from remembrancer.conversations import form
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import IdempotencyError, InvalidInputError, NotFoundError
from remembrancer.memory.models import Add, Correct, Meaning, Retract, Status


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SyncRemembrancer]:
    with SyncRemembrancer(tmp_path, embedder=TrigramEmbedder()) as handle:
        yield handle


@pytest.fixture
def ada(store: SyncRemembrancer) -> SyncPersonalMemory:
    return store.person("ada@example.org")


def deep(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def circular() -> dict[str, Any]:
    ring: dict[str, Any] = {}
    ring["me"] = ring
    return ring


METAS: dict[str, Callable[[], dict[Any, Any]]] = {
    "deep": lambda: deep(3000),
    "circular": circular,
    "long number": lambda: {"n": 10**5000},
    "mixed keys": lambda: {"a": 1, 2: 3},
}


@pytest.mark.parametrize("name", METAS)
def test_W3_a_meta_that_isn_t_json_fails_alone(ada: SyncPersonalMemory, name: str) -> None:
    meta = METAS[name]()
    batch = [Add("Ada likes tea."), Add("Ada likes chess.", meta=meta), Add("Ada rows.")]
    for _ in range(2):
        outcomes = ada.apply(batch, idempotency_key="k")
        assert [each.status for each in outcomes] == [
            Status.CREATED,
            Status.ERROR,
            Status.CREATED,
        ]
    assert {each.content for each in ada.list()} == {"Ada likes tea.", "Ada rows."}
    with pytest.raises(IdempotencyError):
        ada.apply(batch[:2], idempotency_key="k")
    with pytest.raises(InvalidInputError) as refused:
        ada.add("Ada likes chess.", meta=meta, idempotency_key="other")
    assert refused.value.field == "meta"


@pytest.mark.parametrize("rank", [1.5, 1.0, True, -1, 2**70, "1"])
def test_a_pin_is_a_whole_number(ada: SyncPersonalMemory, rank: Any) -> None:
    made = ada.add("Ada is vegan.", type="user")
    with pytest.raises(InvalidInputError) as refused:
        ada.pin(made.id, rank)
    assert refused.value.field == "rank"
    assert ada.pin(made.id, 1).status is Status.UPDATED


@pytest.mark.parametrize("event", [2**70, "x", -1, True, 1.0])
def test_an_event_s_number_is_a_whole_number(ada: SyncPersonalMemory, event: Any) -> None:
    with pytest.raises(InvalidInputError) as refused:
        ada.undo(event)
    assert refused.value.field == "event"
    with pytest.raises(NotFoundError):
        ada.undo(999)


@pytest.mark.parametrize("value", [2**70, -1, "x", 1.5])
def test_a_page_of_the_log_has_whole_numbers(ada: SyncPersonalMemory, value: Any) -> None:
    ada.add("Ada rows.")
    for field in ("after", "limit"):
        with pytest.raises(InvalidInputError) as refused:
            ada.events(**{field: value})
        assert refused.value.field == field
    assert len(ada.events(after=0, limit=1)) == 1


def test_a_state_of_proposals_is_a_known_one(ada: SyncPersonalMemory) -> None:
    for state in ("\0", "opened", "\ud800"):
        with pytest.raises(InvalidInputError):
            ada.proposals(state)
    ada.as_agent("scout").add("Ada may like chess.")
    assert len(ada.proposals()) == 1
    assert ada.proposals("expired") == []


@pytest.mark.parametrize("day", ["0001-01-01", "0001-01-01T00:00:00Z"])
def test_V2_nothing_changes_before_time_began(ada: SyncPersonalMemory, day: str) -> None:
    made = ada.add("Ada is vegan.")
    bot = ada.as_agent("scout")
    for face in (ada, bot):
        with pytest.raises(InvalidInputError) as refused:
            face.correct(made.id, "Ada eats fish.", changed_at=day)
        assert refused.value.field == "changed_at"
    with pytest.raises(InvalidInputError) as refused:
        ada.retract(made.id, ended_at="9999-12-31")
    assert refused.value.field == "ended_at"
    assert not ada.proposals()
    bad = [
        Correct(made.id, "Ada eats fish.", Meaning.CHANGED, at=MIN),
        Correct(made.id, "Ada eats fish.", Meaning.WAS_WRONG, valid_at=2**70),
        Retract(made.id, Meaning.CHANGED, at=MAX),
    ]
    assert {each.code for each in ada.apply(bad)} == {"invalid"}
    asked = bot.correct(made.id, "Ada eats fish.", changed_at="2024-05-01")
    with pytest.raises(InvalidInputError):
        ada.approve(asked.proposal, changed_at=day)
    assert ada.approve(asked.proposal).status is Status.UPDATED


def test_a_number_of_many_digits_is_no_file() -> None:
    with pytest.raises(InvalidInputError) as refused:
        form.parse('[{"messages": ' + "1" * 5000 + "}]")
    assert refused.value.field == "file"
    with pytest.raises(InvalidInputError):
        form.parse("[" * 100_000)


@pytest.mark.parametrize("email", ["\ud800@example.org", "a\0@example.org", None, 7, ""])
def test_who_somebody_is_can_be_stored(store: SyncRemembrancer, email: Any) -> None:
    for call in (store.person, store.remove_person, lambda it: store.add("Tea.", user_id=it)):
        with pytest.raises(InvalidInputError) as refused:
            call(email)
        assert refused.value.field == "email"


@pytest.mark.parametrize("field", ["content", "role", "name"])
def test_a_message_is_made_of_text(store: SyncRemembrancer, field: str) -> None:
    good = {"role": "user", "content": "I row.", "name": "Ada"}
    with pytest.raises(InvalidInputError) as refused:
        store.add([{**good, field: None}], user_id="ada@example.org")  # type: ignore[dict-item]
    assert refused.value.field == f"messages[0].{field}"
    assert len(store.add([good], user_id="ada@example.org")["messages"]) == 1  # type: ignore[arg-type]


def test_the_command_line_meets_the_same_errors(tmp_path: Path) -> None:
    deep_json = '{"a":' * 5000 + "1" + "}" * 5000

    def ran(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, [*words, "--data", str(tmp_path)])
        return result.exit_code, result.output

    assert ran("user", "add", "ada@example.org")[0] == 0
    assert ran("user", "add", "\ud800@example.org")[0] == 1
    code, said = ran("add", "Ada rows.", "--meta", deep_json)
    assert (code, said) == (2, "--meta is nested too deeply.\n")
    for name in ("", "a\nb"):
        code, said = ran("add", "Ada rows.", "--as-agent", name)
        assert code == 1
        assert said.startswith("agent m")
