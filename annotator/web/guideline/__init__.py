"""The page Guideline: reading, drafting and publishing it."""
