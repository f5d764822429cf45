"""Test whether two systems differ, from their scores on the same queries.

Differences are scores of system B minus scores of system A, one for each query. Differences within 1e-12 of
each other count as equal, and differences within 1e-12 of 0 as 0, so that 0.1 + 0.2 − 0.3 is a tie.

- Paired t-test: Student (1908); recommended for IR by Urbano, Lima and Hanjalic (SIGIR 2019).
- Wilcoxon signed-rank test: Wilcoxon (1945). Zeros are dropped and ties get their mean rank. The p-value is
  exact even with ties: it counts all assignments of signs to the actual ranks.
- Randomization test: Fisher (1935); Smucker, Allan and Carterette (CIKM 2007).
- Holm's correction: Holm (1979).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EQUAL_WITHIN = 1e-12
EXACT_UP_TO = 20
"""With up to this many non-zero differences the randomization test counts every assignment of signs."""
EXACT_WILCOXON_UP_TO = 200
"""With more non-zero differences than this the Wilcoxon test is a normal approximation."""
RANDOMIZATIONS = 10_000
CACHED_ASSIGNMENTS = 200
"""Assignments of signs compared at a time. They fit the processor's cache, and one byte can count them."""


@dataclass(frozen=True, slots=True)
class PairedTTest:
    """A two-sided paired t-test. With fewer than two queries or equal differences all but `sd` are None."""

    t: float | None
    p: float | None
    ci95: tuple[float, float] | None
    cohens_d: float | None  # mean of the differences over their standard deviation
    sd: float  # standard deviation of the differences (n − 1); 0 with fewer than two queries


@dataclass(frozen=True, slots=True)
class WilcoxonTest:
    """A two-sided Wilcoxon signed-rank test. `statistic`: the smaller sum of ranks."""

    statistic: float
    p: float
    exact: bool


@dataclass(frozen=True, slots=True)
class RandomizationTest:
    """A two-sided randomization test of the mean difference. `exact`: all assignments of signs were counted."""

    p: float
    exact: bool


def round_differences(scores_a: Floats, scores_b: Floats) -> Floats:
    """Return B − A for each query, rounded so that equal differences are equal numbers."""
    return np.asarray(np.round((scores_b - scores_a) / EQUAL_WITHIN) * EQUAL_WITHIN, dtype=np.float64)


def run_t_tests(differences: Floats) -> list[PairedTTest]:
    """Return the paired t-test and Cohen's d of each column of `differences` (queries x comparisons)."""
    from scipy.special import stdtr, stdtrit

    count, comparisons = differences.shape
    if count < 2:
        return [PairedTTest(None, None, None, None, 0.0)] * comparisons
    rows = np.ascontiguousarray(differences.T)  # numpy adds up a row in the same order as a single column
    means, deviations = rows.mean(axis=1), rows.std(axis=1, ddof=1)
    varies = deviations > EQUAL_WITHIN
    errors = np.where(varies, deviations, 1.0) / math.sqrt(count)
    statistics = means / errors
    reaches = float(stdtrit(count - 1, 0.975)) * errors
    columns = (
        varies,
        statistics,
        2 * stdtr(count - 1, -np.abs(statistics)),
        means - reaches,
        means + reaches,
        means / np.where(varies, deviations, 1.0),
        deviations,
    )
    return [
        PairedTTest(statistic, p, (low, high), cohens_d, deviation)
        if differs
        else PairedTTest(None, None, None, None, deviation)
        for differs, statistic, p, low, high, cohens_d, deviation in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def run_wilcoxon_tests(differences: Floats) -> list[WilcoxonTest]:
    """Return the Wilcoxon signed-rank test of each column of `differences` (queries x comparisons).

    Zeros are dropped and ties get their mean rank; exact up to EXACT_WILCOXON_UP_TO non-zero differences.
    """
    from scipy.special import ndtr

    if not len(differences):
        return [WilcoxonTest(0.0, 1.0, True)] * differences.shape[1]
    rows = np.ascontiguousarray(differences.T)
    sizes = np.abs(rows)
    changed = sizes > EQUAL_WITHIN
    # Zeros are sorted last, so that they do not change the ranks of the other differences.
    sizes = np.where(changed, np.round(sizes / EQUAL_WITHIN), np.inf)
    ranks = np.where(changed, _double_ranks(sizes), 0)
    counts, totals = changed.sum(axis=1), ranks.sum(axis=1)
    positive = np.where(rows > 0, ranks, 0).sum(axis=1)
    smaller = np.minimum(positive, totals - positive)
    is_exact = counts <= EXACT_WILCOXON_UP_TO
    exact = iter(_list_exact_p_values(ranks[is_exact], smaller[is_exact]))
    # Of the doubled sum, ties included. A column without any change is exact.
    variances = np.where(is_exact, 1.0, (ranks.astype(np.float64) ** 2).sum(axis=1) / 4)
    approximate = 2 * ndtr((smaller - totals / 2) / np.sqrt(variances))
    return [
        WilcoxonTest(statistic / 2, min(1.0, next(exact) if counted else p), counted)
        for statistic, counted, p in zip(
            smaller.tolist(), is_exact.tolist(), approximate.tolist(), strict=True
        )
    ]


def _double_ranks(sizes: Floats) -> NDArray[np.int64]:
    """Return twice the rank (from 1) of each value in its row; equal values share their mean rank.

    scipy.stats.rankdata does the same, but scipy.stats takes a second to import, and the page Evaluation
    would wait for it.
    """
    order = np.argsort(sizes, axis=1, kind="stable")
    ordered = np.take_along_axis(sizes, order, axis=1)
    begins = np.ones(sizes.shape, dtype=bool)  # a group of equal values
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=sizes.size)
    doubled = np.repeat(2 * (starts % sizes.shape[1]) + lengths + 1, lengths).reshape(sizes.shape)
    ranks = np.empty(sizes.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, doubled, axis=1)
    return ranks


def _list_exact_p_values(ranks: NDArray[np.int64], smaller: NDArray[np.int64]) -> list[float]:
    """Return the two-sided p-value of each row of doubled ranks.

    `smaller`: for each row the smaller sum of signed ranks. Rows with the same ranks share one distribution.
    """
    ordered = np.sort(ranks, axis=1)
    reached: dict[bytes, int] = {}
    keys = [row.tobytes() for row in ordered]
    for key, statistic in zip(keys, smaller.tolist(), strict=True):
        reached[key] = max(statistic, reached.get(key, 0))
    distributions = {
        key: _accumulate_rank_sums(np.frombuffer(key, dtype=np.int64), most) for key, most in reached.items()
    }
    return [
        2 * float(distributions[key][statistic])
        for key, statistic in zip(keys, smaller.tolist(), strict=True)
    ]


def _accumulate_rank_sums(doubled_ranks: NDArray[np.int64], most: int) -> Floats:
    """Return P(sum of positive doubled ranks <= value) for each value from 0 to `most`.

    Each sign is + or − with probability 1/2. Zeros among the ranks are ignored.
    """
    sums = np.zeros(most + 1)  # the number of assignments of signs by their sum
    sums[0] = 1.0
    ranks = doubled_ranks[doubled_ranks > 0].tolist()
    for rank in ranks:
        if rank > most:
            break
        sums[rank:] += sums[: most + 1 - rank].copy()
    return np.cumsum(sums) / 2.0 ** len(ranks)


def run_randomization_tests(
    differences: Floats, *, seed: int, resamples: int = RANDOMIZATIONS
) -> list[RandomizationTest]:
    """Return a randomization test for each column of `differences` (queries x comparisons).

    A column with at most EXACT_UP_TO non-zero differences is counted exactly. The others share `resamples`
    random assignments of signs drawn with `seed`; p = (1 + number as extreme) / (1 + resamples), so it is
    never 0.
    """
    changed = np.abs(differences) > EQUAL_WITHIN
    counts = changed.sum(axis=0)
    tests: dict[int, RandomizationTest] = {}
    for column in np.flatnonzero(counts <= EXACT_UP_TO):
        column_differences = differences[changed[:, column], column]
        tests[int(column)] = RandomizationTest(_count_sign_assignments(column_differences), True)
    sampled = np.flatnonzero(counts > EXACT_UP_TO)
    if len(sampled):
        sampled_differences = differences[:, sampled]
        reach = np.abs(sampled_differences.sum(axis=0)) - EQUAL_WITHIN * len(differences)
        extreme = np.zeros(len(sampled), dtype=np.int64)
        random, queries = np.random.default_rng(seed), len(differences)
        at_once = max(1, 4_000_000 // max(queries, len(sampled)))
        for start in range(0, resamples, at_once):
            rows = min(at_once, resamples - start)
            signs = random.integers(0, 2, size=(rows, queries), dtype=np.int8).astype(np.float64) * 2 - 1
            for first in range(0, rows, CACHED_ASSIGNMENTS):
                sums = signs[first : first + CACHED_ASSIGNMENTS] @ sampled_differences
                is_extreme = np.abs(sums, out=sums) >= reach
                extreme += is_extreme.view(np.uint8).sum(axis=0, dtype=np.uint8)
        for column, count in zip(sampled, extreme, strict=True):
            tests[int(column)] = RandomizationTest((1 + int(count)) / (1 + resamples), False)
    return [tests[column] for column in range(differences.shape[1])]


def _count_sign_assignments(differences: Floats) -> float:
    """Return the share of all assignments of signs whose sum is at least as far from 0 as the observed one.

    The differences are split into two halves. Each sum of one half is searched in the sorted sums of the
    other half, so 20 differences take 2 × 1,024 sums instead of 1,048,576.
    """
    if len(differences) == 0:
        return 1.0
    reach = abs(float(differences.sum())) - EQUAL_WITHIN * len(differences)
    half = len(differences) // 2
    first, second = _list_signed_sums(differences[:half]), np.sort(_list_signed_sums(differences[half:]))
    above = len(second) - np.searchsorted(second, reach - first, side="left")
    below = np.searchsorted(second, -reach - first, side="right")
    if reach <= 0:
        return 1.0
    return float((above + below).sum()) / (len(first) * len(second))


def _list_signed_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def adjust_holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted by Holm's step-down method. An undefined p-value stays None and is not counted."""
    defined = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for position, (p, index) in enumerate(defined):
        highest = max(highest, min(1.0, p * (len(defined) - position)))
        adjusted[index] = highest
    return adjusted
