"""PostgreSQL: forced row-level security under roles that own nothing.

The log-in is a member of two group roles without inheriting from them. Every unit asks when its
transaction started, then sets the role for it and presents the scope, signed for that transaction
alone; outside a unit the log-in has no rights at all. See `migrations/guards_postgresql.py` for
what the server checks.

Whatever the SQL of a unit leaves on its connection (settings, temporary tables, prepared
statements, locks) is discarded before another unit gets it. For the same reason the driver prepares
nothing: a prepared statement's name can be given to another one.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from psycopg import Error as DriverError
from psycopg.errors import UniqueViolation
from sqlalchemy import URL, Connection, PoolResetState, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from remembrancer.db.backend import StoreReport
from remembrancer.db.failures import storing
from remembrancer.db.schema import CODE_LEVEL, HEADS, LEAST_SERVER, SCHEMA, SCOPED, SYSTEM
from remembrancer.errors import (
    ConfigurationError,
    PrivilegedRoleError,
    SchemaError,
    StoreError,
    UnsupportedServerError,
)
from remembrancer.scope import Scope

_ENTER: Final = text(
    "SELECT set_config('role', :role, true), set_config('remembrancer.unit', :token, true),"
    " set_config('transaction_read_only', :read_only, true)"
)
_STARTED: Final = text("SELECT (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint")
_HAS_SESSIONS: Final = (
    "SELECT 1 FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace"
    " WHERE nspname = 'remembrancer' AND proname = 'open_session'"
)
_ROLE: Final = text(
    "SELECT EXISTS (SELECT FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER') AND ("
    "  rolsuper OR rolbypassrls OR rolcreaterole OR rolname IN ('pg_read_server_files',"
    "  'pg_write_server_files', 'pg_execute_server_program'))),"
    " current_setting('server_version_num')::int,"
    " (SELECT count(*) FROM pg_tables WHERE schemaname = 'remembrancer'"
    "  AND pg_has_role(session_user, tableowner, 'MEMBER')),"
    " current_setting('server_version')"
)
"""What the log-in is, or could become by SET ROLE."""
_REVISIONS: Final = text(f"SELECT version_num FROM {SCHEMA}.alembic_version")
_LEVEL: Final = text(f"SELECT least_code FROM {SCHEMA}.schema_level")


def driver_url(url: str) -> URL:
    """The URL with this project's driver; anything but PostgreSQL is refused."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigurationError(
            "database_url is no URL.", field="database_url", hint="It looks like postgresql://…"
        ) from None
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigurationError(
            f"database_url names {parsed.get_backend_name()!r}.",
            field="database_url",
            hint="Use postgresql://…, or leave it out and give --data for SQLite.",
        )
    return parsed.set(drivername="postgresql+psycopg")


def _sign(key: bytes, said: str) -> str:
    inner = hashlib.sha256(key + said.encode()).digest()
    return f"{said}|{hashlib.sha256(key + inner).hexdigest()}"


def _undo(connection: Connection) -> None:
    """Roll back; a connection that can't is lost, and so is what it did."""
    with suppress(DBAPIError):
        connection.rollback()


class PostgresqlBackend:
    """One database, shared by any number of servers and workers."""

    kind = "postgresql"

    def __init__(self, url: str, migration_url: str | None = None, *, pool_size: int = 8) -> None:
        self._url = driver_url(url)
        self._migration_url = driver_url(migration_url) if migration_url else None
        self.place = self._url.render_as_string(hide_password=True)
        self._engine = create_engine(
            self._url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_reset_on_return=None,
            hide_parameters=True,
            connect_args={
                "options": f"-c search_path={SCHEMA},pg_temp",
                "connect_timeout": 10,
                "prepare_threshold": None,
            },
        )
        event.listen(self._engine, "connect", self._connected)
        event.listen(self._engine, "reset", self._cleaned)
        self._checked = False

    @staticmethod
    def _connected(raw: Any, record: Any) -> None:
        """Hand the server this connection's key, once; it is kept in this process only."""
        key = secrets.token_bytes(32)
        try:
            with raw.cursor() as cursor:
                cursor.execute(_HAS_SESSIONS)
                if cursor.fetchone() is not None:
                    cursor.execute(f"SET LOCAL ROLE {SYSTEM}")
                    cursor.execute(f"SELECT {SCHEMA}.open_session(%s)", (key,))
                    record.info["key"] = key
            raw.commit()
        except UniqueViolation:
            raw.rollback()
            record.info["taken"] = True  # by a dead session that had this process number
        except DriverError as error:
            raw.close()
            raise SchemaError(
                f"The log-in can't enter this program's roles: {error}".strip(),
                hint="Run `remembrancer migrate` with this log-in as database_url.",
            ) from error

    @staticmethod
    def _cleaned(raw: Any, record: Any, state: PoolResetState) -> None:  # noqa: ARG004
        """Leave nothing of one unit for the next. A failure drops the connection."""
        raw.rollback()
        if not state.terminate_only:
            raw.autocommit = True
            raw.execute("DISCARD ALL")
            raw.autocommit = False

    @contextmanager
    def _transaction(self, role: str, said: str, *, write: bool) -> Iterator[Connection]:
        with storing("the PostgreSQL database"):
            connection = self._enter(role, said, write=write)
        with connection:
            try:
                yield connection
                with storing("the PostgreSQL database"):
                    connection.commit()
            except DBAPIError as error:
                _undo(connection)
                with storing("the PostgreSQL database"):
                    raise error
            except BaseException:
                _undo(connection)
                raise

    def _enter(self, role: str, said: str, *, write: bool, again: bool = True) -> Connection:
        connection = self._engine.connect()
        if not write:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        try:
            key: bytes | None = connection.info.get("key")
            if key is not None:
                token = _sign(key, f"{said}@{connection.scalar(_STARTED)}")
                read_only = "off" if write else "on"
                connection.execute(_ENTER, {"role": role, "token": token, "read_only": read_only})
                return connection
            again = again and connection.info.get("taken", False)
            connection.invalidate()
        except DBAPIError as error:
            connection.close()
            if not (again and error.connection_invalidated):
                raise
        except BaseException:
            connection.close()
            raise
        else:
            connection.close()
            if not again:
                raise SchemaError(
                    "The database has no schema of this program.",
                    hint="Run `remembrancer migrate`.",
                )
        return self._enter(role, said, write=write, again=False)

    def create(self, scope: Scope) -> None:
        """Nothing: rows need no room of their own."""

    @contextmanager
    def scoped(self, scope: Scope, *, write: bool) -> Iterator[Connection]:
        self._check_once()
        with self._transaction(SCOPED, f"person:{scope.user_id}", write=write) as connection:
            yield connection

    @contextmanager
    def system(self, *, write: bool) -> Iterator[Connection]:
        self._check_once()
        with self._transaction(SYSTEM, "system", write=write) as connection:
            yield connection

    def _check_once(self) -> None:
        if not self._checked:
            self.check()

    def check(self) -> None:
        """Refuse a server that is too old, a privileged log-in, or another schema."""
        with storing("the PostgreSQL database"), self._engine.connect() as connection:
            row = connection.execute(_ROLE).one()
            problem = _role_problem(bool(row[0]), int(row[1]), int(row[2]), str(row[3]))
            if problem is not None:
                raise problem
            connection.execute(text(f"SET LOCAL ROLE {SYSTEM}"))
            found = {str(name) for name in connection.execute(_REVISIONS).scalars()}
            level = connection.execute(_LEVEL).scalar()
            connection.rollback()
        if found != set(HEADS.values()):
            self._judge(found, level)
        self._checked = True

    def _judge(self, found: set[str], level: int | None) -> None:
        from remembrancer.db.migrations.run import known_revisions

        if found <= known_revisions():
            raise SchemaError(
                f"The database is at an older schema ({', '.join(sorted(found)) or 'none'}).",
                hint="Run `remembrancer migrate`.",
            )
        if level is None or level > CODE_LEVEL:
            raise SchemaError(
                f"The database is newer than this program ({', '.join(sorted(found))}).",
                hint="Upgrade Remembrancer.",
            )

    def report(self) -> StoreReport:
        problems: list[str] = []
        version = "unknown"
        try:
            with storing("the PostgreSQL database"), self._engine.connect() as connection:
                version = str(connection.execute(_ROLE).one()[3])
            self.check()
        except StoreError as error:
            problems.append(str(error))
        schema = " ".join(sorted(HEADS.values()))
        return StoreReport(self.kind, self.place, version, schema, tuple(problems))

    def migrate(self) -> list[str]:
        """Create roles, schema, tables and policies as the owner."""
        from remembrancer.db.postgresql_setup import migrate

        if self._migration_url is None:
            raise ConfigurationError(
                "migrate needs the owner's URL.",
                field="migration_url",
                hint="Set REMEMBRANCER_MIGRATION_URL; the server itself never uses it.",
            )
        with storing("the PostgreSQL database"):
            done = migrate(self._migration_url, self._url)
        self._engine.dispose()
        self._checked = False
        return done

    def erase(self, scope: Scope) -> None:
        """Remove every row of this person's, the log included, by the function that may."""
        with self._transaction(SCOPED, f"erase:{scope.user_id}", write=True) as connection:
            connection.execute(text("SELECT erase_person()"))

    def scrub(self, scope: Scope) -> bool:  # noqa: ARG002 - the port's
        """Nothing: old bytes go with VACUUM, as the documentation says."""
        return True

    def size(self, scope: Scope) -> int | None:  # noqa: ARG002 - the port's
        """PostgreSQL can't tell what one person takes."""
        return None

    def close(self) -> None:
        self._engine.dispose()


def _role_problem(
    privileged: bool, version: int, owned: int, version_text: str
) -> StoreError | None:
    if version < LEAST_SERVER:
        return UnsupportedServerError(
            f"PostgreSQL {version_text} is too old.",
            value=version_text,
            limit=15,
            hint="Use PostgreSQL 15 or newer.",
        )
    if privileged:
        return PrivilegedRoleError(
            "The database log-in is a superuser or bypasses row-level security, or could.",
            field="database_url",
            hint="Use a plain log-in; keep the owner for REMEMBRANCER_MIGRATION_URL.",
        )
    if owned:
        return PrivilegedRoleError(
            "The database log-in owns the tables it should be held by.",
            field="database_url",
            hint="Use another log-in than the one that migrates.",
        )
    return None
