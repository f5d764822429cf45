"""Versions of the guideline and its rubric, and lessons from decided disagreements."""
