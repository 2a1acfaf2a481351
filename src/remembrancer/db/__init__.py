"""Where everything is kept: units of work over SQLite or PostgreSQL.

`Database` opens *scoped* units (one person's tables) and *system* units (accounts, settings, due
work). A unit is a plain function run whole on a database thread. Nothing here knows what a memory
is.
"""
