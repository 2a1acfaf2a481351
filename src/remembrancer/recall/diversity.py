"""Near-duplicates among what is about to be given, and nothing else: no quotas. Pure.

Two entries say the same when they are equal as duplicates are (case, spaces, a final full stop), or
have the same words after stemming, or nearly all of a long row of them, numbers and negations
included. A message also says nothing new when it merely states a memory: contains its words, or is
its evidence, and adds little. Of two, the better ranked stays; but a memory near the top displaces
the messages that state it, and a user's words an assistant's echo of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from uuid import UUID

from remembrancer.recall.models import Entry
from remembrancer.recall.reasons import Kind
from remembrancer.text.analyse import word_forms
from remembrancer.text.normalise import is_run_length, runs, tombstone_tokens

OVERLAP: Final = 0.9
LONG: Final = 10
"""Stems from which on one that differs in ten is looked past."""
ADDED_TOKENS: Final = 8
"""How much a message may say beside a memory and still merely state it."""
COMPARED_CHARACTERS: Final = 4_000
"""Longer texts are compared for equality alone."""

# Among stems, folded: what turns a statement round.
_NEGATIONS: Final = frozenset(
    word
    for line in (
        "no not never none nor without nicht nie niemals kein keine ohne nunca jamás sin ni ne",
        "pas jamais sans non mai senza não sem niet nooit geen нет не без",
    )
    for word in line.split()
)
_CJK_NEGATIONS: Final = frozenset("不没沒無无未非别別")


@dataclass(frozen=True)
class Candidate:
    """An entry, and what it is compared by. Not slotted: the words are read once, when needed."""

    entry: Entry
    tied_at: int
    """The tie-break after the score: `valid_from` or `said_at`."""
    fingerprint: bytes
    """The last tie-break, and equality."""
    rests_on: frozenset[UUID] = field(default=frozenset())
    """The messages a memory has its evidence in."""

    @property
    def order(self) -> tuple[float, int, bytes, UUID]:
        """Score, then the earlier `valid_from` or `said_at`, then fingerprint, then id."""
        return (-self.entry.score, self.tied_at, self.fingerprint, self.entry.id)

    @property
    def authority(self) -> int:
        """3 a memory, 2 the user's words, 1 a third person's, 0 the assistant's."""
        if self.entry.kind is Kind.MEMORY:
            return 3
        return {"user": 2, "assistant": 0}.get(self.entry.said_by, 1)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stem of each word, in order; nothing for a very long text."""
        if len(self.entry.content) > COMPARED_CHARACTERS:
            return ()
        return tuple(forms[min(1, len(forms) - 1)] for forms in word_forms(self.entry.content))

    @cached_property
    def distinct_stems(self) -> frozenset[str]:
        return frozenset(self.stems)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words as tombstones compare them; nothing for a very long text."""
        if len(self.entry.content) > COMPARED_CHARACTERS:
            return ()
        return tombstone_tokens(self.entry.content)


@dataclass(frozen=True, slots=True)
class Distinct:
    """What stays, in order, and what was suppressed by what."""

    kept: tuple[Candidate, ...]
    suppressed: tuple[tuple[Candidate, UUID], ...]
    """A candidate, and the id of the entry or profile entry that says the same."""


def distinct(
    ranked: Sequence[Candidate], lead: int, profile: Sequence[tuple[UUID, bytes]] = ()
) -> Distinct:
    """Suppress near-duplicates among `ranked` (best first).

    Only an entry among the first `lead` displaces one above it, since only that is certain to be
    given itself. `profile` names the ids and fingerprints the turn is given anyway.
    """
    known = {fingerprint: id_ for id_, fingerprint in profile}
    kept: list[Candidate] = []
    suppressed: list[tuple[Candidate, UUID]] = []
    for place, each in enumerate(ranked):
        same = known.get(each.fingerprint)
        if same is None:
            better = [
                other for other in ranked[place + 1 : lead] if other.authority > each.authority
            ]
            same = next((o.entry.id for o in (*kept, *better) if says_the_same(each, o)), None)
        if same is None:
            kept.append(each)
        else:
            suppressed.append((each, same))
    return Distinct(tuple(kept), tuple(suppressed))


def says_the_same(each: Candidate, other: Candidate) -> bool:
    """Whether `each` adds nothing to `other`."""
    if each.fingerprint == other.fingerprint or _same_words(each, other):
        return True
    return (
        each.entry.kind is Kind.MESSAGE
        and other.entry.kind is Kind.MEMORY
        and _merely_states(each, other)
    )


def _same_words(one: Candidate, two: Candidate) -> bool:
    if not one.stems or not two.stems:
        return False
    if one.stems == two.stems:
        return True
    mine, theirs = one.distinct_stems, two.distinct_stems
    if min(len(mine), len(theirs)) < LONG:
        return False
    differing = mine ^ theirs
    shared = len(mine) + len(theirs) - len(differing)
    return shared >= 2 * OVERLAP * len(mine | theirs) and not any(map(_decides, differing))


def _decides(stem: str) -> bool:
    """Whether a word that differs makes it another statement: a number, or a negation."""
    return (
        stem in _NEGATIONS
        or any(character.isnumeric() for character in stem)
        or not _CJK_NEGATIONS.isdisjoint(stem)
    )


def _merely_states(message: Candidate, memory: Candidate) -> bool:
    said, wanted = message.tokens, memory.tokens
    if not said or len(said) > len(wanted) + ADDED_TOKENS:
        return False
    if message.entry.id in memory.rests_on:
        return True
    return is_run_length(wanted) and next(runs(said, wanted), -1) >= 0
