"""Whose and where, and who acts.

A `Scope` is minted by authentication (`accounts.service`) and by nothing else: its constructor
refuses a caller without the mint. Every unit of work is built from one. An `Actor` says who did a
thing; what a payload claims about its author is never consulted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final
from uuid import UUID


class SpaceChoice(Enum):
    """The two scopes that are not one space."""

    NONE = "none"
    """Only what belongs to no space."""
    ALL = "all"
    """Everything of the person's; lists only, never recall."""


NONE: Final = SpaceChoice.NONE
ALL: Final = SpaceChoice.ALL

_MINT: Final = object()


@dataclass(frozen=True, slots=True, init=False)
class Scope:
    """The owner, and which of their spaces is looked at."""

    user_id: UUID
    space: UUID | SpaceChoice

    def __init__(
        self, user_id: UUID, space: UUID | SpaceChoice = NONE, *, mint: object = None
    ) -> None:
        if mint is not _MINT:
            raise TypeError("A Scope comes from authentication: ask accounts.service for one.")
        object.__setattr__(self, "user_id", user_id)
        object.__setattr__(self, "space", space)

    def within(self, space: UUID | SpaceChoice) -> Scope:
        """The same person, looking at another of their spaces."""
        return Scope(self.user_id, space, mint=_MINT)


def mint(user_id: UUID) -> Scope:
    """A scope over one person. Called by `accounts.service` alone; a test says so."""
    return Scope(user_id, mint=_MINT)


class ActorKind(StrEnum):
    PERSON = "person"
    MODEL = "model"
    REVIEWER = "reviewer"
    IMPORTER = "importer"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does it (`kind`, and a name: an e-mail, an agent, a model) and through which surface."""

    kind: ActorKind
    name: str
    surface: str = "library"

    @property
    def is_person(self) -> bool:
        return self.kind is ActorKind.PERSON

    @property
    def label(self) -> str:
        """`kind:name`, as `created_by` columns keep it."""
        return f"{self.kind.value}:{self.name}"


def labels_person(label: str) -> bool:
    """Whether an `Actor.label` names a person."""
    return label.startswith(f"{ActorKind.PERSON.value}:")
