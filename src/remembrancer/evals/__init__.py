"""The harness that measures recall, and the project's own cases."""
