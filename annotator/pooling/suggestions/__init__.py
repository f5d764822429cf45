"""Widen the pool by relations between documents, and say how often the suggestions were right."""
