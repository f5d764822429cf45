"""Draw the queue of disagreements, the decision panel, and what annotators see of decisions."""
