"""What a database or a file system says, in this project's words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from remembrancer.errors import SchemaError, StoreError, StoreLockedError, StoreUnavailableError

_OURS: Final = (
    IntegrityError,
    DataError,
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.ProgrammingError,
)
"""Faults of a statement, not of the store; their words may hold a person's, so none are looked
for."""


def _begun(place: str) -> str:
    return place[:1].upper() + place[1:]


def _named(place: str, said: str) -> StoreError | None:
    lower = said.lower()
    if "could not decode" in lower:  # first: what follows quotes the text
        return StoreError(
            f"{_begun(place)} holds damaged text.",
            hint="`remembrancer verify` names it; restore a back-up.",
        )
    if "locked" in lower or "busy" in lower or "locknotavailable" in lower:
        return StoreLockedError(
            f"Another process holds {place}.", hint="Try again, or stop the other process."
        )
    if "readonly" in lower or "read-only" in lower:
        return StoreUnavailableError(
            f"{_begun(place)} is read-only.", hint="Make the data folder or the server writable."
        )
    if "disk is full" in lower or "no space" in lower:
        return StoreUnavailableError(
            f"The disk is full under {place}.", hint="Make room; nothing was half-written."
        )
    if "unable to open" in lower or "disk i/o" in lower or "connect" in lower:
        return StoreUnavailableError(
            f"{_begun(place)} does not answer: {said.splitlines()[0]}.",
            hint="`remembrancer doctor` says more.",
        )
    if "no such table" in lower or "undefinedtable" in lower or "does not exist" in lower:
        return SchemaError(f"{_begun(place)} lacks its tables.", hint="Run `remembrancer migrate`.")
    if "malformed" in lower or "not a database" in lower:
        return StoreUnavailableError(
            f"{_begun(place)} is damaged or not a database.",
            hint="Restore it from a back-up.",
        )
    return None


def _first_words(error: BaseException) -> str:
    original: Any = error.orig if isinstance(error, DBAPIError) else error
    return f"{type(original).__name__}: {original}"


@contextmanager
def storing(place: str) -> Iterator[None]:
    """Operational errors inside become `StoreError`s; everything else passes."""
    try:
        yield
    except _OURS:
        raise
    except (sqlite3.DatabaseError, DBAPIError, PoolTimeoutError) as error:
        named = _named(place, _first_words(error))
        if named is None:
            raise
        raise named from error


@contextmanager
def filing(place: str) -> Iterator[None]:
    """What the file system refuses inside becomes a `StoreUnavailableError`."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailableError(
            f"{_begun(place)} can't be used: {error.strerror or error}.",
            hint="Give another place with --data or REMEMBRANCER_DATA, or make this one writable.",
        ) from error
