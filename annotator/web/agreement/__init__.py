"""The page Agreement: its tabs, charts, tables, links and files."""
