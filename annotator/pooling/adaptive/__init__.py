"""Choose the next pairs from what is judged so far, and estimate the order of the systems meanwhile."""
