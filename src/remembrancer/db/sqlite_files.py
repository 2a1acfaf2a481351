"""Making and upgrading SQLite files: from nothing to the present schema, or refusing.

A new file is built beside its place and renamed into it; an older one is copied first and upgraded
in one transaction.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import NullPool, create_engine

from remembrancer.db.failures import storing
from remembrancer.db.schema import CODE_LEVEL, HEADS
from remembrancer.errors import SchemaError

BEFORE_UPGRADE: Final = ".before-upgrade.db"
"""How the name of a copy made by an upgrade ends."""

_templates: dict[str, bytes] = {}
_building: Final = threading.Lock()


def _opened(place: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(place))}?mode={mode}", uri=True, timeout=10, isolation_level=None
    )


def _ask(place: Path, question: str) -> tuple[object, ...] | None:
    with closing(_opened(place, "ro")) as connection:
        try:
            row = connection.execute(question).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
    return tuple(row) if row else None


def schema_of(place: Path) -> str | None:
    """The revision a file is at; None for an empty one."""
    with storing(f"the database {place.name}"):
        row = _ask(place, "SELECT version_num FROM alembic_version")
    return str(row[0]) if row else None


def copies_of(place: Path) -> list[Path]:
    """The copies that upgrades of this file left beside it."""
    return sorted(place.parent.glob(f"{place.stem}.*{BEFORE_UPGRADE}"))


def ensure(place: Path, branch: str, owner: UUID | None = None) -> str | None:
    """Make or upgrade `place` to the head of `branch`. Returns the revision it had.

    Raises `SchemaError` for a file that only newer code may use.
    """
    had = schema_of(place) if place.exists() else None
    if had == HEADS[branch]:
        return had
    if had is None:
        _create(place, branch, owner)
    elif _known(had):
        with storing(f"the database {place.name}"):
            _upgrade(place, branch, had)
    else:
        _accept_newer(place, had)
    return had


def _known(revision: str) -> bool:
    from remembrancer.db.migrations.run import known_revisions

    return revision in known_revisions()


def _accept_newer(place: Path, revision: str) -> None:
    with storing(f"the database {place.name}"):
        level = _ask(place, "SELECT least_code FROM schema_level")
    least = level[0] if level else None
    if not isinstance(least, int) or least > CODE_LEVEL:
        raise SchemaError(
            f"The database {place.name} is newer than this program (schema {revision}).",
            value=revision,
            hint="Upgrade Remembrancer, or restore a back-up made before the upgrade.",
        )


def _create(place: Path, branch: str, owner: UUID | None) -> None:
    with _building:
        image = _templates.get(branch) or _template(branch)
        _templates[branch] = image
    fresh = place.with_name(f".{place.name}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        fresh.write_bytes(image)
        fresh.chmod(0o600)
        if owner is not None:
            with closing(_opened(fresh, "rw")) as connection:
                connection.execute("INSERT INTO owner (user_id) VALUES (?)", (owner.bytes,))
        _settle(fresh, place)
    finally:
        fresh.unlink(missing_ok=True)


def _settle(fresh: Path, place: Path) -> None:
    """Give a finished file its name, unless another process was faster. It survives a crash."""
    with fresh.open("rb") as written:
        os.fsync(written.fileno())
    try:
        os.link(fresh, place)
    except FileExistsError:
        if place.stat().st_size == 0:  # what a crash before its first page leaves
            fresh.replace(place)
        elif schema_of(place) is None:
            raise SchemaError(
                f"The file {place.name} is not a database of this program.",
                hint="Move it away, or give another folder.",
            ) from None
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _template(branch: str) -> bytes:
    """The bytes of an empty file at the head of `branch`."""
    from remembrancer.db.migrations.run import upgrade

    raw = sqlite3.connect(":memory:", isolation_level=None)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=NullPool)
    with engine.connect() as connection:
        upgrade(connection, branch)
        connection.commit()
        return raw.serialize()


def _upgrade(place: Path, branch: str, had: str) -> None:
    from remembrancer.db.migrations.run import upgrade

    copy = place.with_name(f"{place.stem}.{had}{BEFORE_UPGRADE}")
    copy.unlink(missing_ok=True)
    copy.touch(mode=0o600)
    with closing(_opened(place, "rw")) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    engine = create_engine(
        "sqlite://",
        creator=lambda: _opened(place, "rw"),
        poolclass=NullPool,
    )
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        upgrade(connection, branch)
        connection.exec_driver_sql("COMMIT")
