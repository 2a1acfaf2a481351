"""Idempotency: what a write answered, kept for a retry with the same key.

Neither the key nor the request is kept, only their digests under the person's own secret: a key may
be made of the words, and a plain digest of short words is soon guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, bindparam, insert, select, update

from remembrancer import tombstones
from remembrancer.db.tables import OWNER
from remembrancer.db.units import Unit
from remembrancer.errors import IdempotencyError
from remembrancer.memory.models import Outcome, Status
from remembrancer.memory.tables import idempotency
from remembrancer.text.digest import keyed_digest
from remembrancer.text.limits import check_name
from remembrancer.tombstones.models import Key

_FIND: Final = select(idempotency).where(
    idempotency.c.user_id == OWNER, idempotency.c.key == bindparam("wanted")
)
_ANSWERS: Final = select(idempotency.c.key, idempotency.c.result).where(
    idempotency.c.user_id == OWNER, idempotency.c.result.is_not(None)
)
_ABOUT: Final = _ANSWERS.where(idempotency.c.result.contains(bindparam("memory")))
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FORGET: Final = (
    update(idempotency)
    .where(idempotency.c.user_id == OWNER, idempotency.c.key == bindparam("kept"))
    .values(request_digest=b"", result=bindparam("answer"))
)
_KEEP: Final = insert(idempotency)
_IDS: Final = ("id", "proposal", "resembles")


def find(unit: Unit, key: str, digest: bytes) -> list[Outcome] | None:
    """The kept answer; `IdempotencyError` when the key was used for another request.

    After a forget the request's digest is gone, and the key answers that it was forgotten.
    """
    cleaned = check_name(key, "idempotency_key", 200)
    secret = tombstones.own_key(unit)
    row = None if secret is None else unit.first(_FIND, wanted=_keyed(secret, cleaned))
    if secret is None or row is None:
        return None
    if row.request_digest and row.request_digest != keyed_digest(secret.secret, (digest.hex(),)):
        raise IdempotencyError(
            "This idempotency key was used for another request.",
            field="idempotency_key",
            value=key,
            hint="Use a new key for a new request.",
        )
    return [_read(each) for each in json.loads(row.result)]


def _keyed(secret: Key, key: str) -> str:
    return keyed_digest(secret.secret, ("idempotency", key)).hex()


def _read(parts: dict[str, Any]) -> Outcome:
    known = {name: value for name, value in parts.items() if name != "status"}
    for name in _IDS:
        if known.get(name) is not None:
            known[name] = UUID(known[name])
    return Outcome(Status(parts["status"]), **known)


def _write(outcome: Outcome) -> dict[str, object]:
    parts: dict[str, object] = {"status": outcome.status.value}
    for name in ("id", "version", "event", "pending", "proposal", "resembles", "code"):
        value = getattr(outcome, name)
        if value is not None:
            parts[name] = str(value) if name in _IDS else value
    return parts


def keep(unit: Unit, key: str, digest: bytes, outcomes: Sequence[Outcome]) -> None:
    """Keep an answer: ids and states, no words."""
    secret = tombstones.ensure_key(unit)
    unit.insert(
        _KEEP,
        key=_keyed(secret, check_name(key, "idempotency_key", 200)),
        request_digest=keyed_digest(secret.secret, (digest.hex(),)),
        result=json.dumps([_write(each) for each in outcomes]),
        subject_id=outcomes[0].id if len(outcomes) == 1 else None,
        created_at=unit.now,
    )


def clear_about(unit: Unit, memory_ids: Collection[UUID]) -> None:
    """Answers about these memories say that they are forgotten; nothing tells what was asked."""
    gone = {str(each) for each in memory_ids}
    for row in _naming(unit, gone):
        answers = [
            {"status": Status.FORGOTTEN.value, "id": each["id"]} if each.get("id") in gone else each
            for each in json.loads(row.result)
        ]
        unit.run(_FORGET, kept=row.key, answer=json.dumps(answers))


def _naming(unit: Unit, gone: Collection[str]) -> list[Row[Any]]:
    """The kept answers that name one of these memories: each is looked through once."""
    if len(gone) == 1:
        return list(unit.all(_ABOUT, memory=next(iter(gone))))
    return [
        row
        for row in unit.all(_ANSWERS)
        if any(named in gone for named in _UUID.findall(row.result))
    ]
