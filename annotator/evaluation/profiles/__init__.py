"""The conventions of each team's evaluator: one file for each."""
