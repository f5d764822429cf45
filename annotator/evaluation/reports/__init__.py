"""An evaluation as CSV, JSON, Markdown and HTML."""
