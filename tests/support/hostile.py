"""What somebody would say who may say anything in Ada's unit, and wants what is Ben's.

Each attack is statements run in order, whatever becomes of the ones before. `{ada}`, `{ben}` are
ids, `{ben_hex}` the latter's bytes, `{token}` the scope of a unit of Ben's on the same connection,
`{file}` Ben's file.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

READS = (
    "SELECT * FROM texts",
    "SELECT * FROM memories",
    "SELECT * FROM versions",
    "SELECT * FROM events",
    "SELECT * FROM messages",
)

POSTGRESQL: dict[str, Sequence[str]] = {
    "plain reads": (
        "SELECT * FROM texts WHERE user_id = '{ben}'",
        "SELECT * FROM remembrancer.texts",
        "SELECT t.* FROM texts AS t JOIN memories AS m ON true",
        "TABLE texts",
        "SELECT count(*) FROM texts WHERE user_id = '{ben}' HAVING count(*) > 0",
    ),
    "system role": ("SET ROLE remembrancer_system", "SELECT * FROM accounts", *READS),
    "local system role": ("SET LOCAL ROLE remembrancer_system", "SELECT * FROM accounts", *READS),
    "log-in role": ("RESET ROLE", *READS),
    "no role": ("SET ROLE NONE", *READS, "SET ROLE remembrancer_scoped", *READS),
    "superuser role": ("SET ROLE postgres", *READS),
    "session": ("SET SESSION AUTHORIZATION postgres", *READS),
    "own session": ("SET SESSION AUTHORIZATION DEFAULT", *READS),
    "unsigned scope": ("SELECT set_config('remembrancer.unit', 'person:{ben}', true)", *READS),
    "forged scope": (
        "SELECT set_config('remembrancer.unit', 'person:{ben}|' || repeat('a', 64), false)",
        *READS,
    ),
    "own signature, other name": (
        "SELECT set_config('remembrancer.unit',"
        " replace(current_setting('remembrancer.unit'), '{ada}', '{ben}'), true)",
        *READS,
    ),
    "copied scope": ("SELECT set_config('remembrancer.unit', '{token}', true)", *READS),
    "copied scope, own transaction": (
        "COMMIT",
        "SET ROLE remembrancer_scoped",
        "SELECT set_config('remembrancer.unit', '{token}', false)",
        *READS,
    ),
    "system scope": (
        "SET ROLE remembrancer_system",
        "SELECT set_config('remembrancer.unit', 'system|' || repeat('a', 64), true)",
        "SELECT * FROM accounts",
    ),
    "scope by SET": ("SET remembrancer.unit = 'person:{ben}'", *READS),
    "commit": ("COMMIT", *READS, "SET ROLE remembrancer_scoped", *READS),
    "rollback": ("ROLLBACK", *READS, "SET ROLE remembrancer_scoped", *READS),
    "another key": (
        "SELECT open_session('key')",
        "SET ROLE remembrancer_system",
        "SELECT open_session('key')",
        "SET ROLE remembrancer_scoped",
        "SELECT set_config('remembrancer.unit', 'person:{ben}@' || (extract(epoch FROM"
        " transaction_timestamp()) * 1000000)::bigint, true)",
        "SELECT set_config('remembrancer.unit', current_setting('remembrancer.unit') || '|' ||"
        " encode(sha256('key'::bytea || sha256('key'::bytea ||"
        " convert_to(current_setting('remembrancer.unit'), 'UTF8'))), 'hex'), true)",
        *READS,
    ),
    "the keys": (
        "SELECT * FROM session_keys",
        "UPDATE session_keys SET key = 'key'",
        "DELETE FROM session_keys",
        "INSERT INTO session_keys SELECT pg_backend_pid(), now(), 'key'",
        "SELECT entered()",
        "TRUNCATE session_keys",
    ),
    "policies": (
        "ALTER TABLE texts DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE texts NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own ON texts",
        "ALTER POLICY own ON texts USING (true)",
        "CREATE POLICY mine ON texts USING (true)",
        "ALTER TABLE texts OWNER TO CURRENT_USER",
        "GRANT ALL ON texts TO PUBLIC",
        "ALTER ROLE CURRENT_USER BYPASSRLS",
        "SET row_security = off",
        *READS,
    ),
    "temporary function": (
        "CREATE FUNCTION pg_temp.current_person() RETURNS uuid LANGUAGE sql"
        " AS 'SELECT ''{ben}''::uuid'",
        "SET search_path = pg_temp, remembrancer",
        *READS,
        "CREATE OR REPLACE FUNCTION remembrancer.current_person() RETURNS uuid LANGUAGE sql"
        " AS 'SELECT ''{ben}''::uuid'",
        *READS,
    ),
    "leaking function": (
        "CREATE TEMP TABLE loot (said text)",
        "CREATE FUNCTION pg_temp.leak(said text) RETURNS boolean LANGUAGE sql COST 0.0001"
        " AS 'INSERT INTO loot VALUES (said); SELECT true'",
        "SELECT * FROM texts WHERE pg_temp.leak(text)",
        "SELECT * FROM loot",
    ),
    "leaking operator": ("SELECT * FROM texts WHERE 1 / (length(text) - length(text)) = 1",),
    "names": (
        "WITH texts AS (SELECT * FROM remembrancer.texts) SELECT * FROM texts",
        "CREATE TEMP VIEW all_of_it AS SELECT * FROM remembrancer.texts",
        "SELECT * FROM all_of_it",
        "CREATE VIEW remembrancer.all_of_it AS SELECT * FROM texts",
    ),
    "files": (
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT pg_ls_dir('.')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_export(1, '/tmp/loot')",
        "COPY texts TO '/tmp/loot'",
        "COPY texts FROM '/etc/passwd'",
        "COPY texts TO PROGRAM 'cat'",
        "SELECT pg_read_binary_file(pg_relation_filepath('texts'))",
        "CREATE EXTENSION file_fdw",
        "CREATE EXTENSION dblink",
        "CREATE EXTENSION pageinspect",
        "LOAD 'plpython3u'",
    ),
    "large objects": ("SELECT * FROM pg_largeobject", "SELECT lo_get(1)"),
    "statistics": (
        "SELECT * FROM pg_stats WHERE schemaname = 'remembrancer'",
        "SELECT * FROM pg_statistic",
        "SELECT * FROM pg_stats_ext",
        "RESET ROLE",
        "SELECT * FROM pg_stats WHERE schemaname = 'remembrancer'",
    ),
    "activity": (
        "SELECT * FROM pg_stat_activity",
        "SELECT * FROM pg_prepared_statements",
        "SELECT * FROM pg_cursors",
        "RESET ROLE",
        "SELECT * FROM pg_stat_activity",
    ),
    "block": (
        "CREATE TEMP TABLE loot AS SELECT ''::text AS said",
        "DO $$ BEGIN SET LOCAL ROLE remembrancer_system;"
        " PERFORM set_config('remembrancer.unit', 'person:{ben}', true);"
        " SET LOCAL ROLE remembrancer_scoped;"
        " INSERT INTO loot SELECT text FROM remembrancer.texts; END $$",
        "SELECT * FROM loot",
    ),
    "prepared": ("PREPARE all_of_it AS SELECT * FROM texts", "RESET ROLE", "EXECUTE all_of_it"),
    "cursor": (
        "DECLARE all_of_it CURSOR WITH HOLD FOR SELECT * FROM texts",
        "COMMIT",
        "FETCH ALL FROM all_of_it",
    ),
    "writes": (
        "INSERT INTO paths (user_id, id, text) VALUES ('{ben}', gen_random_uuid(), 'planted')",
        "INSERT INTO paths SELECT '{ben}', id, text FROM paths",
        "UPDATE paths SET user_id = '{ben}'",
        "UPDATE texts SET text = 'planted' WHERE user_id = '{ben}'",
        "UPDATE head SET user_id = '{ben}'",
        "INSERT INTO head SELECT '{ben}', 0, '', 0, 0 ON CONFLICT (user_id) DO UPDATE"
        " SET event_seq = 0",
        "DELETE FROM texts WHERE user_id = '{ben}'",
        "MERGE INTO texts AS t USING (SELECT 1) AS s ON t.user_id = '{ben}'"
        " WHEN MATCHED THEN DELETE",
        "TRUNCATE texts CASCADE",
        "DROP TABLE texts CASCADE",
        "DROP SCHEMA remembrancer CASCADE",
        "ALTER TABLE texts DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
        "LOCK TABLE session_keys",
        "REASSIGN OWNED BY CURRENT_USER TO remembrancer_system",
        "DROP OWNED BY CURRENT_USER",
    ),
    "erasing": (
        "SELECT erase_person()",
        "SELECT set_config('remembrancer.unit', 'erase:{ben}', true)",
        "SELECT erase_person()",
        "SELECT set_config('remembrancer.unit', replace('{token}', 'person', 'erase'), true)",
        "SELECT erase_person()",
    ),
    "notes left for later": (
        "SELECT set_config('remembrancer.unit', current_setting('remembrancer.unit'), false)",
        "SELECT set_config('role', 'remembrancer_scoped', false)",
        "SET search_path = pg_temp",
        "SET default_transaction_read_only = on",
        "SET row_security = off",
        "SET client_encoding = 'SQL_ASCII'",
        "COMMIT",
    ),
}

SQLITE: dict[str, Sequence[str]] = {
    "plain reads": ("SELECT * FROM texts WHERE user_id = x'{ben_hex}'", *READS),
    "attach": ("ATTACH '{file}' AS other", "SELECT * FROM other.texts"),
    "attach outside": ("COMMIT", "ATTACH '{file}' AS other", "SELECT * FROM other.texts"),
    "vacuum": ("VACUUM INTO '{file}'", "COMMIT", "VACUUM INTO '{file}'", "VACUUM"),
    "schema": (
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = ''",
        "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 2, 'CREATE TABLE x (y)')",
        "PRAGMA schema_version = 1",
    ),
    "settings": (
        "PRAGMA foreign_keys = OFF",
        "PRAGMA secure_delete = OFF",
        "PRAGMA query_only = OFF",
        "PRAGMA recursive_triggers = OFF",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA locking_mode = EXCLUSIVE",
        "PRAGMA database_list",
    ),
    "files": (
        "SELECT load_extension('{file}')",
        "SELECT readfile('{file}')",
        "SELECT writefile('{file}', 'x')",
        "SELECT edit('{file}')",
        "CREATE VIRTUAL TABLE other USING csv(filename='{file}')",
        "SELECT * FROM fsdir('{file}')",
        "SELECT * FROM dbstat",
        "SELECT fts3_tokenizer('x', x'0000000000000000')",
    ),
    "owner": (
        "UPDATE owner SET user_id = x'{ben_hex}'",
        "DELETE FROM owner",
        "INSERT OR REPLACE INTO owner VALUES (1, x'{ben_hex}')",
        "DROP TRIGGER owner_insert_paths",
        "INSERT INTO paths VALUES (x'{ben_hex}', x'00', 'planted')",
        "UPDATE paths SET user_id = x'{ben_hex}'",
        "UPDATE OR REPLACE head SET user_id = x'{ben_hex}'",
    ),
    "temporary": (
        "CREATE TEMP TABLE texts (user_id, text)",
        "CREATE TEMP VIEW memories AS SELECT 1",
        "CREATE TEMP TRIGGER t AFTER INSERT ON main.texts BEGIN SELECT 1; END",
        "WITH texts AS (SELECT * FROM main.texts) SELECT * FROM texts",
    ),
    "definitions": (
        "CREATE TABLE loot (said)",
        "DROP TABLE texts",
        "ALTER TABLE texts RENAME TO others",
        "CREATE TRIGGER t AFTER INSERT ON texts BEGIN SELECT 1; END",
        "DROP TRIGGER log_refuses_DELETE",
    ),
    "the log": (
        "UPDATE events SET actor_name = 'somebody'",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events",
        "UPDATE OR REPLACE events SET seq = 1",
    ),
    "commit": ("COMMIT", *READS, "BEGIN EXCLUSIVE", *READS),
    "rollback": ("ROLLBACK", *READS, "SAVEPOINT mine", *READS),
}


def say(connection: Connection, statements: Sequence[str]) -> list[str]:
    """Run the statements, ignoring what is refused. Returns everything that came back."""
    seen = []
    for each in statements:
        try:
            connection.exec_driver_sql("SAVEPOINT before")
            result = connection.exec_driver_sql(each)
            if result.returns_rows:
                seen += [repr(tuple(row)) for row in result]
        except DBAPIError:
            try:
                connection.exec_driver_sql("ROLLBACK TO before")
            except DBAPIError:
                connection.exec_driver_sql("ROLLBACK")
    return seen
