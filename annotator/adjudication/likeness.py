"""How alike the texts of two documents are, so that the same text does not get two grades unnoticed.

Texts are compared by their runs of five characters, width, case and white space aside: that works alike for English, Japanese,
Korean and code, none of which needs to be cut into words. Of each text the smallest hashes of its runs are kept (a bottom-k
sketch: Cohen and Kaplan, 2007), from which the Jaccard similarity of two texts is estimated; exactly where both have few runs.
Only the first 50,000 characters count.
"""

import hashlib
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Mapping

RUN = 5
KEPT = 512
MOST_CHARACTERS = 50_000
NEAR_FROM = 0.8
"""From here on two documents are shown as near-duplicates."""
WARN_FROM = 0.9
"""From here on another grade than the near-duplicate's is worth a warning, and stands in the trail."""
MOST_SKETCHES = 5_000
_ODD = 0x9E3779B97F4A7C15

Sketch = tuple[int, ...]


def make_sketch(text: str) -> Sketch:
    """The smallest hashes of the runs of a text, in ascending order; none of a text without words."""
    import numpy as np

    plain = " ".join(unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).casefold().split())
    if not plain:
        return ()
    if len(plain) <= RUN:
        return (int.from_bytes(hashlib.sha256(plain.encode("utf-8", "replace")).digest()[:8], "big"),)
    codes = np.frombuffer(plain.encode("utf-32-le", "replace"), dtype="<u4").astype(np.uint64)
    count = len(codes) - RUN + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for place in range(RUN):
        mixed = (mixed ^ codes[place : place + count]) * np.uint64(_ODD)
        mixed ^= mixed >> np.uint64(29)
    return tuple(int(value) for value in np.unique(mixed)[:KEPT])


def compare_sketches(one: Sketch, other: Sketch) -> float:
    """The Jaccard similarity of two texts, 0 to 1; below 1 where the sketches differ."""
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    first, second = set(one), set(other)
    size = KEPT if KEPT in (len(one), len(other)) else len(first | second)
    smallest = sorted(first | second)[:size]
    shared = sum(value in first and value in second for value in smallest)
    return min(shared / len(smallest), 0.99)


class Sketches:
    """The sketches of the texts that were met last, by SHA-256: a text never changes under its hash."""

    def __init__(self, most: int = MOST_SKETCHES) -> None:
        self._most, self._kept, self._turn = most, OrderedDict[str, Sketch](), threading.Lock()

    def list_missing(self, hashes: Iterable[str]) -> set[str]:
        """Those of these texts that are to be read."""
        with self._turn:
            return {sha256 for sha256 in hashes if sha256 not in self._kept}

    def learn(self, texts: Mapping[str, str]) -> None:
        """Keep the sketches of these texts, by SHA-256."""
        made = {sha256: make_sketch(text) for sha256, text in texts.items()}
        with self._turn:
            self._kept.update(made)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def compare(self, one: str | None, other: str | None) -> float | None:
        """How alike two texts are; None below NEAR_FROM, and where one of them is not known."""
        if one is None or other is None:
            return None
        if one == other:
            return 1.0
        with self._turn:
            first, second = self._kept.get(one), self._kept.get(other)
        if first is None or second is None:
            return None
        found = compare_sketches(first, second)
        return round(found, 2) if found >= NEAR_FROM else None
