"""What an annotator sees of the own work, and what leads see of the time that pairs take.

Stands after labeling. Times are shown as medians, never as a ranking of people.
"""
