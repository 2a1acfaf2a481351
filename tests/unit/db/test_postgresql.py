"""PostgreSQL: setting up, refusing, and going on after a connection was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg
import pytest
from sqlalchemy import insert, make_url, select

from remembrancer.db.database import Database
from remembrancer.db.postgresql import PostgresqlBackend, _role_problem, driver_url
from remembrancer.db.tables import OWNER
from remembrancer.errors import (
    ConfigurationError,
    PrivilegedRoleError,
    SchemaError,
    StoreUnavailableError,
    UnsupportedServerError,
)
from remembrancer.ids import new_id
from remembrancer.memory.tables import paths
from remembrancer.scope import Scope
from tests.support.stores import Server

pytestmark = pytest.mark.postgresql

ALL = select(paths.c.text).where(paths.c.user_id == OWNER).order_by(paths.c.text)
SKELETON = """
SELECT 'policy', tablename || '.' || policyname, qual || with_check FROM pg_policies
UNION ALL SELECT 'secured', relname, relrowsecurity::text || relforcerowsecurity::text
  FROM pg_class WHERE relnamespace = 'remembrancer'::regnamespace AND relkind = 'r'
UNION ALL SELECT 'rights', relname, relacl::text
  FROM pg_class WHERE relnamespace = 'remembrancer'::regnamespace
UNION ALL SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', proname, prosrc || coalesce(proacl::text, '')
  FROM pg_proc WHERE pronamespace = 'remembrancer'::regnamespace
UNION ALL SELECT 'column', table_name || '.' || column_name, data_type || is_nullable
  FROM information_schema.columns WHERE table_schema = 'remembrancer'
ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class Made:
    """A database of this test's own, migrated."""

    owner: str
    log_in: str

    def backend(self) -> PostgresqlBackend:
        return PostgresqlBackend(self.log_in, self.owner)

    def as_owner(self, *statements: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.owner, autocommit=True) as owner:
            rows: list[tuple[object, ...]] = []
            for each in statements:
                cursor = owner.execute(each)
                rows = cursor.fetchall() if cursor.description else []
            return rows


@pytest.fixture
def made(postgresql: Server) -> Made:
    found = Made(*postgresql.database())
    backend = found.backend()
    assert backend.migrate()[-2:] == ["system: at system_0001", "personal: at personal_0001"]
    backend.close()
    return found


@pytest.fixture
def db(made: Made) -> Iterator[Database]:
    opened = Database(made.backend())
    yield opened
    opened.close()


def add(db: Database, scope: Scope, text: str) -> None:
    db.write_now(scope, lambda unit: unit.insert(insert(paths), id=new_id(), text=text))


def texts(db: Database, scope: Scope) -> list[str]:
    return db.read_now(scope, lambda unit: [row.text for row in unit.all(ALL)])


@pytest.mark.parametrize(
    ("role", "error"),
    [
        ((False, 140012, 0, "14.12"), UnsupportedServerError),
        ((True, 140012, 3, "14.12"), UnsupportedServerError),
        ((True, 150000, 0, "15.0"), PrivilegedRoleError),
        ((False, 180006, 3, "18.6"), PrivilegedRoleError),
        ((False, 150000, 0, "15.0"), type(None)),
    ],
)
def test_what_a_server_and_a_role_must_be(
    role: tuple[bool, int, int, str], error: type[object]
) -> None:
    problem = _role_problem(*role)
    assert type(problem) is error
    assert problem is None or problem.hint


def test_only_postgresql_urls_are_taken() -> None:
    assert driver_url("postgresql://a@b/c").drivername == "postgresql+psycopg"
    assert driver_url("postgresql+psycopg2://a@b/c").drivername == "postgresql+psycopg"
    with pytest.raises(ConfigurationError) as refused:
        driver_url("mysql://a:secret@b/c")
    assert refused.value.field == "database_url"
    assert "secret" not in str(refused.value)


def test_migrating_needs_an_owner_and_a_log_in_apart(postgresql: Server) -> None:
    owner, log_in = postgresql.database()
    for database_url, migration_url, field in (
        (log_in, None, "migration_url"),
        (owner, owner, "database_url"),
    ):
        backend = PostgresqlBackend(database_url, migration_url)
        with pytest.raises(ConfigurationError) as refused:
            backend.migrate()
        assert refused.value.field == field
        backend.close()


def test_migrating_twice_is_migrating_once_and_mends_what_was_loosened(made: Made) -> None:
    before = made.as_owner(SKELETON)
    assert len(before) > 100
    made.as_owner(
        "SET search_path = remembrancer",
        "ALTER TABLE texts DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE versions NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own ON paths",
        "ALTER POLICY own ON memories USING (true)",
        "DROP TRIGGER log_refuses ON events",
        "GRANT ALL ON texts TO PUBLIC",
        "REVOKE ALL ON paths FROM remembrancer_scoped",
        "CREATE OR REPLACE FUNCTION in_system() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    )
    assert made.as_owner(SKELETON) != before
    backend = made.backend()
    backend.migrate()
    backend.migrate()
    backend.close()
    assert made.as_owner(SKELETON) == before


def test_a_plain_owner_can_migrate(postgresql: Server, scope: Scope) -> None:
    name = f"owner_{new_id().hex[:8]}"
    owner, log_in = postgresql.database()
    postgresql.execute(f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD 'secret'")
    postgresql.execute(f"GRANT CREATE ON DATABASE {make_url(owner).database} TO {name}")
    for group in ("remembrancer_scoped", "remembrancer_system"):
        postgresql.execute(f"DO $$ BEGIN CREATE ROLE {group}; EXCEPTION WHEN others THEN END $$")
        postgresql.execute(f"GRANT {group} TO {name} WITH ADMIN OPTION")
    plain = owner.replace("postgres:@", f"{name}:secret@")
    own_log_in = log_in.replace("remembrancer_app", f"app_of_{name}")
    backend = PostgresqlBackend(own_log_in, plain)
    assert f"log-in app_of_{name}: created" in backend.migrate()
    db = Database(backend)
    add(db, scope, "a")
    assert texts(db, scope) == ["a"]
    db.backend.erase(scope)
    assert texts(db, scope) == []
    db.close()
    refused = PostgresqlBackend(plain)
    with pytest.raises(PrivilegedRoleError):
        refused.check()
    refused.close()


def test_a_database_without_the_schema_says_migrate(postgresql: Server, scope: Scope) -> None:
    made = Made(*postgresql.database())
    made.as_owner(
        "DO $$ BEGIN CREATE ROLE remembrancer_app LOGIN PASSWORD 'secret';"
        " EXCEPTION WHEN duplicate_object THEN END $$"
    )
    db = Database(made.backend())
    for call in (db.backend.check, lambda: texts(db, scope), lambda: add(db, scope, "a")):
        with pytest.raises(SchemaError, match="remembrancer migrate"):
            call()
    assert "remembrancer migrate" in " ".join(db.backend.report().problems)
    db.backend.migrate()
    add(db, scope, "a")
    assert texts(db, scope) == ["a"]
    db.close()


def test_a_log_in_outside_the_groups_is_told_to_migrate(
    made: Made, postgresql: Server, scope: Scope
) -> None:
    name = f"stranger_{new_id().hex[:8]}"
    postgresql.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
    db = Database(PostgresqlBackend(made.log_in.replace("remembrancer_app", name)))
    with pytest.raises(SchemaError, match="can't enter"):
        texts(db, scope)
    assert db.backend.report().problems
    db.close()


def test_a_server_that_is_not_there_is_said_without_the_password(scope: Scope) -> None:
    db = Database(PostgresqlBackend("postgresql://app:hunter2@127.0.0.1:1/nowhere"))
    with pytest.raises(StoreUnavailableError) as refused:
        texts(db, scope)
    report = db.backend.report()
    assert report.problems
    assert report.server_version == "unknown"
    assert "hunter2" not in f"{refused.value} {report}"
    db.close()


def test_a_newer_schema_runs_from_its_least_code_on(made: Made, scope: Scope) -> None:
    made.as_owner(
        "UPDATE remembrancer.alembic_version SET version_num = 'personal_0009'"
        " WHERE version_num LIKE 'personal%'"
    )
    db = Database(made.backend())
    add(db, scope, "a")
    db.close()
    made.as_owner("UPDATE remembrancer.schema_level SET least_code = 2")
    db = Database(made.backend())
    with pytest.raises(SchemaError, match="newer than this program") as refused:
        add(db, scope, "b")
    assert "Upgrade Remembrancer" in str(refused.value)
    assert db.backend.report().problems == (str(refused.value),)
    db.close()
    assert made.as_owner("SELECT count(*) FROM remembrancer.paths") == [(1,)]


def test_an_older_schema_is_refused_until_it_is_migrated(
    made: Made, scope: Scope, next_release: Callable[..., None]
) -> None:
    old = Database(made.backend())
    add(old, scope, "a")
    old.close()
    next_release()
    db = Database(made.backend())
    with pytest.raises(SchemaError, match="older schema") as refused:
        texts(db, scope)
    assert "remembrancer migrate" in str(refused.value)
    assert "personal: at personal_0002" in db.backend.migrate()
    assert texts(db, scope) == ["a"]
    assert made.as_owner("SELECT text, colour FROM remembrancer.paths") == [("a", None)]
    db.close()


def test_a_failing_migration_changes_nothing(made: Made, next_release: Callable[..., None]) -> None:
    before = made.as_owner(SKELETON)
    next_release("raise ZeroDivisionError")
    backend = made.backend()
    with pytest.raises(ZeroDivisionError):
        backend.migrate()
    backend.close()
    assert made.as_owner(SKELETON) == before


def test_units_go_on_after_their_connection_was_lost(
    db: Database, made: Made, scope: Scope
) -> None:
    add(db, scope, "a")
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE usename = 'remembrancer_app' AND datname = current_database()"
    )
    assert made.as_owner(kill) == [(True,)]
    add(db, scope, "b")

    def lose(unit: object) -> None:
        made.as_owner(kill)
        unit.all(ALL)  # type: ignore[attr-defined]

    with pytest.raises(StoreUnavailableError):
        db.write_now(scope, lose)
    assert texts(db, scope) == ["a", "b"]


def test_a_process_number_that_a_dead_session_had_does_no_harm(made: Made, scope: Scope) -> None:
    made.as_owner(
        "SET search_path = remembrancer",
        "CREATE SEQUENCE tries",
        "CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF nextval('remembrancer.tries') = 2 THEN RAISE unique_violation; END IF;"
        " RETURN NEW; END $$",
        "CREATE TRIGGER taken BEFORE INSERT ON session_keys FOR EACH ROW EXECUTE FUNCTION taken()",
    )
    db = Database(PostgresqlBackend(made.log_in, pool_size=1))
    db.backend.check()
    assert made.as_owner("SELECT last_value FROM remembrancer.tries") == [(1,)]
    db.backend.close()  # the next unit opens a new connection, whose number is taken
    add(db, scope, "a")
    assert made.as_owner("SELECT last_value FROM remembrancer.tries") == [(3,)]
    assert texts(db, scope) == ["a"]
    db.close()
