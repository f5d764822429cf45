"""Widen the pool by relations between documents, and measure how often the suggestions were right."""
