"""Draw the page Guideline: reading, drafting and publishing it."""
