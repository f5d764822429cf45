"""Score runs against a ground truth, compare systems, and say what the dataset can and cannot tell."""
