"""How much a grade moves the scores and the order of systems."""
