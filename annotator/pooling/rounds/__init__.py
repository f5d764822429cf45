"""Rounds of the pool: gather candidates, choose some by a strategy or within a budget, and keep how each pair was drawn."""
