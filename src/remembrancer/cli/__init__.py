"""The command line: thin verbs over the library, for people and for scripts."""
