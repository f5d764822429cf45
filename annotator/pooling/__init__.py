"""Candidates -> pairs with their provenance."""
