"""What may be read, written and reviewed for a person."""
