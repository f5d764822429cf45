"""Versions of the guideline and its rubric, and what decided disagreements teach them."""
