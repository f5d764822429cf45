"""The pool, its documents, and how each pair is settled or disputed."""
