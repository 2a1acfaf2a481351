"""Finding what tombstones stand for inside longer texts, by their digests alone. Pure.

A forgotten value's words are gone, so a text is searched by digesting its windows of as many
tokens. The sentences this finds are those `text.spans.sentence_spans_with` would find, had it the
value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

from remembrancer.text.digest import keyed_digest, window_digests
from remembrancer.text.normalise import TokenSpan, token_spans
from remembrancer.text.spans import Span, sentences

SpansOf: TypeAlias = dict[UUID, list[Span]]
"""For each tombstone, the sentences it withholds."""


@dataclass(frozen=True, slots=True)
class Group:
    """Live tombstones made with one key, of one length; `run` ones are found inside texts."""

    secret: bytes = field(repr=False)
    tokens: int
    run: bool


def candidates(groups: Sequence[Group], tokens: Sequence[str]) -> Iterator[bytes]:
    """Every digest by which a text of these tokens could say a tombstone's value."""
    for group in groups:
        if group.run:
            yield from window_digests(group.secret, tokens, group.tokens)
        elif group.tokens == len(tokens):
            yield keyed_digest(group.secret, tokens)


class Scanner:
    """A person's live tombstones, held for the scanning of many texts in one unit."""

    __slots__ = ("_groups", "_runs", "_shorts")

    def __init__(self, groups: Sequence[Group], stones: Sequence[tuple[UUID, bytes, bool]]) -> None:
        """`stones`: id, digest, and whether it is a run."""
        self._groups = tuple(groups)
        self._runs: dict[bytes, list[UUID]] = {}
        self._shorts: dict[bytes, list[UUID]] = {}
        for stone, digest, run in stones:
            (self._runs if run else self._shorts).setdefault(digest, []).append(stone)

    def spans(self, text: str) -> SpansOf:
        """The sentences that say a tombstone's value, half-open, in characters of `text`.

        Sentences are taken until none says a value: taking one may bring others together.
        """
        whole = sentences(text)
        left = token_spans(text)
        taken: dict[UUID, set[Span]] = {}
        gone: set[Span] = set()
        while left:
            fresh: set[Span] = set()
            for stone, first, last in self._found(whole, left):
                met = {span for span in whole if span[0] < last and first < span[1]} - gone
                taken.setdefault(stone, set()).update(met)
                fresh |= met
            if not fresh:
                break
            gone |= fresh
            left = [token for token in left if not _inside(token, fresh)]
        return {stone: sorted(spans) for stone, spans in taken.items() if spans}

    def _found(
        self, whole: Sequence[Span], tokens: Sequence[TokenSpan]
    ) -> Iterator[tuple[UUID, int, int]]:
        """Where a value stands: the tombstone, and the characters from its first to last token."""
        words = [token.token for token in tokens]
        for group in self._groups:
            if group.run:
                yield from self._runs_in(group, words, tokens)
            else:
                yield from self._equal(group, words, tokens)
                for span in whole:
                    inside = [token for token in tokens if span[0] <= token.start < span[1]]
                    yield from self._equal(group, [token.token for token in inside], inside)

    def _runs_in(
        self, group: Group, words: Sequence[str], tokens: Sequence[TokenSpan]
    ) -> Iterator[tuple[UUID, int, int]]:
        for place, digest in enumerate(window_digests(group.secret, words, group.tokens)):
            for stone in self._runs.get(digest, ()):
                yield stone, tokens[place].start, tokens[place + group.tokens - 1].end

    def _equal(
        self, group: Group, words: Sequence[str], tokens: Sequence[TokenSpan]
    ) -> Iterator[tuple[UUID, int, int]]:
        if len(words) == group.tokens:
            for stone in self._shorts.get(keyed_digest(group.secret, words), ()):
                yield stone, tokens[0].start, tokens[-1].end


def _inside(token: TokenSpan, spans: set[Span]) -> bool:
    return any(start < token.end and token.start < end for start, end in spans)
