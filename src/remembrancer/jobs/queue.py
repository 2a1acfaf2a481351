"""Enqueueing work in the caller's transaction, coalescing what waits already."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, insert, select, update

from remembrancer.clock import Instant
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.ids import new_id
from remembrancer.jobs.tables import jobs

_j = jobs.c
_ADD: Final = insert(jobs)
_WAITING: Final = select(_j.id).where(
    _j.user_id == OWNER,
    _j.name == bindparam("job"),
    _j.coalesce_key == bindparam("about"),
    _j.state == "waiting",
)
_OPEN: Final = (
    select(jobs)
    .where(_j.user_id == OWNER, _j.state.in_(("waiting", "running")))
    .order_by(_j.run_at, _j.id)
)
_END: Final = (
    update(jobs)
    .where(_j.user_id == OWNER, _j.id == bindparam("job"))
    .values(state=bindparam("outcome"), ended_at=bindparam("then"))
)
_CANCEL: Final = (
    update(jobs)
    .where(
        _j.user_id == OWNER,
        _j.coalesce_key == bindparam("about"),
        _j.state.in_(("waiting", "dead")),
    )
    .values(state="cancelled", payload="{}", ended_at=bindparam("then"))
)


@dataclass(frozen=True, slots=True)
class Job:
    """A job that waits or runs. The payload holds ids, never words."""

    id: UUID
    lane: str
    name: str
    coalesce_key: str
    state: str
    run_at: Instant
    attempts: int


def enqueue(
    unit: Unit,
    *,
    lane: str,
    name: str,
    coalesce_key: str,
    payload: Mapping[str, str] | None = None,
) -> UUID:
    """Add a job, or return the one that waits for the same thing already."""
    waiting: UUID | None = unit.scalar(_WAITING, job=name, about=coalesce_key)
    if waiting is not None:
        return waiting
    job = new_id()
    unit.insert(
        _ADD,
        id=job,
        lane=lane,
        name=name,
        coalesce_key=coalesce_key,
        state="waiting",
        payload=json.dumps(dict(payload or {}), sort_keys=True),
        run_at=unit.now,
        attempts=0,
        error_code=None,
        created_at=unit.now,
        ended_at=None,
    )
    return job


def open_jobs(unit: Unit) -> list[Job]:
    """What waits or runs, in the order it is due."""
    return [
        Job(row.id, row.lane, row.name, row.coalesce_key, row.state, row.run_at, row.attempts)
        for row in unit.all(_OPEN)
    ]


def finish(unit: Unit, job: UUID, state: str = "done") -> None:
    """Mark a job's end."""
    unit.run(_END, job=job, outcome=state, then=unit.now)


def finish_named(unit: Unit, name: str) -> None:
    """Mark what waits of one kind as done: somebody did it already."""
    for job in open_jobs(unit):
        if job.name == name:
            finish(unit, job.id)


def cancel_about(unit: Unit, coalesce_key: str) -> None:
    """Cancel what waits about one subject, and empty its payload."""
    unit.run(_CANCEL, about=coalesce_key, then=unit.now)
