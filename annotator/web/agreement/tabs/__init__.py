"""Draw the tabs of the Agreement page: one file for each, drawn only while it is open."""
