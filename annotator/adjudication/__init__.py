"""Decide disagreements: the queue, decisions, their impact, discussion, decisions in bulk, and history."""
