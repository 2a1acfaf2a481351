"""The append-only log: one line for every change, hash-chained per person."""
