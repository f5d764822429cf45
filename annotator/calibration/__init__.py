"""Checks on the annotator: training before real pairs, gold pairs among them, repeats of one's own."""
