"""How often a claim passes wrongly when its sample is drawn in several steps and looked at after each.

Each look is exact for itself (`bounds.py`); whoever draws more whenever it does not pass has several chances.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from annotator.quality.bounds import count_first_too_many, is_proven
from annotator.quality.records import CONFIDENCE, LIMIT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEGLIGIBLE = 1e-12  # a number of errors less likely than that is left out


def find_chance_of_passing(
    sizes: Sequence[int], population: int, *, limit: float = LIMIT, confidence: float = CONFIDENCE
) -> float:
    """The probability that the claim passes at one of these sizes of the sample (ascending), when the population holds
    just too many errors for it. With one size at most 1 - confidence."""
    import numpy as np

    too_many = count_first_too_many(population, limit=limit)
    passes = [_count_allowed(size, population, limit=limit, confidence=confidence) for size in sizes]
    kept = max(passes) + 1  # with more errors than that it passes at no look any more
    chances = np.zeros(kept)  # of each number of errors, as long as it has not passed
    if kept:
        chances[0] = 1.0
    passed = 0.0
    for (before, size), allowed in zip(pairwise([0, *sizes]), passes, strict=True):
        after = np.zeros(kept)
        for errors in np.nonzero(chances > NEGLIGIBLE)[0]:
            drawn = _list_chances(
                kept - int(errors), population - before, too_many - int(errors), size - before
            )
            after[errors:] += chances[errors] * drawn
        passed += float(after[: allowed + 1].sum())
        after[: allowed + 1] = 0.0
        chances = after
    return passed


def _list_chances(first: int, population: int, errors: int, size: int) -> "NDArray[np.float64]":
    """The probabilities of 0 to `first` - 1 errors in a sample (hypergeometric; scipy's own takes 20 times as long)."""
    import numpy as np
    from scipy.special import gammaln

    def log_ways(there: "NDArray[np.int64] | int", taken: "NDArray[np.int64] | int") -> "NDArray[np.float64]":
        ways: NDArray[np.float64] = (
            gammaln(np.add(there, 1.0))
            - gammaln(np.add(taken, 1.0))
            - gammaln(np.subtract(there, taken) + 1.0)
        )
        return ways

    found = np.zeros(first)
    drawn = np.arange(max(0, size - (population - errors)), min(first - 1, errors, size) + 1)
    found[drawn] = np.exp(
        log_ways(errors, drawn) + log_ways(population - errors, size - drawn) - log_ways(population, size)
    )
    return found


def _count_allowed(size: int, population: int, *, limit: float, confidence: float) -> int:
    """The most errors in a sample of this size with which the claim passes; -1 when it cannot."""
    low, high = -1, size
    while low < high:
        middle = (low + high + 1) // 2
        if is_proven(middle, size, population, limit=limit, confidence=confidence):
            low = middle
        else:
            high = middle - 1
    return low
