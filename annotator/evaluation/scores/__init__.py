"""Measures, and the scores of a run by them."""
