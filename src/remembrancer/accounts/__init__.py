"""People: who exists, and the scopes that authentication mints."""
