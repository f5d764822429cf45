"""From candidates to pairs: runs, the built-in retriever, search, and documents that annotators propose."""
