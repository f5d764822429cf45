"""Draw the page Quality control, and send its tables as files."""
