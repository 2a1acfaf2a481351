"""What PostgreSQL enforces beside its columns; re-applied after every upgrade.

Row-level security is forced on every table. A policy doesn't trust a setting that any SQL could
change: each connection hands the server a random key once, when it is opened, and every unit
presents its scope and its transaction's start signed with it. SQL inside a unit, whatever it says,
can neither read that key nor sign another scope nor use a token of another unit, so changing the
role or the setting yields nothing.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, Table

from remembrancer.db.migrations.model import personal, system
from remembrancer.db.schema import SCHEMA, SCOPED, SYSTEM

_SESSIONS: Final = """
CREATE UNLOGGED TABLE IF NOT EXISTS session_keys (
    pid integer PRIMARY KEY, server_started timestamptz NOT NULL, key bytea NOT NULL
);

CREATE OR REPLACE FUNCTION open_session(session_key bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = remembrancer, pg_temp AS $$
    DELETE FROM session_keys WHERE server_started <> pg_postmaster_start_time()
        OR (pid <> pg_backend_pid() AND pid NOT IN (
            SELECT a.pid FROM pg_catalog.pg_stat_activity AS a WHERE a.pid IS NOT NULL));
    INSERT INTO session_keys VALUES (pg_backend_pid(), pg_postmaster_start_time(), session_key);
$$;

CREATE OR REPLACE FUNCTION entered() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = remembrancer, pg_temp AS $$
DECLARE
    token text := current_setting('remembrancer.unit', true);
    said text := split_part(token, '|', 1);
    session_key bytea;
BEGIN
    IF coalesce(token, '') = '' THEN RETURN NULL; END IF;
    SELECT key INTO session_key FROM session_keys WHERE pid = pg_backend_pid();
    IF session_key IS NULL OR split_part(token, '|', 2) <> encode(
        sha256(session_key || sha256(session_key || convert_to(said, 'UTF8'))), 'hex')
    THEN RETURN NULL; END IF;
    IF split_part(said, '@', 2)
        <> (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint::text
    THEN RETURN NULL; END IF;
    RETURN split_part(said, '@', 1);
END $$;

CREATE OR REPLACE FUNCTION current_person() RETURNS uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = remembrancer, pg_temp AS $$
DECLARE said text := entered();
BEGIN
    IF split_part(said, ':', 1) NOT IN ('person', 'erase') THEN RETURN NULL; END IF;
    RETURN split_part(said, ':', 2)::uuid;
END $$;

CREATE OR REPLACE FUNCTION in_system() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = remembrancer, pg_temp AS
$$ SELECT coalesce(entered() = 'system', false) $$;

REVOKE ALL ON session_keys FROM PUBLIC;
REVOKE ALL ON FUNCTION open_session(bytea), entered(), current_person(), in_system() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_session(bytea) TO remembrancer_system;
GRANT EXECUTE ON FUNCTION current_person(), in_system()
    TO remembrancer_scoped, remembrancer_system;
"""

_TRIGGERS: Final = """
CREATE OR REPLACE FUNCTION log_refuses() RETURNS trigger
LANGUAGE plpgsql SET search_path = remembrancer, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_user = (
        SELECT tableowner FROM pg_tables WHERE schemaname = 'remembrancer' AND tablename = 'events')
    THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'the log is append-only';
END $$;
CREATE OR REPLACE TRIGGER log_refuses BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION log_refuses();

CREATE OR REPLACE FUNCTION versions_overlap() RETURNS trigger
LANGUAGE plpgsql SET search_path = remembrancer, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM versions AS other
        WHERE other.user_id = NEW.user_id AND other.memory_id = NEW.memory_id AND other.id <> NEW.id
          AND other.recorded_to > NEW.recorded_from AND other.recorded_from < NEW.recorded_to
          AND other.valid_from < NEW.valid_to AND other.valid_to > NEW.valid_from)
    THEN RAISE EXCEPTION 'versions of a memory overlap'; END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER versions_overlap
    BEFORE INSERT OR UPDATE OF memory_id, valid_from, valid_to, recorded_from, recorded_to
    ON versions FOR EACH ROW EXECUTE FUNCTION versions_overlap();

CREATE OR REPLACE FUNCTION erase_person() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = remembrancer, pg_temp AS $$
DECLARE person uuid;
BEGIN
    IF split_part(entered(), ':', 1) IS DISTINCT FROM 'erase' THEN
        RAISE EXCEPTION 'erasing needs its own unit';
    END IF;
    person := current_person();
    {deletes}
END $$;
REVOKE ALL ON FUNCTION erase_person() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_person() TO remembrancer_scoped;
"""


def apply(connection: Connection, branch: str) -> None:
    """(Re-)apply functions, triggers, grants and policies of one branch."""
    connection.exec_driver_sql(_SESSIONS)
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {SCOPED}, {SYSTEM}")
    if branch == "personal":
        tables = list(reversed(personal.sorted_tables))
        deletes = "\n    ".join(f"DELETE FROM {t.name} WHERE user_id = person;" for t in tables)
        connection.exec_driver_sql(_TRIGGERS.replace("{deletes}", deletes))
        for table in tables:
            _guard(connection, table, SCOPED, "user_id = (SELECT current_person())")
    else:
        for table in system.sorted_tables:
            _guard(connection, table, SYSTEM, "(SELECT in_system())")


def _guard(connection: Connection, table: Table, role: str, condition: str) -> None:
    rights = "SELECT, INSERT" if table.name == "events" else "SELECT, INSERT, UPDATE, DELETE"
    connection.exec_driver_sql(
        f"""
        ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY;
        DROP POLICY IF EXISTS own ON {table.name};
        CREATE POLICY own ON {table.name} USING ({condition}) WITH CHECK ({condition});
        REVOKE ALL ON {table.name} FROM PUBLIC;
        GRANT {rights} ON {table.name} TO {role};
        """
    )
    for column in table.columns:
        if column.autoincrement is True:
            sequence = f"pg_get_serial_sequence('{SCHEMA}.{table.name}', '{column.name}')"
            name = connection.exec_driver_sql(f"SELECT {sequence}").scalar()
            if name:
                connection.exec_driver_sql(f"GRANT USAGE ON SEQUENCE {name} TO {role}")
