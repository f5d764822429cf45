"""Search documents while an annotator types: an index in memory, and excerpts of the results."""
