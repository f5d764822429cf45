"""Import runs: which results are kept, in which order, and what their signals lost."""
