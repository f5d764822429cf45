"""Text, JSON, YAML, tables and Markdown, below the formats. Imports no format."""
