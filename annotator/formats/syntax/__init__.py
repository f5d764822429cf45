"""Text, JSON, YAML, tables and Markdown, independent of formats."""
