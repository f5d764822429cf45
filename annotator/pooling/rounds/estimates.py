"""Estimate what new pairs bring and cost before they are judged: expected relevant pairs, and hours. Pure rules.

Expected relevant: of the judged pairs that the same lists hold, the share judged relevant is taken by bands of their best rank,
and applied to the new pairs of the band. A band with fewer than LEAST_JUDGED judged pairs says nothing. The interval is normal: it
has the spread of the new pairs and that of the share, with p = (relevant + 1/2) / (judged + 1). Documents that many systems find
are pooled and judged first and are relevant more often, so that the estimate is rather too high.
"""

from math import sqrt
from statistics import NormalDist, median

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import say, say_n
from annotator.pooling.rounds.pool_records import ExpectedRelevant, LabelingEffort, PairsPerQuery

BANDS = (1, 2, 4, 6, 11, 21, 51, 101, 201, 501)
"""The first rank of each band."""
LEAST_JUDGED = 10
LEAST_TIMED = 10
_Z = NormalDist().inv_cdf(0.975)


def expect_relevant(
    new: NDArray[np.integer], judged: NDArray[np.integer], relevant: NDArray[np.bool_]
) -> ExpectedRelevant:
    """Return how many new pairs are expected to be relevant.

    `new`: the best rank of each new pair; `judged`: that of each judged pair, and whether it is `relevant`.
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
    for count, known, positive in zip(
        new_counts.tolist(), judged_counts.tolist(), relevant_counts.tolist(), strict=True
    ):
        if not count or known < LEAST_JUDGED:
            continue
        covered += count
        expected += count * positive / known
        share = (positive + 0.5) / (known + 1)
        variance += share * (1 - share) * (count + count**2 / known)
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
    """Return the hours that these judgments take at the median active time `seconds` of `timed` judgments."""
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
    """Return the median, least and most of the counts of each query, those without a new pair included."""
    values = counts.tolist() or [0]
    return PairsPerQuery(float(median(values)), min(values), max(values))
