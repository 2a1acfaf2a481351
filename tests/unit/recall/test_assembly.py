"""Whole entries by rank, inside k and the budgets."""

from __future__ import annotations

from uuid import UUID

import pytest

from remembrancer.recall.assembly import Limits, fit_entries, fit_profile, profile_order
from remembrancer.recall.models import Entry, ProfileEntry
from remembrancer.recall.reasons import Kind, Reason
from remembrancer.recall.render import recalled_block
from remembrancer.text.limits import estimate_tokens

ROOMY = Limits(k=8, total=1_200, profile=400)


def entry(number: int, content: str = "a short line", kind: Kind = Kind.MEMORY) -> Entry:
    return Entry(
        kind=kind,
        id=UUID(int=number),
        version_id=UUID(int=100 + number) if kind is Kind.MEMORY else None,
        content=content,
        rank=0,
        score=10.0 - number,
        relevance=0.9,
        arms=("lexical",),
        at=0,
        said_by="user",
    )


def profile(number: int, content: str = "a line", **details) -> ProfileEntry:
    return ProfileEntry(UUID(int=number), UUID(int=50), content, **{"trust": "active", **details})


def test_R1_k_bounds_the_entries_and_k_that_fit_give_k():
    fitted = fit_entries([entry(n) for n in range(12)], ROOMY, 0)
    assert [each.rank for each in fitted.entries] == list(range(1, 9))
    assert fitted.filled
    assert [each.reason for each in fitted.omitted] == [Reason.OVER_K] * 4


@pytest.mark.parametrize("length", [1, 40, 400, 4_000, 10_000])
@pytest.mark.parametrize("total", [0, 50, 100, 400, 1_200])
def test_R1_the_budget_bounds_the_block_whatever_the_lengths(length, total):
    ranked = [entry(n, "字" * (length * (n + 1) // 4 + 1)) for n in range(10)]
    fitted = fit_entries(ranked, Limits(8, total, 0), 0)
    assert estimate_tokens(fitted.block) == fitted.tokens <= total
    assert fitted.block == recalled_block(fitted.entries)
    assert len(fitted.entries) + len(fitted.omitted) == 10


def test_R1_both_tiers_share_the_total():
    limits = Limits(k=8, total=300, profile=200)
    tier = fit_profile([profile(n, "x" * 60) for n in range(9)], limits)
    fitted = fit_entries([entry(n) for n in range(9)], limits, tier.tokens)
    assert tier.entries
    assert fitted.entries
    assert tier.tokens <= 200
    assert tier.tokens + fitted.tokens <= 300


def test_an_entry_that_does_not_fit_is_skipped_said_and_never_cut():
    ranked = [entry(1), entry(2, "long " * 2_000), entry(3)]
    fitted = fit_entries(ranked, ROOMY, 0)
    assert [each.id.int for each in fitted.entries] == [1, 3]
    assert [(each.id.int, each.reason) for each in fitted.omitted] == [(2, Reason.OVER_BUDGET)]
    assert fitted.omitted[0].version_id == UUID(int=102)
    assert "long" not in fitted.block


def test_R2_the_order_of_the_block_is_the_order_that_came_in():
    fitted = fit_entries([entry(n, f"line {n}") for n in (5, 3, 9)], ROOMY, 0)
    assert [line[-6:] for line in fitted.block.splitlines()[2:-1]] == ["line 5", "line 3", "line 9"]


def test_use_all_counts_messages_only():
    ranked = [entry(n, "x", Kind.MEMORY) for n in range(10)]
    ranked += [entry(20 + n, "x", Kind.MESSAGE) for n in range(3)]
    fitted = fit_entries(ranked, Limits(2, 10_000, 0, memories_counted=False), 0)
    assert [each.kind for each in fitted.entries] == [Kind.MEMORY] * 10 + [Kind.MESSAGE] * 2
    assert [each.reason for each in fitted.omitted] == [Reason.OVER_K]


def test_the_profile_has_its_order():
    entries = [
        profile(5, trust="confirmed", changed_at=9),
        profile(4, trust="active", changed_at=10),
        profile(3, trust="confirmed", changed_at=10),
        profile(2, trust="confirmed", changed_at=10),
        profile(1, trust="active", pin_rank=2),
        profile(6, trust="active", pin_rank=1),
    ]
    fitted = fit_profile(entries, Limits(8, 1_200, 1_200))
    assert [each.id.int for each in fitted.entries] == [6, 1, 2, 3, 5, 4]
    assert sorted(entries, key=profile_order) == list(fitted.entries)


def test_what_the_profile_budget_leaves_out_is_said():
    fitted = fit_profile([profile(1, "x" * 5_000), profile(2)], ROOMY)
    assert [each.id.int for each in fitted.entries] == [2]
    assert [(each.id.int, each.reason) for each in fitted.omitted] == [(1, Reason.OVER_BUDGET)]
    assert fit_profile([], ROOMY).block == ""
