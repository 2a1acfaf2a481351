"""What an SQLite file enforces beside its columns; re-applied after every upgrade.

`user_id` is the file's owner, the log refuses update and delete, versions of one memory don't
overlap. And what its planner has to know: every key and index begins with `user_id`, which is the
same in all rows. Unless it is told so it takes that column for a selective one, and reads all of a
person's rows where an index would find one.
"""

from __future__ import annotations

from sqlalchemy import Connection, Table

from remembrancer.db.migrations.model import personal

_OWNER_TABLE = """
CREATE TABLE IF NOT EXISTS owner (
    one INTEGER PRIMARY KEY CHECK (one = 1) DEFAULT 1,
    user_id BLOB NOT NULL
)
"""

_OWNER = """
CREATE TRIGGER owner_{verb}_{table} BEFORE {when} ON {table}
WHEN NEW.user_id IS NOT (SELECT user_id FROM owner)
BEGIN SELECT RAISE(ABORT, 'this file belongs to another person'); END
"""

_LOG = """
CREATE TRIGGER log_refuses_{verb} BEFORE {verb} ON events
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
"""

_OVERLAP = """
CREATE TRIGGER versions_overlap_{verb} BEFORE {when} ON versions
WHEN EXISTS (
    SELECT 1 FROM versions AS other
    WHERE other.user_id = NEW.user_id AND other.memory_id = NEW.memory_id AND other.id <> NEW.id
      AND other.recorded_to > NEW.recorded_from AND other.recorded_from < NEW.recorded_to
      AND other.valid_from < NEW.valid_to AND other.valid_to > NEW.valid_from
)
BEGIN SELECT RAISE(ABORT, 'versions of a memory overlap'); END
"""


_ROWS = 10_000
_ALIKE = 10
"""What is assumed of any table: so many rows, so many alike in an index's further columns."""


def apply(connection: Connection, branch: str) -> None:
    """Drop and make anew every trigger of the file."""
    if branch != "personal":
        return
    connection.exec_driver_sql(_OWNER_TABLE)
    had = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").all()
    for (name,) in had:
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    for table in personal.tables:
        for verb, when in (("insert", "INSERT"), ("update", "UPDATE OF user_id")):
            connection.exec_driver_sql(_OWNER.format(table=table, verb=verb, when=when))
    for verb in ("UPDATE", "DELETE"):
        connection.exec_driver_sql(_LOG.format(verb=verb))
    bounds = "UPDATE OF memory_id, valid_from, valid_to, recorded_from, recorded_to"
    for verb, when in (("insert", "INSERT"), ("update", bounds)):
        connection.exec_driver_sql(_OVERLAP.format(verb=verb, when=when))
    _tell_planner(connection)


def _tell_planner(connection: Connection) -> None:
    """Write `sqlite_stat1`: an index's rows, then how many are alike in its first 1, 2… columns."""
    connection.exec_driver_sql("ANALYZE owner")
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    add = "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)"
    for table in personal.sorted_tables:
        described = connection.exec_driver_sql(f"PRAGMA index_list({table.name})").all()
        for _, index, unique, origin, _ in described:
            columns = connection.exec_driver_sql(f"PRAGMA index_info({index})").all()
            alike = [_ROWS, *[_ALIKE] * (len(columns) - 1)]
            if unique:
                alike[-1] = 1
            name = table.name if origin == "pk" and _is_clustered(table) else index
            stat = " ".join(map(str, (_ROWS, *alike)))
            connection.exec_driver_sql(add, (table.name, name, stat))


def _is_clustered(table: Table) -> bool:
    """Whether the rows lie in their key's order; its statistics then bear the table's name."""
    return not table.dialect_options["sqlite"]["with_rowid"]
