"""The personal index: one person's vectors and terms, scored exactly."""
