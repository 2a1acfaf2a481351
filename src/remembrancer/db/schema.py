"""Which schema this code writes. A test holds these against the migrations."""

from __future__ import annotations

from typing import Final

HEADS: Final = {"system": "system_0001", "personal": "personal_0001"}
"""The newest revision of each branch."""
LEAST_CODE: Final = 1
"""The least code level that may use this schema; stored in it (`schema_level`)."""
CODE_LEVEL: Final = 1
"""The level of this code: it refuses a schema whose stored least level is higher."""
LEAST_SERVER: Final = 150000
"""PostgreSQL's own way of writing 15.0."""
SCHEMA: Final = "remembrancer"
"""The PostgreSQL schema that holds everything."""
SCOPED: Final = "remembrancer_scoped"
SYSTEM: Final = "remembrancer_system"
"""The group roles of scoped and of system units."""
