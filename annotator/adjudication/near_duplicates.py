"""Compare the texts of documents, to find near-duplicates.

Texts are compared by runs of characters, as in a pool (`pooling/filters/near_duplicates.py`). The sketch of a text
has its smallest hashes (bottom-k: Cohen and Kaplan, 2007), from which the Jaccard similarity is estimated.
The estimate is exact if both texts have few runs. Only the first 50,000 characters of a text count.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from annotator.pooling.filters.near_duplicates import hash_runs, normalize_text

SKETCH_SIZE = 512
MOST_CHARACTERS = 50_000
SIMILAR_FROM = 0.8
"""From this similarity on, two documents are shown as near-duplicates."""
WARN_FROM = 0.9
"""From this similarity on, the panel warns of another grade than the near-duplicate's, and the audit log keeps it."""
MOST_SKETCHES = 5_000

Sketch = tuple[int, ...]


def make_sketch(text: str) -> Sketch:
    """Return the smallest hashes of a text's runs, ascending; () if the text has no words."""
    import numpy as np

    hashes = hash_runs(normalize_text(text[:MOST_CHARACTERS]))
    return tuple(int(value) for value in np.unique(hashes)[:SKETCH_SIZE])


def compare_sketches(first: Sketch, second: Sketch) -> float:
    """Return the Jaccard similarity of two texts, 0 to 1; below 1 unless the sketches are equal."""
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    hashes, other_hashes = set(first), set(second)
    union = hashes | other_hashes
    smallest = sorted(union)[: SKETCH_SIZE if SKETCH_SIZE in (len(first), len(second)) else len(union)]
    shared = sum(value in hashes and value in other_hashes for value in smallest)
    return min(shared / len(smallest), 0.99)


class TextSketches:
    """The sketches of the latest texts by SHA-256."""

    def __init__(self, most: int = MOST_SKETCHES) -> None:
        self._most, self._sketches, self._lock = most, OrderedDict[str, Sketch](), threading.Lock()

    def list_missing(self, hashes: Iterable[str]) -> set[str]:
        """Return the hashes (SHA-256) that have no sketch here."""
        with self._lock:
            return {sha256 for sha256 in hashes if sha256 not in self._sketches}

    def add_texts(self, texts: Mapping[str, str]) -> None:
        """Keep the sketches of these texts, by SHA-256."""
        sketches = {sha256: make_sketch(text) for sha256, text in texts.items()}
        with self._lock:
            self._sketches.update(sketches)
            while len(self._sketches) > self._most:
                self._sketches.popitem(last=False)

    def compare(self, sha256: str | None, other_sha256: str | None) -> float | None:
        """Return the similarity of two texts; None below SIMILAR_FROM, or if one of them is unknown."""
        if sha256 is None or other_sha256 is None:
            return None
        if sha256 == other_sha256:
            return 1.0
        with self._lock:
            sketch, other = self._sketches.get(sha256), self._sketches.get(other_sha256)
        if sketch is None or other is None:
            return None
        similarity = compare_sketches(sketch, other)
        return round(similarity, 2) if similarity >= SIMILAR_FROM else None
