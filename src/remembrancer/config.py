"""Settings, as one table: `REMEMBRANCER_*` variables, then a TOML file, then defaults.

The file is `remembrancer.toml` in the data folder, or the one `REMEMBRANCER_CONFIG` names. A value
given on the command line beats all of them. `doctor` prints each value and where it came from.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from remembrancer.errors import ConfigurationError

PREFIX: Final = "REMEMBRANCER_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. `kind` is str, int, float or bool; a secret's value isn't printed."""

    name: str
    kind: type
    default: str | int | float | bool | None
    help: str
    secret: bool = False


def _default_data() -> str:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return str(Path(base).expanduser() / "remembrancer")


SETTINGS: Final = (
    Setting("data", str, None, "The data folder (SQLite files, configuration)."),
    Setting("database_url", str, None, "PostgreSQL log-in of the server.", secret=True),
    Setting("migration_url", str, None, "PostgreSQL owner, for `migrate` alone.", secret=True),
    Setting("user", str, None, "Whose memory commands use when --user isn't given."),
    Setting("embedder", str, "local", "local, http, trigram (tests) or none."),
    Setting("embedder_url", str, None, "Base URL of an OpenAI-compatible embeddings endpoint."),
    Setting("embedder_model", str, None, "Model name at that endpoint."),
    Setting("embedder_key", str, None, "Key for that endpoint.", secret=True),
    Setting("embedder_dimension", int, None, "Dimension, when the endpoint should be told."),
    Setting("embedder_query_prefix", str, "", "What that model wants before a query."),
    Setting("embedder_passage_prefix", str, "", "What that model wants before a passage."),
    Setting("embedder_threads", int, 1, "Threads of the local model."),
    Setting("index_megabytes", int, 512, "Bound of the in-process personal indexes."),
    Setting("eval_data", str, None, "Where evaluation sets are found."),
)
"""Every setting there is. `data` defaults to the user's data folder."""

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """A setting's value, and where it came from: option, environment, file or default."""

    setting: Setting
    value: Value
    source: str

    @property
    def shown(self) -> str:
        """The value for a person; secrets as dots."""
        if self.value is None:
            return ""
        return "••••" if self.setting.secret else str(self.value)


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, resolved."""

    values: Mapping[str, Resolved]

    def text(self, name: str) -> str | None:
        """A text setting."""
        value = self.values[name].value
        return None if value is None else str(value)

    def number(self, name: str) -> int | None:
        """An integer setting."""
        value = self.values[name].value
        return value if isinstance(value, int) else None

    @property
    def data(self) -> Path:
        """The data folder."""
        return Path(self.text("data") or _default_data()).expanduser()


def _parse(setting: Setting, raw: object, source: str) -> Value:
    try:
        if setting.kind is int:
            return int(str(raw))
        return str(raw)
    except ValueError:
        raise ConfigurationError(
            f"{setting.name} is {str(raw)!r}, from {source}.",
            field=setting.name,
            value=None if setting.secret else str(raw),
            hint=f"It takes a value of the kind {setting.kind.__name__}.",
        ) from None


def _file(path: Path) -> Mapping[str, object]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The configuration file {path} can't be read: {error}.", field="config"
        ) from None


def load(
    options: Mapping[str, Value] | None = None, environment: Mapping[str, str] | None = None
) -> Config:
    """Resolve every setting. Raises `ConfigurationError` for a bad value or an unknown name."""
    environment = os.environ if environment is None else environment
    given = {name: value for name, value in (options or {}).items() if value is not None}
    data = str(given.get("data") or environment.get(PREFIX + "DATA") or _default_data())
    named = environment.get(PREFIX + "CONFIG")
    path = Path(named).expanduser() if named else Path(data).expanduser() / "remembrancer.toml"
    if named and not path.exists():
        raise ConfigurationError(f"There is no configuration file {path}.", field="config")
    written = _file(path)
    unknown = set(written) - {setting.name for setting in SETTINGS}
    if unknown:
        raise ConfigurationError(
            f"{path} has unknown settings: {', '.join(sorted(unknown))}.",
            field=min(unknown),
            hint="`remembrancer doctor` lists the settings there are.",
        )
    values = {}
    for setting in SETTINGS:
        variable = PREFIX + setting.name.upper()
        default = data if setting.name == "data" else setting.default
        raw: object = default
        source = "default"
        if setting.name in given:
            raw, source = given[setting.name], "option"
        elif environment.get(variable):
            raw, source = environment[variable], variable
        elif setting.name in written:
            raw, source = written[setting.name], str(path)
        value = None if raw is None else _parse(setting, raw, source)
        values[setting.name] = Resolved(setting, value, source)
    return Config(values)
