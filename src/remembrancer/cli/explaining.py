"""What a recall gave and why, in words: order, fit, arms, what was left out, how long it took."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer.cli import wording
from remembrancer.cli.session import Session

if TYPE_CHECKING:
    from remembrancer.recall.models import Entry, Recall
    from remembrancer.recall.reasons import Omitted

SHOWN = 12
"""Left-out lines that are named; the rest are counted by reason."""


def show_recall(session: Session, found: Recall, *, explain: bool, most: int = SHOWN) -> None:
    """The profile, the entries in the order a model reads them, and with `explain` the rest."""
    out = session.out
    if found.profile:
        out.line(("Profile", "bold"), (" · given with every turn", "dim"))
        for one in found.profile:
            out.line(wording.state(one.trust), "  ", one.content, indent=2)
        out.line("")
    counted = _counted(found)
    out.line((counted, "bold"))
    for each in found.entries:
        show_entry(session, each, explain=explain)
    if explain:
        _show_rest(session, found, most)


def _counted(found: Recall) -> str:
    memories = sum(each.kind.value == "memory" for each in found.entries)
    messages = len(found.entries) - memories
    parts = []
    if memories:
        parts.append("1 memory" if memories == 1 else f"{memories} memories")
    if messages:
        parts.append("1 line of past chats" if messages == 1 else f"{messages} lines of past chats")
    return " · ".join(parts) if parts else "No memories: nothing fitted well enough."


def show_entry(session: Session, each: Entry, *, explain: bool) -> None:
    """One entry: rank, words, whose they are and when, how well it fits; and why."""
    out = session.out
    out.line((f"{each.rank}. ", "bold"), each.content)
    parts = [_origin(session, each), f"fit {each.relevance:.0%}"]
    out.line((" · ".join(part for part in parts if part), "dim"), indent=3)
    if explain:
        arms = ", ".join(each.arms)
        out.line((f"score {each.score:.3f} · {arms} · {each.why}", "dim"), indent=3)
        out.line((f"{each.kind.value} {each.id}", "dim"), indent=3)


def _origin(session: Session, each: Entry) -> str:
    from remembrancer import clock

    moment = clock.to_datetime(each.at)
    at = "" if moment is None else wording.when(moment, session.account.zone)
    if each.kind.value == "memory":
        mark, _ = wording.state(each.trust)
        return " · ".join(part for part in (mark, each.path, at) if part)
    who = {"user": "you said", "assistant": "the assistant said"}.get(
        each.said_by, f"{each.said_by} said"
    )
    return f"{who}, {at}"


def _show_rest(session: Session, found: Recall, most: int) -> None:
    out = session.out
    out.line("")
    out.line(("Left out", "bold"))
    words = _words_of(session, found.omitted[:most])
    for each in found.omitted[:most]:
        reason = wording.REASONS.get(each.reason.value, each.reason.value)
        out.line(f"{reason}: ", (words.get(each.id, str(each.id)), "dim"), indent=2)
    counts = Counter(each.reason.value for each in found.omitted[most:])
    counts.update(found.omitted_counts)
    for reason, count in counts.most_common():
        said = wording.REASONS.get(reason, reason)
        out.line(f"{count} more: {said}", indent=2)
    if not found.omitted and not counts:
        out.line("Nothing.", indent=2)
    out.line("")
    tokens = found.tokens
    out.line(
        (f"about {tokens.profile} tokens of profile, {tokens.recalled} recalled", "dim"), indent=0
    )
    took = ", ".join(f"{name} {spent:.1f}" for name, spent in found.trace.timings)
    out.line((f"milliseconds: {took}", "dim"))


def _words_of(session: Session, omitted: tuple[Omitted, ...]) -> dict[UUID, str]:
    """What the left-out ones say, as far as it can still be read."""
    messages = [each.id for each in omitted if each.kind.value == "message"]
    found = session.run(session.memory.messages(messages))
    words = {each.id: each.visible for each in found.values()}
    for each in omitted:
        if each.kind.value == "memory":
            one = session.run(session.memory.get(each.id))
            if one is not None:
                words[each.id] = one.content
    return words
