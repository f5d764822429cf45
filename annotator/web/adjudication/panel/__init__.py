"""Draw the decision panel, which shows a lead one disagreement after the other."""
