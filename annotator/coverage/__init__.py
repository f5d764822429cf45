"""A ground truth against what it is required to hold."""
