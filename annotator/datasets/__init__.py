"""The dataset itself: created, its settings, its rubric. (The data that ships lies in the top-level datasets/.)"""
