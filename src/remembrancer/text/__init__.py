"""Pure functions over text: equality, tombstone keys, digests, sentences, terms, paths, limits.

Nothing here does input or output, reads a clock or knows a person. Import the module you need:
`normalise`, `digest`, `spans`, `analyse`, `paths`, `limits`; this package exports nothing itself.
"""
