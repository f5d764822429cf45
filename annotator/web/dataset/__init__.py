"""Pages about a dataset as a whole: New dataset and Settings."""
