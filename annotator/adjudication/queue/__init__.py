"""The queue of disagreements, and who holds which."""
