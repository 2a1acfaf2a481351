"""The schema's history: one script serves both stores, in two branches (system, personal)."""
