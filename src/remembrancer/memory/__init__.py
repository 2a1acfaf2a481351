"""Memories and their versions: the record itself, and the one gateway that changes it."""
