"""Setting up a PostgreSQL database, as its owner: roles, schema, migrations, grants."""

from __future__ import annotations

from sqlalchemy import URL, Connection, NullPool, create_engine, text

from remembrancer.db.migrations.run import upgrade
from remembrancer.db.schema import HEADS, LEAST_SERVER, SCHEMA, SCOPED, SYSTEM
from remembrancer.errors import ConfigurationError, UnsupportedServerError

_EXISTS = text("SELECT 1 FROM pg_roles WHERE rolname = :name")
_LOCK = text("SELECT pg_advisory_xact_lock(7305297)")


def migrate(owner: URL, login: URL) -> list[str]:
    """Everything in one transaction, under one advisory lock. Says what it did.

    The log-in named by `login` is created when it isn't there and has a password in its URL.
    """
    name = login.username
    if not name or name == owner.username:
        raise ConfigurationError(
            "The server's log-in must be another role than the owner.",
            field="database_url",
            hint="Give database_url a log-in of its own, such as remembrancer_app.",
        )
    engine = create_engine(
        owner, poolclass=NullPool, connect_args={"options": f"-c search_path={SCHEMA}"}
    )
    with engine.begin() as connection:
        version = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
        if version < LEAST_SERVER:
            raise UnsupportedServerError(
                "This PostgreSQL is too old.", value=version, limit=15, hint="Use 15 or newer."
            )
        connection.execute(_LOCK)
        done = _roles(connection, name, str(login.password or ""), version)
        connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for branch in HEADS:
            upgrade(connection, branch)
            done.append(f"{branch}: at {HEADS[branch]}")
        connection.exec_driver_sql(
            f"GRANT SELECT ON alembic_version, schema_level TO {SCOPED}, {SYSTEM}"
        )
    return done


def _quoted(connection: Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote_identifier(name)


def _roles(connection: Connection, login: str, password: str, version: int) -> list[str]:
    done = []
    for group in (SCOPED, SYSTEM):
        if connection.execute(_EXISTS, {"name": group}).first() is None:
            connection.exec_driver_sql(f"CREATE ROLE {group} NOLOGIN")
            done.append(f"role {group}: created")
    quoted = _quoted(connection, login)
    if connection.execute(_EXISTS, {"name": login}).first() is None:
        literal = password.replace("'", "''")
        connection.exec_driver_sql(
            f"CREATE ROLE {quoted} LOGIN NOINHERIT PASSWORD '{literal}'".replace("%", "%%")
        )
        done.append(f"log-in {login}: created")
    if version >= 160000:
        option = " WITH INHERIT FALSE, SET TRUE"
    else:
        option = ""
        connection.exec_driver_sql(f"ALTER ROLE {quoted} NOINHERIT")
    connection.exec_driver_sql(f"GRANT {SCOPED}, {SYSTEM} TO {quoted}{option}")
    return done
