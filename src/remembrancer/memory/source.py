"""What the personal index reads of this domain: texts and versions that changed.

Their rows are never deleted (forgetting empties them), so no count has to give a deletion away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from sqlalchemy import bindparam, func, select

from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.index.changes import Changes, TextRow, VersionRow
from remembrancer.index.indexes import Source
from remembrancer.index.raw_ids import raw
from remembrancer.memory.tables import paths, texts, versions

_v, _t = versions.c, texts.c

# The columns of `TextRow`, in its order.
_TEXTS: Final = select(raw(_t.id), _t.terms).where(
    _t.user_id == OWNER, _t.changed_at_seq > bindparam("after")
)
# The columns of `VersionRow`, in its order.
_VERSIONS: Final = (
    select(
        raw(_v.id),
        raw(_v.memory_id),
        raw(_v.text_id),
        _v.type,
        func.coalesce(paths.c.text, "").label("path"),
        raw(_v.space_id),
        _v.trust,
        _v.valid_from,
        _v.valid_to,
        _v.recorded_from,
        _v.recorded_to,
    )
    .select_from(
        versions.outerjoin(paths, (paths.c.user_id == _v.user_id) & (paths.c.id == _v.path_id))
    )
    .where(_v.user_id == OWNER, _v.changed_at_seq > bindparam("after"))
)


def changes(unit: Unit, after: int) -> Changes:
    """Every text and version that changed after the index's sequence number."""
    return Changes(
        texts=cast(Sequence[TextRow], unit.all(_TEXTS, after=after)),
        versions=cast(Sequence[VersionRow], unit.all(_VERSIONS, after=after)),
    )


SOURCE: Final = Source(changes)
