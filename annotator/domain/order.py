"""In which order an annotator meets queries, and the documents within a query.

Pairs come query by query. Both orders are seeded per annotator, so that no two annotators tire on the same
documents and no order says anything about rank or score.
"""

import hashlib


def place(seed: int, annotator: str, name: str) -> bytes:
    """Where `name` (a query's or a pair's id) stands in this annotator's order: sort by it. 8 bytes."""
    told = f"{seed}\x1f{annotator}\x1f{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=8).digest()
