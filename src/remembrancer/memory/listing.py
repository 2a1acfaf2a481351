"""Lists of memories: chosen and ordered by the database, paged, filtered by words and meta here.

Oldest first by creation, then by id, on both stores. One entry a memory: the version that answers
at the asked times (`_LISTED`), as `reading.get` would choose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final
from uuid import UUID

from sqlalchemy import BigInteger, Integer, and_, bindparam, func, or_, select

from remembrancer.clock import Instant
from remembrancer.conversations.repository import batched
from remembrancer.db.tables import OWNER
from remembrancer.db.types import Id, Str
from remembrancer.db.units import Unit
from remembrancer.errors import InvalidInputError
from remembrancer.memory import repository
from remembrancer.memory.models import Filter, Trust, Type
from remembrancer.memory.repository import Identity, Standing
from remembrancer.memory.tables import memories, paths, texts, versions
from remembrancer.scope import SpaceChoice
from remembrancer.text.normalise import normalise
from remembrancer.text.paths import clean_path

SHOWN: Final = frozenset({Trust.CANDIDATE, Trust.ACTIVE, Trust.CONFIRMED, Trust.DISPUTED})
"""What a list holds unless it is asked for other states."""

_LATER: Final = versions.alias("later")
_LATER_TEXT: Final = texts.alias("later_text")
_v, _t, _m, _p, _l = versions.c, texts.c, memories.c, paths.c, _LATER.c

_KNOWN: Final = bindparam("known", type_=BigInteger)
_AT: Final = bindparam("valid_at", type_=BigInteger)
_LAST: Final = (
    ~select(_l.id)
    .select_from(
        _LATER.join(
            _LATER_TEXT,
            (_LATER_TEXT.c.user_id == _l.user_id) & (_LATER_TEXT.c.id == _l.text_id),
        )
    )
    .where(
        _l.user_id == OWNER,
        _l.memory_id == _v.memory_id,
        _l.recorded_from <= _KNOWN,
        _l.recorded_to > _KNOWN,
        _LATER_TEXT.c.text.is_not(None),
        or_(_l.valid_from > _v.valid_from, and_(_l.valid_from <= _AT, _l.valid_to > _AT)),
    )
    .correlate(versions)
    .exists()
)
"""No version with words, believed then, holds later, nor at the asked time."""
_LISTED: Final = (
    select(_v.id, _v.memory_id)
    .select_from(
        versions.join(memories, (_m.user_id == _v.user_id) & (_m.id == _v.memory_id))
        .join(texts, (_t.user_id == _v.user_id) & (_t.id == _v.text_id))
        .outerjoin(paths, (_p.user_id == _v.user_id) & (_p.id == _v.path_id))
    )
    .where(
        _v.user_id == OWNER,
        _v.recorded_from <= _KNOWN,
        _v.recorded_to > _KNOWN,
        _t.text.is_not(None),
        _v.trust.in_(bindparam("trusts", expanding=True)),
        _v.type.in_(bindparam("types", expanding=True)),
        or_(
            bindparam("every_space", type_=Integer) == 1,
            _v.space_id.is_(None),
            _v.space_id == bindparam("space", type_=Id),
        ),
        or_(
            bindparam("path", type_=Str) == "",
            _p.text == bindparam("path", type_=Str),
            func.substr(_p.text, 1, bindparam("below_length", type_=Integer))
            == bindparam("below", type_=Str),
        ),
        or_(
            and_(_v.valid_from <= _AT, _v.valid_to > _AT),
            and_(bindparam("any_time", type_=Integer) == 1, _LAST),
        ),
    )
    .order_by(_m.created_at, _m.id)
    .limit(bindparam("most", type_=BigInteger))
    .offset(bindparam("start", type_=BigInteger))
)
_EVERYTHING: Final = 2**62


def page(unit: Unit, wanted: Filter, known_at: Instant) -> list[tuple[Identity, Standing]]:
    """The asked page of a list. `InvalidInputError` for a negative limit or offset."""
    wanted = _checked(wanted)
    if not wanted.contains and not wanted.meta:
        return list(_load(unit, _listed(unit, wanted, known_at, wanted.limit, wanted.offset)))
    fitting = (
        (found, each)
        for found, each in _load(unit, _listed(unit, wanted, known_at, _EVERYTHING, 0))
        if holds(found.meta, wanted.meta)
        and (not wanted.contains or contains(each.content or "", wanted.contains))
    )
    return list(islice(fitting, wanted.offset, wanted.offset + wanted.limit))


def _checked(wanted: Filter) -> Filter:
    """The filter with its path as paths are stored; `InvalidInputError` for a negative page."""
    for field, value in (("limit", wanted.limit), ("offset", wanted.offset)):
        if value < 0:
            raise InvalidInputError(f"{field} is {value}.", field=field, value=value, limit=">= 0")
    return replace(wanted, path=clean_path(wanted.path))


def _listed(
    unit: Unit, wanted: Filter, known_at: Instant, most: int, start: int
) -> list[tuple[UUID, UUID]]:
    """The (version, memory) ids of a list, in its order."""
    looked_at = unit.scope.space
    below = wanted.path + "/"
    rows = unit.all(
        _LISTED,
        known=known_at,
        valid_at=unit.now if wanted.valid_at is None else wanted.valid_at,
        any_time=int(wanted.valid_at is None),
        trusts=sorted(wanted.trusts or SHOWN),
        types=sorted(wanted.types or Type),
        every_space=int(looked_at is SpaceChoice.ALL),
        space=None if isinstance(looked_at, SpaceChoice) else looked_at,
        path=wanted.path,
        below=below,
        below_length=len(below),
        most=min(most, _EVERYTHING),
        start=min(start, _EVERYTHING),
    )
    return [(row.id, row.memory_id) for row in rows]


def _load(unit: Unit, listed: list[tuple[UUID, UUID]]) -> Iterator[tuple[Identity, Standing]]:
    """The rows of these ids, read in batches as they are asked for."""
    for batch in batched(listed):
        of = repository.identities_of(unit, [memory_id for _, memory_id in batch])
        found = {each.id: each for each in of}
        said = repository.versions_of(unit, [version_id for version_id, _ in batch])
        standing = {each.version_id: each for each in said}
        for version_id, memory_id in batch:
            yield found[memory_id], standing[version_id]


def holds(meta: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    """Whether `meta` has every wanted entry; as in JSON, what is absent isn't null, nor 1 true."""
    return all(
        name in meta
        and meta[name] == value
        and isinstance(meta[name], bool) == isinstance(value, bool)
        for name, value in wanted.items()
    )


def contains(content: str, words: str) -> bool:
    """Whether the content holds the words, after normalisation."""
    return normalise(words) in normalise(content)
