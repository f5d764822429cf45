"""A dataset as a whole: its settings, its rubric file, and what it is required to cover."""
