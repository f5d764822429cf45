"""What annotators ask about a pair, and what leads answer; an answer can be taken into the guideline.

Stands beside labeling. Neither side sees a grade through it.
"""
