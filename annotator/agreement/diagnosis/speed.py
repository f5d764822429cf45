"""Find annotators who judged some pairs much faster than they usually do and agree less on those pairs.

Neither alone is a sign: easy pairs are quick, and hard ones lead to disagreement. A judgment is quick if its active
time is below a quarter of the annotator's median and below ten seconds. Wise & Ma (2012), Setting response time
thresholds, NCME, use a tenth of an item's usual time and at most ten seconds; the share is larger here because most of
the time is reading. Unknown times are never quick.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.intervals import cluster_interval, confidence
from annotator.agreement.judgment_pairs import FigureEstimate, JudgmentPairs, estimate_mean, subtract, tally
from annotator.agreement.judgment_table import Flags, Floats, GradedJudgments, Ints
from annotator.agreement.records import FEW_PAIRS, Interval

SHARE_OF_MEDIAN = 0.25
MOST_SECONDS = 10.0
FEW_QUICK = 15
DIFFERS_BY = 0.1


@dataclass(frozen=True, slots=True)
class QuickAnnotator:
    """An annotator whose quick judgments match the others' less than their other judgments do: `matching` of them
    against `usually`; `ci95` is of the difference (below 0). `judgments` of theirs took less than `limit` seconds, where
    `median` is usual; those that nobody else judged are among them."""

    annotator: str
    judgments: int
    limit: float
    median: float
    matching: float
    usually: float
    ci95: Interval


def find_medians(annotator: Ints, seconds: Floats, annotators: int) -> list[float]:
    """The usual active time of each annotator; NaN below FEW_PAIRS judgments of known time (above 0 seconds)."""
    known = seconds > 0
    order = np.argsort(annotator[known].astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(annotator[known], minlength=annotators))
    times = np.split(seconds[known][order], ends[:-1])
    return [float(np.median(own)) if len(own) >= FEW_PAIRS else float("nan") for own in times]


def find_limit(median: float) -> float:
    """Below how many seconds a judgment is quick, for whom this median is usual."""
    return min(SHARE_OF_MEDIAN * median, MOST_SECONDS) if median == median else float("nan")


def limit_quick(seconds: Sequence[float]) -> float | None:
    """Below how many seconds a judgment of the one who took these is quick; None where no time is usual for them."""
    times = np.array(seconds, dtype=np.float64)
    (median,) = find_medians(np.zeros(len(times), dtype=np.int64), times, 1)
    limit = find_limit(median)
    return limit if limit == limit else None


def find_quick(
    judged: GradedJudgments, seconds: Floats, couples: JudgmentPairs, names: Sequence[str]
) -> tuple[QuickAnnotator, ...]:
    """The annotators of whom it holds, by name's order. `seconds` of every judgment; 0, NaN: unknown."""
    if not len(couples.left):
        return ()
    medians = find_medians(judged.annotator, seconds, len(names))
    limits = np.array([find_limit(median) for median in medians])
    known = seconds > 0
    quick = known & (seconds < limits[judged.annotator])
    shared = np.zeros(len(quick), dtype=np.bool_)
    shared[couples.left] = shared[couples.right] = True
    counts = np.bincount(judged.annotator[quick & shared], minlength=len(names))
    asked = np.flatnonzero(counts >= FEW_QUICK).tolist()
    if not asked:
        return ()
    counted = [_tally_match(couples, len(names), flags) for flags in (quick, known & ~quick)]
    hasty, usual = ([estimate_mean(*own) for own in zip(*sums, strict=True)] for sums in counted)
    found = []
    for who in asked:
        ci95 = _differ(hasty[who], usual[who], level=confidence(len(asked)))
        if ci95 and _is_so_within_queries(*((sums[who], counts[who]) for sums, counts in counted)):
            figures = (float(limits[who]), medians[who], hasty[who].value, usual[who].value)
            found.append(
                QuickAnnotator(names[who], int(quick[judged.annotator == who].sum()), *figures, ci95)
            )
    return tuple(found)


def _tally_match(couples: JudgmentPairs, annotators: int, counted: Flags) -> tuple[Floats, Floats]:
    """Of each annotator's `counted` judgments (rows) in each query (columns), how many comparisons match, and how many there are."""
    first, second = (counted[rows].astype(np.float64) for rows in (couples.left, couples.right))
    matching = couples.apart == 0
    sums = tally(couples, annotators, first * matching, second * matching)
    counts = tally(couples, annotators, first, second)
    return sums, counts


def _is_so_within_queries(hasty: tuple[Floats, Floats], usual: tuple[Floats, Floats]) -> bool:
    """Whether quick judgments match less also than the others of the same query: somebody may be quick just where a query is
    hard, and everybody differs. True where too few are in queries that have both to tell."""
    both = (hasty[1] > 0) & (usual[1] > 0)
    if hasty[1][both].sum() < FEW_QUICK:
        return True
    shares = [matching[both] / counts[both] for matching, counts in (hasty, usual)]
    weights, apart = np.zeros(len(both)), np.zeros(len(both))
    weights[both] = hasty[1][both] * usual[1][both] / (hasty[1][both] + usual[1][both])
    apart[both] = weights[both] * (shares[0] - shares[1])
    difference = estimate_mean(apart, weights)
    interval = cluster_interval(difference)
    return interval is None or (interval[1] < 0 and difference.value <= -DIFFERS_BY)


def _differ(hasty: FigureEstimate, usual: FigureEstimate, *, level: float) -> Interval | None:
    """The interval of how much less the hasty ones match; None unless they surely do."""
    difference = subtract(hasty, usual)
    strict = cluster_interval(difference, level=level)
    if usual.couples < FEW_PAIRS or strict is None or strict[1] >= 0 or difference.value > -DIFFERS_BY:
        return None
    return cluster_interval(difference)
