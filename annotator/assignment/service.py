"""What leads do to spread the work: say who knows what, give queries to people, hand a leaver's work on, see who waits.

Stands before labeling, which hands out what is decided here.
"""
