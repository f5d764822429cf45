"""Summarize a dataset, and suggest a lead's next steps."""
