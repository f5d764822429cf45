"""What a dataset can tell about systems, and what it cannot."""
