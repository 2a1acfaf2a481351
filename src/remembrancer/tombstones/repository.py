"""Reading and writing tombstones, their keys, and the attempts they stopped.

No event is written here: callers append theirs first and pass its sequence number. A value's words
are looked for by keyed digests; only a rejected or refuted one keeps its text.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Row, bindparam, func, insert, select, update

from remembrancer.clock import moment
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import InvalidInputError
from remembrancer.ids import new_id
from remembrancer.scope import Actor, ActorKind
from remembrancer.text.digest import keyed_digest
from remembrancer.text.normalise import is_run_length, matches, tombstone_tokens
from remembrancer.tombstones.models import Attempt, Key, Kind, Tombstone
from remembrancer.tombstones.scanning import Group, Scanner, candidates
from remembrancer.tombstones.tables import attempts, keys, tombstones

KEY_BYTES: Final = 32
_MOST_BOUND: Final = 2_000
"""From so many digests on, all live ones are read first: SQLite binds 32,766 values."""

_t, _k, _a = tombstones.c, keys.c, attempts.c

_OWN_KEY: Final = select(_k.id, _k.secret).where(_k.user_id == OWNER, _k.own == 1)
_KEYS: Final = select(_k.id, _k.secret).where(_k.user_id == OWNER).order_by(_k.created_at, _k.id)
_NEW_KEY: Final = insert(keys)
_NEW: Final = insert(tombstones)
_NEW_ATTEMPT: Final = insert(attempts)
_GROUPS: Final = (
    select(_k.secret, _t.tokens, _t.run)
    .distinct()
    .select_from(tombstones.join(keys, (_k.user_id == _t.user_id) & (_k.id == _t.key_id)))
    .where(_t.user_id == OWNER, _t.lifted_seq.is_(None))
)
_ATTEMPTS: Final = (
    select(func.count())
    .select_from(attempts)
    .where(_a.user_id == _t.user_id, _a.tombstone_id == _t.id)
    .scalar_subquery()
    .label("attempts")
)
_ALL: Final = (
    select(
        _t.id,
        _t.kind,
        _t.text,
        _t.memory_id,
        _t.created_at,
        _t.lifted_seq,
        _t.digest,
        _t.tokens,
        _t.run,
        _ATTEMPTS,
    )
    .where(_t.user_id == OWNER)
    .order_by(_t.created_at.desc(), _t.id.desc())
)
_ONE: Final = _ALL.where(_t.id == bindparam("stone"))
_LIVE: Final = _ALL.where(_t.lifted_seq.is_(None))
_MATCHING: Final = _LIVE.where(_t.digest.in_(bindparam("digests", expanding=True)))
_STONES: Final = select(_t.id, _t.digest, _t.run).where(
    _t.user_id == OWNER, _t.lifted_seq.is_(None)
)
_WITH_TEXT: Final = select(_t.id, _t.text).where(_t.user_id == OWNER, _t.text.is_not(None))
_LIVE_TEXTS: Final = (
    _WITH_TEXT.where(_t.lifted_seq.is_(None))
    .order_by(_t.created_at.desc(), _t.id.desc())
    .limit(500)
)
_CLEAR: Final = (
    update(tombstones).where(_t.user_id == OWNER, _t.id == bindparam("stone")).values(text=None)
)
_CLEAR_ALL: Final = update(tombstones).where(_t.user_id == OWNER).values(text=None)
_LIFT: Final = (
    update(tombstones)
    .where(_t.user_id == OWNER, _t.id == bindparam("stone"), _t.lifted_seq.is_(None))
    .values(lifted_seq=bindparam("by"))
)
_UNLIFT: Final = (
    update(tombstones)
    .where(_t.user_id == OWNER, _t.id == bindparam("stone"))
    .values(lifted_seq=None)
)
_ATTEMPTS_OF: Final = (
    select(attempts)
    .where(_a.user_id == OWNER, _a.tombstone_id == bindparam("stone"))
    .order_by(_a.attempted_at, _a.id)
)


def own_key(unit: Unit) -> Key | None:
    """The person's own key, None before its first use."""
    row = unit.first(_OWN_KEY)
    return None if row is None else Key(row.id, row.secret)


def ensure_key(unit: Unit) -> Key:
    """The person's own key, made on first use."""
    found = own_key(unit)
    if found is None:
        found = Key(new_id(), secrets.token_bytes(KEY_BYTES))
        unit.insert(_NEW_KEY, id=found.id, secret=found.secret, own=1, created_at=unit.now)
    return found


def keys_of(unit: Unit) -> list[Key]:
    """The person's own key and those that came with imports, oldest first."""
    return [Key(row.id, row.secret) for row in unit.all(_KEYS)]


def make(
    unit: Unit,
    kind: Kind,
    text: str,
    *,
    event_seq: int,
    memory_id: UUID | None = None,
    tombstone_id: UUID | None = None,
) -> UUID:
    """A tombstone for what `text` says; its id. `event_seq` is of the event that made it.

    Forgetting also clears the text of that value's other tombstones, and a value that is already
    forgotten gets no text again. Raises `InvalidInputError` for a text without visible characters.
    """
    tokens = tombstone_tokens(text)
    if not tokens:
        raise InvalidInputError("A tombstone needs a value.", field="text", value=text[:20])
    forgotten = kind is Kind.FORGOTTEN
    if forgotten:
        clear_texts(unit, text)
    else:
        forgotten = any(each.kind is Kind.FORGOTTEN for each in live_match(unit, text))
    key = ensure_key(unit)
    made = tombstone_id or new_id()
    unit.insert(
        _NEW,
        id=made,
        kind=kind.value,
        key_id=key.id,
        digest=keyed_digest(key.secret, tokens),
        tokens=len(tokens),
        run=int(is_run_length(tokens)),
        text=None if forgotten else text,
        memory_id=memory_id,
        event_seq=event_seq,
        lifted_seq=None,
        created_at=unit.now,
    )
    return made


def clear_texts(unit: Unit, text: str) -> int:
    """Clear the text of every tombstone, lifted ones too, that says what `text` says."""
    saying = [row.id for row in unit.all(_WITH_TEXT) if matches(row.text, text)]
    unit.run_many(_CLEAR, ({"stone": each} for each in saying))
    return len(saying)


def texts(unit: Unit) -> list[tuple[UUID, str]]:
    """Ids and words of the newest 500 live tombstones that still have their words."""
    return [(row.id, row.text) for row in unit.all(_LIVE_TEXTS)]


def clear_every_text(unit: Unit) -> None:
    """Clear the text of all of the person's tombstones; they go on standing by their digests."""
    unit.run(_CLEAR_ALL)


def live_match(unit: Unit, text: str) -> list[Tombstone]:
    """Live tombstones whose value `text` says or, for run-length values, contains. Newest first."""
    groups = _groups(unit)
    if not groups:
        return []
    tokens = tombstone_tokens(text)
    return _among(unit, set(candidates(groups, tokens)))


def equal(unit: Unit, text: str) -> list[Tombstone]:
    """Live tombstones whose value is exactly what `text` says. Newest first."""
    groups = _groups(unit)
    if not groups:
        return []
    tokens = tombstone_tokens(text)
    same = {keyed_digest(each.secret, tokens) for each in groups if each.tokens == len(tokens)}
    return _among(unit, same)


def scanner(unit: Unit) -> Scanner | None:
    """What finds live tombstones' values in many texts; None (after one statement) for none."""
    groups = _groups(unit)
    if not groups:
        return None
    return Scanner(groups, [(row.id, row.digest, bool(row.run)) for row in unit.all(_STONES)])


def lift(unit: Unit, ids: Sequence[UUID], seq: int) -> None:
    """Lift tombstones: the person said it again. `seq` is of the event that says so."""
    unit.run_many(_LIFT, ({"stone": each, "by": seq} for each in ids))


def unlift(unit: Unit, ids: Sequence[UUID]) -> None:
    """Put lifted tombstones back in force (an undo)."""
    unit.run_many(_UNLIFT, ({"stone": each} for each in ids))


def record_attempt(unit: Unit, tombstone_id: UUID, actor: Actor, event_seq: int) -> None:
    """Note that a machine tried to bring the value back: when, who, through what; no text."""
    unit.insert(
        _NEW_ATTEMPT,
        id=new_id(),
        tombstone_id=tombstone_id,
        actor_kind=actor.kind.value,
        actor_name=actor.name,
        surface=actor.surface,
        attempted_at=unit.now,
        event_seq=event_seq,
    )


def get(unit: Unit, tombstone_id: UUID) -> Tombstone | None:
    """One tombstone, lifted or not."""
    row = unit.first(_ONE, stone=tombstone_id)
    return None if row is None else _tombstone(row)


def list_all(unit: Unit) -> list[Tombstone]:
    """Every tombstone, lifted ones too, newest first."""
    return [_tombstone(row) for row in unit.all(_ALL)]


def attempts_of(unit: Unit, tombstone_id: UUID) -> list[Attempt]:
    """The attempts one tombstone stopped, oldest first."""
    return [
        Attempt(
            row.tombstone_id,
            Actor(ActorKind(row.actor_kind), row.actor_name, row.surface),
            moment(row.attempted_at),
            row.event_seq,
        )
        for row in unit.all(_ATTEMPTS_OF, stone=tombstone_id)
    ]


def _groups(unit: Unit) -> list[Group]:
    return [Group(row.secret, row.tokens, bool(row.run)) for row in unit.all(_GROUPS)]


def _among(unit: Unit, digests: set[bytes]) -> list[Tombstone]:
    if not digests:
        return []
    if len(digests) > _MOST_BOUND:
        digests &= {row.digest for row in unit.all(_STONES)}
    return [_tombstone(row) for row in unit.all(_MATCHING, digests=sorted(digests))]


def _tombstone(row: Row[tuple[object, ...]]) -> Tombstone:
    return Tombstone(
        id=row.id,
        kind=Kind(row.kind),
        text=row.text,
        memory_id=row.memory_id,
        created_at=moment(row.created_at),
        lifted=row.lifted_seq is not None,
        attempts=row.attempts,
    )
