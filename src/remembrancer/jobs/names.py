"""The kinds of job there are, by name. `worker` registers a handler for each."""

from __future__ import annotations

from typing import Final

VECTORS: Final = "index.complete_vectors"
"""Make the vectors that are missing."""

SCRUB: Final = "upkeep.scrub"
"""Get the bytes of what was forgotten out of what the store keeps beside its tables."""
