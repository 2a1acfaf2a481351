"""Accounts: made, found, removed; and the one place that mints scopes."""

from __future__ import annotations

import re
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, bindparam, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from remembrancer import clock
from remembrancer.accounts.models import Account, Removal
from remembrancer.accounts.tables import accounts, removed_accounts
from remembrancer.db.database import Database
from remembrancer.db.units import SystemUnit
from remembrancer.errors import ConflictError, InvalidInputError, NotFoundError
from remembrancer.events import log
from remembrancer.events.log import Head
from remembrancer.ids import new_id
from remembrancer.jobs.tables import due
from remembrancer.scope import Actor, Scope, mint

_EMAIL: Final = re.compile(r"[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,190}|[\w.+-]{1,64}")

_a = accounts.c
_BY_EMAIL: Final = select(accounts).where(_a.email == bindparam("wanted"))
_BY_ID: Final = select(accounts).where(_a.user_id == bindparam("wanted"))
_ALL: Final = select(accounts).order_by(_a.created_at, _a.user_id)
_COUNT: Final = select(func.count()).select_from(accounts)
_ADD: Final = insert(accounts)
_REMOVE: Final = delete(accounts).where(_a.user_id == bindparam("wanted"))
_ADD_REMOVED: Final = insert(removed_accounts)
_LINE: Final = select(removed_accounts).where(removed_accounts.c.user_id == bindparam("wanted"))
_DROP_LINE: Final = delete(removed_accounts).where(
    removed_accounts.c.user_id == bindparam("wanted")
)
_DROP_DUE: Final = delete(due).where(due.c.user_id == bindparam("wanted"))
_REMOVED: Final = (
    select(removed_accounts)
    .where(~select(_a.user_id).where(_a.user_id == removed_accounts.c.user_id).exists())
    .order_by(removed_accounts.c.removed_at)
)


def _clean_email(email: str) -> str:
    """Lower-cased and trimmed. A plain name without an @ is allowed: the library's `user_id`."""
    cleaned = email.strip().casefold()
    if not _EMAIL.fullmatch(cleaned):
        raise InvalidInputError(
            f"{email[:60]!r} is not an e-mail address.",
            field="email",
            value=email[:60],
            hint="Use an address, or a plain name of letters, digits and . _ + -",
        )
    return cleaned


def _taken(email: str) -> ConflictError:
    return ConflictError(f"{email} has an account already.", field="email", value=email)


def _account(row: Row[Any]) -> Account:
    created_at = clock.moment(row.created_at)
    return Account(row.user_id, row.email, row.role, row.zone, row.language, created_at)


class Accounts:
    """The people of one installation."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self,
        email: str,
        *,
        admin: bool = False,
        zone: str = "UTC",
        language: str = "en",
        password_hash: str | None = None,
    ) -> Account:
        """A new person; the first one is the administrator. `ConflictError` when taken."""
        cleaned = _clean_email(email)
        clock.zone(zone)
        scope = mint(new_id())

        def work(unit: SystemUnit) -> Account:
            if unit.first(_BY_EMAIL, wanted=cleaned) is not None:
                raise _taken(cleaned)
            first = unit.scalar(_COUNT) == 0
            unit.insert(
                _ADD,
                user_id=scope.user_id,
                email=cleaned,
                role="admin" if admin or first else "member",
                password_hash=password_hash,
                zone=zone,
                language=language,
                created_at=unit.now,
            )
            row = unit.first(_BY_EMAIL, wanted=cleaned)
            assert row is not None
            return _account(row)

        self._refuse_taken(cleaned)
        self._db.backend.create(scope)
        self._db.write_now(scope, log.begin)
        try:
            return self._db.system_now("add an account", work, write=True)
        except (IntegrityError, ConflictError):  # another process was faster
            self._db.backend.erase(scope)
            raise _taken(cleaned) from None

    def _refuse_taken(self, email: str) -> None:
        if self._db.system_now("find an account", lambda unit: unit.first(_BY_EMAIL, wanted=email)):
            raise _taken(email)

    def find(self, email: str) -> Account:
        """The person with that address; `NotFoundError` when there is none."""
        cleaned = _clean_email(email)
        row = self._db.system_now(
            "find an account", lambda unit: unit.first(_BY_EMAIL, wanted=cleaned)
        )
        if row is None:
            raise NotFoundError(
                f"There is no account {cleaned}.",
                field="user",
                value=cleaned,
                hint="`remembrancer user add` makes one.",
            )
        return _account(row)

    def find_or_add(self, email: str) -> Account:
        """The person with that address, made on first use."""
        try:
            return self.find(email)
        except NotFoundError:
            pass
        try:
            return self.add(email)
        except ConflictError:
            return self.find(email)

    def everybody(self) -> list[Account]:
        """Every account, oldest first."""
        rows = self._db.system_now("list the accounts", lambda unit: unit.all(_ALL))
        return [_account(row) for row in rows]

    def scope(self, account: Account) -> Scope:
        """The scope over a person who was authenticated, or whom the operator vouches for."""
        return mint(account.user_id)

    def remove(self, email: str, by: Actor) -> Removal:
        """Remove a person and everything of theirs; one system line stays.

        The line is written first, then the data goes, then the account. Whatever stops it in
        between, `remove` again finishes it.
        """
        account = self.find(email)
        scope = self.scope(account)
        head = self._head(scope)

        def note(unit: SystemUnit) -> None:
            if head.event_seq == 0 and unit.first(_LINE, wanted=account.user_id) is not None:
                return  # the data went with an earlier attempt
            unit.run(_DROP_LINE, wanted=account.user_id)
            unit.insert(
                _ADD_REMOVED,
                user_id=account.user_id,
                removed_at=unit.now,
                removed_by=by.label,
                event_seq=head.event_seq,
                last_hash=head.event_hash,
            )

        def finish(unit: SystemUnit) -> None:
            unit.run(_DROP_DUE, wanted=account.user_id)
            unit.run(_REMOVE, wanted=account.user_id)

        self._db.system_now("note that an account is removed", note, write=True)
        self._db.backend.erase(scope)
        self._db.system_now("remove an account", finish, write=True)
        return next(each for each in self.removed() if each.user_id == account.user_id)

    def _head(self, scope: Scope) -> Head:
        """Where the person's log ends; zeros when an earlier attempt took it already."""
        try:
            return self._db.read_now(scope, log.read_head)
        except NotFoundError:
            return Head(0, log.GENESIS, 0, 0)

    def removed(self) -> list[Removal]:
        """What stays of accounts whose removal is complete."""
        rows = self._db.system_now("list removed accounts", lambda unit: unit.all(_REMOVED))
        return [
            Removal(
                row.user_id,
                clock.moment(row.removed_at),
                row.removed_by,
                row.event_seq,
                row.last_hash.hex(),
            )
            for row in rows
        ]


def scope_of(user_id: UUID) -> Scope:
    """A worker's scope over the person whose work it leased."""
    return mint(user_id)
