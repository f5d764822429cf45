"""Discussions before a decision, and objections after it."""
