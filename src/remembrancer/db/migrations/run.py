"""Running the migrations on a connection. Alembic is imported here and nowhere else."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from remembrancer.db.migrations import guards_postgresql, guards_sqlite
from remembrancer.db.schema import LEAST_CODE

_HERE: Final = Path(__file__).parent


@cache
def _scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)


@cache
def known_revisions() -> frozenset[str]:
    """Every revision this code knows how to upgrade from."""
    return frozenset(script.revision for script in _scripts().walk_revisions())


def heads() -> dict[str, str]:
    """The newest revision of each branch, by its label."""
    found = {}
    for revision in _scripts().get_heads():
        script = _scripts().get_revision(revision)
        assert script is not None
        for label in script.branch_labels:
            found[label] = revision
    return found


def upgrade(connection: Connection, branch: str) -> None:
    """Bring `branch` (`system` or `personal`) to its head, then re-apply triggers and policies.

    The caller holds the transaction: all of it lands or none.
    """
    scripts = _scripts()

    def steps(revision: Any, _context: object) -> Any:
        return scripts._upgrade_revs(f"{branch}@head", revision)

    with EnvironmentContext(Config(), scripts) as env:
        env.configure(
            connection=connection,
            fn=steps,
            transactional_ddl=True,
            transaction_per_migration=False,
            render_as_batch=connection.dialect.name == "sqlite",
        )
        env.run_migrations()
    guards = guards_sqlite if connection.dialect.name == "sqlite" else guards_postgresql
    guards.apply(connection, branch)
    connection.exec_driver_sql(
        "CREATE TABLE IF NOT EXISTS schema_level (least_code INTEGER NOT NULL)"
    )
    connection.exec_driver_sql("DELETE FROM schema_level")
    connection.exec_driver_sql(f"INSERT INTO schema_level (least_code) VALUES ({LEAST_CODE})")
