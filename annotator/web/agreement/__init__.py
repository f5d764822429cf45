"""Draw the page Agreement: its tabs, charts, tables, links and files."""
