"""Texts to vectors: the `Embedder` port, its implementations, and the one thread that runs them.

It keeps no rows and knows no person: what a vector belongs to is decided by those who store it.
"""
