"""Every error this project raises on purpose, as one tree.

    RemembrancerError
    ├── InvalidInputError         a value breaks a stated limit (field, value, limit, hint)
    ├── NotFoundError             no such thing for this person; another's is the same as none
    ├── ConflictError
    │   ├── StaleVersionError     expected_version is not the current one
    │   ├── DuplicateError        another live memory already has that value
    │   ├── TransitionError       that trust state can't follow the present one
    │   └── IdempotencyError      the key was used before for another request
    ├── RefusedError              a rule refuses it: the person's policy, or who may do it
    ├── ConfigurationError        a setting or an installation is wrong
    ├── StoreError
    │   ├── StoreLockedError      another process holds the database
    │   ├── StoreUnavailableError it does not answer, is read-only or full
    │   ├── SchemaError           newer or older than this code can use
    │   ├── UnsupportedServerError
    │   ├── PrivilegedRoleError   the log-in is a superuser or owns the tables
    │   └── DamageFoundError      `verify` found something
    └── EmbedderError
        ├── EmbedderUnavailableError  down, slow, or over its queue
        └── ModelMissingError         the model's package or weights are not there

An error names the thing, the value (unless secret), the limit, and the way out. `code` is stable
and is what programs compare; the sentence may change.
"""

from __future__ import annotations

from typing import ClassVar


class RemembrancerError(Exception):
    """The root. `str(error)` is one line for a person; `as_dict()` is the wire form."""

    code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        value: object = None,
        limit: object = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.value = value
        self.limit = limit
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message

    def as_dict(self) -> dict[str, object]:
        """The stable wire form: `code`, `message`, and what else is known."""
        known: dict[str, object] = {"code": self.code, "message": self.message}
        for name in ("field", "value", "limit", "hint"):
            part = getattr(self, name)
            if part is not None:
                known[name] = part if isinstance(part, str | int | float | bool) else str(part)
        return known


class InvalidInputError(RemembrancerError):
    code = "invalid"


class NotFoundError(RemembrancerError):
    code = "not_found"


class ConflictError(RemembrancerError):
    code = "conflict"


class StaleVersionError(ConflictError):
    """`value` is the version that was expected, `limit` the current one."""

    code = "stale_version"


class DuplicateError(ConflictError):
    """`value` is the id of the memory that already says so (`duplicate_of`)."""

    code = "duplicate_of"


class TransitionError(ConflictError):
    code = "transition"


class IdempotencyError(ConflictError):
    code = "idempotency_key_reused"


class RefusedError(RemembrancerError):
    """A rule said no. `field` names it: `policy`, or `authority` for what only a person does."""

    code = "refused"


class ConfigurationError(RemembrancerError):
    code = "configuration"


class StoreError(RemembrancerError):
    code = "store"


class StoreLockedError(StoreError):
    code = "store_locked"


class StoreUnavailableError(StoreError):
    code = "store_unavailable"


class SchemaError(StoreError):
    code = "schema"


class UnsupportedServerError(StoreError):
    code = "unsupported_server"


class PrivilegedRoleError(StoreError):
    code = "privileged_role"


class DamageFoundError(StoreError):
    code = "damage_found"


class EmbedderError(RemembrancerError):
    code = "embedder"


class EmbedderUnavailableError(EmbedderError):
    code = "embedder_unavailable"


class ModelMissingError(EmbedderError):
    code = "model_missing"
