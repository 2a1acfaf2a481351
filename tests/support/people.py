"""People made beneath the accounts, for tests of the layers below them."""

from __future__ import annotations

from remembrancer.db.database import Database
from remembrancer.events import log
from remembrancer.ids import new_id
from remembrancer.scope import Scope, mint


def newcomer(db: Database) -> Scope:
    """The scope over a new person, whose log is begun."""
    scope = mint(new_id())
    db.backend.create(scope)
    db.write_now(scope, log.begin)
    return scope
