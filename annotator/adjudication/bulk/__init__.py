"""Decide many disagreements at once: from a file, or by a policy."""
