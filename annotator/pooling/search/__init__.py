"""The search while an annotator types: an index in memory, and excerpts of what it finds."""
