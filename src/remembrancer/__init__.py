"""Remembrancer: a long-term memory that keeps its record.

    from remembrancer import Remembrancer

`Remembrancer` is asynchronous, `SyncRemembrancer` the same without `await`; `errors` is the tree of
everything they raise; a `Scope` says whose memory a call reaches and is minted by them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remembrancer import errors
from remembrancer.scope import Scope

if TYPE_CHECKING:
    from remembrancer.library.person import PersonalMemory
    from remembrancer.library.remembrancer import Remembrancer
    from remembrancer.library.sync import SyncPersonalMemory, SyncRemembrancer

__all__ = [
    "PersonalMemory",
    "Remembrancer",
    "Scope",
    "SyncPersonalMemory",
    "SyncRemembrancer",
    "errors",
]

_HOMES = {
    "PersonalMemory": "remembrancer.library.person",
    "Remembrancer": "remembrancer.library.remembrancer",
    "SyncPersonalMemory": "remembrancer.library.sync",
    "SyncRemembrancer": "remembrancer.library.sync",
}


def __getattr__(name: str) -> Any:
    """Import the faces when they are asked for: `import remembrancer` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
