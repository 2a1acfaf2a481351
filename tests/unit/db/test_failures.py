"""What a database says, in this project's words; and what is left as it is."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from remembrancer.db.failures import filing, storing
from remembrancer.errors import SchemaError, StoreError, StoreLockedError, StoreUnavailableError

WORDS = {
    "database is locked": StoreLockedError,
    "database table is locked": StoreLockedError,
    "attempt to write a readonly database": StoreUnavailableError,
    "cannot execute INSERT in a read-only transaction": StoreUnavailableError,
    "database or disk is full": StoreUnavailableError,
    "could not extend file: No space left on device": StoreUnavailableError,
    "unable to open database file": StoreUnavailableError,
    "disk I/O error": StoreUnavailableError,
    "server closed the connection unexpectedly": StoreUnavailableError,
    "no such table: memories": SchemaError,
    'relation "memories" does not exist': SchemaError,
    "database disk image is malformed": StoreUnavailableError,
    "file is not a database": StoreUnavailableError,
}


@pytest.mark.parametrize("said", WORDS)
def test_a_store_that_fails_is_said_with_the_way_out(said: str) -> None:
    plain = sqlite3.OperationalError(said)
    for error in (plain, OperationalError("SELECT 1", {}, plain)):
        with pytest.raises(WORDS[said]) as named, storing("the database x.db"):
            raise error
        assert type(named.value) is WORDS[said]
        assert "the database x.db" in str(named.value).lower()
        assert named.value.hint
        assert "\n" not in str(named.value)
        assert named.value.__cause__ is error


def test_a_full_pool_is_said() -> None:
    with pytest.raises(StoreUnavailableError), storing("the PostgreSQL database"):
        raise PoolTimeoutError("QueuePool limit reached, connection timed out, timeout 30.00")


@pytest.mark.parametrize(
    "error",
    [
        # A person's words are no news of the store, whatever they are.
        IntegrityError("INSERT", {}, sqlite3.IntegrityError("Key (text)=(locked, disk is full)")),
        sqlite3.IntegrityError("UNIQUE constraint failed: the connection is locked"),
        OperationalError("SELECT", {}, sqlite3.OperationalError("no such column: x")),
        sqlite3.OperationalError("near SELEC: syntax error"),
        sqlite3.ProgrammingError("Cannot operate on a closed database, it is locked"),
        KeyError("locked"),
    ],
)
def test_everything_else_passes_untouched(error: Exception) -> None:
    with pytest.raises(type(error)) as passed, storing("the database x.db"):
        raise error
    assert passed.value is error
    assert isinstance(error, DBAPIError | sqlite3.Error | KeyError)


def test_what_the_file_system_refuses_is_said() -> None:
    with pytest.raises(StoreUnavailableError) as said, filing("the data folder x"):
        raise OSError(28, "No room")
    assert said.value.message == "The data folder x can't be used: No room."
    with pytest.raises(StoreUnavailableError, match="something"), filing("the data folder x"):
        raise OSError("something")
    with pytest.raises(StoreError, match="as it was"), filing("the data folder x"):
        raise StoreError("as it was")
