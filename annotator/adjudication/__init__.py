"""The disagreement queue and decisions."""
