"""Estimate the benefit and the cost of new pairs before they are judged: expected relevant pairs, and hours.

Expected relevant pairs: each band of best ranks has a share of relevant pairs among the judged pairs of the
same lists. This share applies to the new pairs of the band. A band with fewer than LEAST_JUDGED judged pairs
gives no estimate. The normal interval includes the spread of the new pairs and of the share, with p =
(relevant + 1/2) / (judged + 1). The estimate tends to be too high: documents of many systems are pooled and
judged first, and are relevant more often.
"""

from math import sqrt
from statistics import NormalDist, median

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import say, say_n
from annotator.pooling.rounds.pool_records import ExpectedRelevant, LabelingEffort, PairsPerQuery

BANDS = (1, 2, 4, 6, 11, 21, 51, 101, 201, 501)  # the first rank of each
LEAST_JUDGED = 10
LEAST_TIMED = 10
_Z = NormalDist().inv_cdf(0.975)


def expect_relevant(
    new: NDArray[np.integer], judged: NDArray[np.integer], relevant: NDArray[np.bool_]
) -> ExpectedRelevant:
    """Estimate how many new pairs are relevant.

    `new`: the best rank of each new pair. `judged`, `relevant`: the best rank of each judged pair, and
    whether it is relevant.
    """
    if not len(new):
        return ExpectedRelevant(None, None, 0, 0, say("there are no new pairs"))
    if not len(judged):
        why = say("none of the candidates is judged yet")
        return ExpectedRelevant(None, None, 0, len(new), why)
    new_counts, judged_counts = _count_bands(new), _count_bands(judged)
    relevant_counts = _count_bands(judged[relevant])
    expected = variance = 0.0
    covered = 0
    for count, judged_here, positive in zip(
        new_counts.tolist(), judged_counts.tolist(), relevant_counts.tolist(), strict=True
    ):
        if not count or judged_here < LEAST_JUDGED:
            continue
        covered += count
        expected += count * positive / judged_here
        share = (positive + 0.5) / (judged_here + 1)
        variance += share * (1 - share) * (count + count**2 / judged_here)
    if not covered:
        why = say(
            "fewer than {least} candidates are judged at each rank that the new pairs have",
            least=LEAST_JUDGED,
        )
        return ExpectedRelevant(None, None, 0, len(new), why)
    half = _Z * sqrt(variance)
    interval = (max(0.0, expected - half), min(float(covered), expected + half))
    unknown = len(new) - covered
    why = say_n(
        "{n:,} more pair cannot be estimated: too few candidates at its rank are judged",
        "{n:,} more pairs cannot be estimated: too few candidates at their ranks are judged",
        unknown,
    )
    return ExpectedRelevant(expected, interval, covered, unknown, why if unknown else None)


def _count_bands(ranks: NDArray[np.integer]) -> NDArray[np.int64]:
    numbers = np.searchsorted(BANDS, ranks, side="right") - 1
    return np.bincount(numbers, minlength=len(BANDS))


def estimate_effort(judgments: int, timed: int, seconds: float | None) -> LabelingEffort:
    """Estimate the hours for these judgments, if at least LEAST_TIMED have a time. `seconds`: the median of `timed` ones."""
    if seconds is None or timed < LEAST_TIMED:
        why = say_n(
            "the pace is not measured yet: {n:,} judgment has a time, {least} are needed",
            "the pace is not measured yet: {n:,} judgments have a time, {least} are needed",
            timed,
            least=LEAST_TIMED,
        )
        return LabelingEffort(judgments, None, None, why)
    return LabelingEffort(judgments, seconds, judgments * seconds / 3600)


def describe_per_query(counts: NDArray[np.int64]) -> PairsPerQuery:
    """Return the median, minimum and maximum of the counts of all queries."""
    values = counts.tolist() or [0]
    return PairsPerQuery(float(median(values)), min(values), max(values))
