"""Annotator: from a pool of candidates to a ground truth you can defend."""

__version__ = "0.1.0"
