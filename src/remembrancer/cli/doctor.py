"""`doctor`: settings and where they come from, and what is missing, with the way to mend it."""

from __future__ import annotations

import platform
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from remembrancer.cli.care import damaged
from remembrancer.cli.commands import DONE, REFUSED
from remembrancer.cli.options import For, verb
from remembrancer.cli.session import Session
from remembrancer.errors import ConfigurationError, EmbedderError, NotFoundError, StoreError

if TYPE_CHECKING:
    from remembrancer.accounts.models import Account
    from remembrancer.cli.output import Json
    from remembrancer.library.engine import Engine

LEAST_FREE: Final = 256 * 1024 * 1024
"""Bytes of free disk under which something will fail soon."""
MEGABYTE: Final = 1024 * 1024
LEFT_OVER: Final = ".new"


@dataclass(slots=True)
class Findings:
    """What `doctor` found: sections, problems (exit 1) and notices."""

    sections: dict[str, object] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def as_json(self) -> Json:
        """The documented form."""
        return {
            "ok": not self.problems,
            **self.sections,
            "problems": self.problems,
            "notices": self.notices,
        }


def register(app: typer.Typer) -> None:
    """Add this verb."""
    verb(app, "doctor", For.EVERYBODY)(doctor)


def doctor(session: Session) -> int:
    """Check the installation: settings, store, model, index, disk."""
    found = examine(session)
    session.out.answer(found.as_json(), lambda: _show(session, found))
    return REFUSED if found.problems else DONE


def examine(session: Session) -> Findings:
    """Look at everything; what fails is a finding, not an error."""
    found = Findings()
    found.sections["version"] = _version()
    found.sections["settings"] = [
        {"name": name, "value": each.shown, "source": each.source, "help": each.setting.help}
        for name, each in session.config.values.items()
    ]
    _disk(session.config.data, found)
    try:
        engine = session.engine
    except ConfigurationError as error:
        found.problems.append(str(error))
        return found
    _embedder(engine, found)
    if _store(engine, found):
        _people(session, found)
    return found


def _version() -> Json:
    from importlib.metadata import version

    return {"remembrancer": version("remembrancer"), "python": platform.python_version()}


def _disk(folder: Path, found: Findings) -> None:
    place = folder
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    found.sections["disk"] = {"folder": str(folder), "free_bytes": free}
    if free < LEAST_FREE:
        found.problems.append(
            f"Only {free // MEGABYTE} MB are free at {place}: make room, or move the data folder."
        )


def _store(engine: Engine, found: Findings) -> bool:
    """Describe the store; whether it can be used."""
    try:
        report = engine.db.backend.report()
    except StoreError as error:
        found.sections["store"] = {"kind": engine.db.backend.kind}
        found.problems.append(str(error))
        return False
    found.sections["store"] = {
        "kind": report.kind,
        "place": report.place,
        "server_version": report.server_version,
        "schema": report.schema,
    }
    found.problems += report.problems
    return not report.problems


def _embedder(engine: Engine, found: Findings) -> None:
    from remembrancer.embeddings.base import Kind
    from remembrancer.embeddings.factory import NoEmbedder

    if isinstance(engine.embedder, NoEmbedder):
        found.sections["embedder"] = {"state": "off"}
        found.notices.append("No embedder is set: recall is by words only.")
        return
    try:
        began = time.perf_counter()
        engine.embedder.embed(["Is anybody there?"], Kind.QUERY)
        loaded = time.perf_counter()
        engine.embedder.embed(["Yes, always."], Kind.QUERY)
        asked = time.perf_counter()
        spec = engine.embedder.spec
    except EmbedderError as error:
        found.sections["embedder"] = {"state": "failed", "code": error.code}
        found.problems.append(f"{error} Until then recall is by words only.")
        return
    found.sections["embedder"] = {
        "state": "ready",
        "model": spec.model,
        "revision": spec.revision,
        "dimension": spec.dimension,
        "external": spec.external,
        "space": spec.key,
        "first_ms": round((loaded - began) * 1000, 1),
        "probe_ms": round((asked - loaded) * 1000, 1),
    }


def _people(session: Session, found: Findings) -> None:
    rows: list[Json] = []
    try:
        everybody = session.people()
    except StoreError as error:
        found.problems.append(str(error))
        everybody = []
    for account in everybody:
        try:
            row = _person(session, account)
        except NotFoundError:
            found.problems.append(f"{account.email}: their file or data is missing.")
            continue
        except StoreError as error:
            found.problems.append(f"{account.email}: {error}")
            continue
        except damaged() as error:  # its words may be a memory's
            name = type(error).__name__
            found.problems.append(f"{account.email}: the record can't be read: {name}.")
            continue
        rows.append(row)
        if row["pending"]:
            found.notices.append(
                f"{account.email}: {row['pending']} without a vector; "
                "`remembrancer reindex --pending` makes them."
            )
    found.sections["people"] = rows
    _strays(session.engine, found)


def _strays(engine: Engine, found: Findings) -> None:
    """Files beside the people's that no account owns."""
    from remembrancer.db.sqlite import SqliteBackend

    if not isinstance(engine.db.backend, SqliteBackend):
        return
    try:
        known = {each.user_id for each in engine.accounts.everybody()}
    except StoreError:
        return  # said above
    for name in engine.db.backend.strays(known):
        said = (
            "is left of an account that was never made; it can be deleted."
            if name.endswith(LEFT_OVER)
            else "belongs to no account: restore the system.db it goes with, or delete it."
        )
        found.notices.append(f"The file people/{name} {said}")


def _person(session: Session, account: Account) -> Json:
    """Counts of one person's, never contents."""
    from remembrancer.library.figures import figures_of

    figures = figures_of(session.engine, session.engine.accounts.scope(account))
    return {"user": account.email, **asdict(figures)}


def _show(session: Session, found: Findings) -> None:
    out = session.out
    settings = found.sections["settings"]
    assert isinstance(settings, list)
    out.line(("Settings", "bold"))
    out.table(
        [[each["name"], each["source"], each["value"] or "—"] for each in settings],
        heads=["setting", "from", "value"],
    )
    for name in ("version", "store", "embedder", "disk"):
        section = found.sections.get(name)
        if isinstance(section, dict):
            out.line("")
            out.line((name.capitalize(), "bold"))
            out.table([[key, _shown(key, value)] for key, value in section.items()], heads=["", ""])
    people = found.sections.get("people")
    if isinstance(people, list) and people:
        out.line("")
        out.line(("People", "bold"))
        heads = ["documents", "pending", "jobs", "user"]
        out.table([[str(each[head]) for head in heads] for each in people], heads=heads)
    out.line("")
    for notice in found.notices:
        out.line(("Note: ", "yellow"), notice)
    for problem in found.problems:
        out.line(("Problem: ", "red"), problem)
    if not found.problems:
        out.line("Nothing is wrong.")


def _shown(key: str, value: object) -> str:
    if key == "free_bytes" and isinstance(value, int):
        return f"{value // MEGABYTE} MB"
    return "—" if value is None else str(value)
