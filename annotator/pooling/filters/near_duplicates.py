"""Find near duplicates of better ranked documents of the same query, so that only one is judged.

Two texts are near duplicates if the Jaccard similarity of their runs of five characters reaches the
threshold, and exact duplicates if they differ only in width, case and white space. Runs work for English,
Japanese, Korean and code. MinHash (Broder, 1997; the permutations of datasketch) with banding (Leskovec,
Rajaraman and Ullman, Mining of Massive Datasets, chapter 3) finds the pairs to compare. Each of them is
compared by all its runs, so the threshold is exact. A pair at the threshold is missed with a probability
below 1 in 100,000; more similar pairs are missed more rarely.

A document is left out only for a document that is judged itself and reaches the threshold with it. Two
documents left out for the same one may be less similar to each other. The order of the texts does not matter,
and the seed is fixed.
"""

import hashlib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Keys = NDArray[np.uint64]

RUN_LENGTH = 5
_ODD = 0x9E3779B97F4A7C15


def normalize_text(text: str) -> str:
    """Return the text in NFKC, case folded, with single spaces; "" if it has no words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def hash_text(normalized: str) -> int:
    """Return the first 64 bits of the SHA-256 of a whole text."""
    return int.from_bytes(hashlib.sha256(normalized.encode("utf-8", "replace")).digest()[:8], "big")


def hash_runs(normalized: str) -> "Hashes":
    """Return a 64-bit hash of each run of a text, in order and with repetitions. A short text is one run, an empty one none."""
    import numpy as np

    if len(normalized) <= RUN_LENGTH:
        return np.array([hash_text(normalized)] if normalized else [], dtype=np.uint64)
    codes = np.frombuffer(normalized.encode("utf-32-le", "replace"), dtype="<u4").astype(np.uint64)
    runs = len(codes) - RUN_LENGTH + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for offset in range(RUN_LENGTH):
        hashes = (hashes ^ codes[offset : offset + runs]) * np.uint64(_ODD)
        hashes ^= hashes >> np.uint64(29)
    return hashes


EXACT = "exact"
USUAL_THRESHOLD = 0.9
"""The proposed threshold. From this similarity on, leads are warned if they grade two documents differently."""
LOWEST_THRESHOLD = 0.5
PERMUTATIONS = 128
SEED = 1
MISSED_AT_MOST = 1e-5
_BATCH = 1_000
_BLOCK = 1_024
_KEPT_HASHES = 4_096


def read_threshold(text: str) -> float | None:
    """Return the typed threshold; None for "exact". Raises ValidationError for anything else."""
    if text.strip().casefold() == EXACT:
        return None
    try:
        threshold = float(text)
    except ValueError:
        threshold = -1.0
    if not LOWEST_THRESHOLD <= threshold <= 1:
        raise ValidationError(
            say(
                "near duplicates: expected “exact” or a similarity from {lowest} to 1, found {found!r}",
                lowest=LOWEST_THRESHOLD,
                found=text,
            )
        )
    return threshold


def choose_bands(threshold: float) -> tuple[int, int]:
    """Return (bands, permutations per band), with the longest bands that miss at most MISSED_AT_MOST of the pairs."""
    lengths = (
        length
        for length in range(PERMUTATIONS, 1, -1)
        if (1 - threshold**length) ** (PERMUTATIONS // length) <= MISSED_AT_MOST
    )
    length = next(lengths, 1)
    return PERMUTATIONS // length, length


class SimilarTexts:
    """The band keys of texts, which find near duplicates without comparing all pairs.

    Keeps a few hundred bytes per text, not the text. `texts`: (document_pk, text). `threshold`: None for
    exact duplicates.
    """

    def __init__(self, threshold: float | None, texts: Iterable[tuple[int, str]]) -> None:
        self.threshold = threshold
        self._keys: dict[int, Keys] = {}
        for batch in _cut_batches(texts):
            self._add(batch)

    def list_suspects(self, documents: Iterable[int]) -> set[int]:
        """Return the documents that may be near duplicates of each other: their texts must be compared."""
        import numpy as np

        pks = [document for document in documents if document in self._keys]
        if not pks:
            return set()
        keys = np.stack([self._keys[document] for document in pks])
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = np.flatnonzero((counts[numbers.reshape(keys.shape)] > 1).any(axis=1))
        return {pks[number] for number in shared}

    def find_duplicates(
        self, ranked: Sequence[int], in_pool: Collection[int], texts: Mapping[int, str]
    ) -> dict[int, int]:
        """Return {document to leave out: the first better ranked document that is judged instead}.

        `ranked`: the documents of one query, each once; first those `in_pool`, which are never left out, then
        the best ranked. `texts`: at least of the suspects.
        """
        is_similar = _make_comparison(texts, self.threshold)
        kept_by_key: dict[int, list[int]] = {}
        left_out: dict[int, int] = {}
        for position, document in enumerate(ranked):
            if document not in self._keys or document not in texts:
                continue
            keys = self._keys[document].tolist()
            if document not in in_pool:
                earlier = sorted({kept for key in keys for kept in kept_by_key.get(key, ())})
                kept = next((ranked[at] for at in earlier if is_similar(document, ranked[at])), None)
                if kept is not None:
                    left_out[document] = kept
                    continue
            for key in keys:
                kept_by_key.setdefault(key, []).append(position)
        return left_out

    def _add(self, batch: Sequence[tuple[int, str]]) -> None:
        import numpy as np

        normalized = [(document, normalize_text(text)) for document, text in batch]
        normalized = [(document, text) for document, text in normalized if text]
        if not normalized:
            return
        if self.threshold is None:
            for document, text in normalized:
                self._keys[document] = np.array([hash_text(text)], dtype=np.uint64)
            return
        signatures = np.stack([make_signature(hash_runs(text)) for _, text in normalized])
        bands, length = choose_bands(self.threshold)
        cut = signatures[:, : bands * length].reshape(-1, bands, length).astype(np.uint64)
        keys = np.tile(np.arange(bands, dtype=np.uint64), (len(cut), 1))
        for column in range(length):
            keys = (keys ^ cut[:, :, column]) * np.uint64(_ODD)
            keys ^= keys >> np.uint64(29)
        self._keys.update((document, row) for (document, _), row in zip(normalized, keys, strict=True))


@lru_cache(maxsize=1)
def _make_permutations() -> "tuple[NDArray[np.uint32], NDArray[np.uint32]]":
    from datasketch import MinHash

    factors, offsets = MinHash(num_perm=PERMUTATIONS, seed=SEED).permutations
    return factors[:, None], offsets[:, None]


def make_signature(hashes: "Keys") -> "NDArray[np.uint32]":
    """Return the MinHash of a text's runs: the values of datasketch for the upper 32 bits of each hash.

    datasketch's `update_batch` takes a list of Python numbers, which needs twice the time of the arithmetic.
    """
    import numpy as np

    factors, offsets = _make_permutations()
    values = (hashes >> np.uint64(32)).astype(np.uint32)
    values ^= values >> np.uint32(16)  # the finalizer of MurmurHash3, as datasketch mixes its input
    values *= np.uint32(0x85EBCA6B)
    values ^= values >> np.uint32(13)
    values *= np.uint32(0xC2B2AE35)
    values ^= values >> np.uint32(16)
    smallest = np.full(PERMUTATIONS, np.iinfo(np.uint32).max, dtype=np.uint32)
    workspace = np.empty((PERMUTATIONS, min(_BLOCK, len(values))), dtype=np.uint32)
    for start in range(0, len(values), _BLOCK):
        some = values[start : start + _BLOCK]
        permuted = np.multiply(factors, some, out=workspace[:, : len(some)])
        permuted += offsets
        np.minimum(smallest, permuted.min(axis=1), out=smallest)
    return smallest


def measure_similarity(first: "Keys", second: "Keys") -> float:
    """Return the Jaccard similarity of two sorted arrays of different hashes; 0 if one is empty."""
    import numpy as np

    if not len(first) or not len(second):
        return 0.0
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / (len(first) + len(second) - shared)


def _make_comparison(texts: Mapping[int, str], threshold: float | None) -> Callable[[int, int], bool]:
    """Return a function that decides whether the texts of two documents are near duplicates."""
    import numpy as np

    if threshold is None:
        return lambda document, other: normalize_text(texts[document]) == normalize_text(texts[other])

    @lru_cache(maxsize=_KEPT_HASHES)
    def list_runs(document: int) -> "Keys":
        return np.unique(hash_runs(normalize_text(texts[document])))

    def is_similar(document: int, other: int) -> bool:
        runs, others = list_runs(document), list_runs(other)
        if min(len(runs), len(others)) < threshold * max(len(runs), len(others)) * (1 - 1e-9):
            return False  # they cannot share enough, by their numbers alone
        return measure_similarity(runs, others) >= threshold

    return is_similar


def _cut_batches(texts: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    rest = iter(texts)
    while batch := list(islice(rest, _BATCH)):
        yield batch
