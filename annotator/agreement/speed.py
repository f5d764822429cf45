"""Who judged some pairs suspiciously fast: far faster than is usual for them, and in less agreement there.

Neither alone is a sign of anything: easy pairs are quick, and hard ones are disputed. A judgment is quick when its
active time is below a quarter of the annotator's own median and below ten seconds (the normative threshold of Wise & Ma
2012, Setting response time thresholds, NCME, takes a tenth of an item's usual time and never more than ten seconds;
grading a text takes most of its time in reading, so that here the share is larger). An unknown time is never quick.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.claims import cluster_interval, confidence
from annotator.agreement.couples import Couples, Estimate, estimate_mean, subtract, tally
from annotator.agreement.judged import Flags, Floats, Ints, Judged
from annotator.domain.agreement import Interval
from annotator.domain.enough_pairs import FEW_PAIRS

SHARE_OF_MEDIAN = 0.25
MOST_SECONDS = 10.0
FEW_QUICK = 15
DIFFERS_BY = 0.1


@dataclass(frozen=True, slots=True)
class Quick:
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


def find_quick(judged: Judged, seconds: Floats, couples: Couples, names: Sequence[str]) -> tuple[Quick, ...]:
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
    hasty = _match(couples, len(names), quick)
    usual = _match(couples, len(names), known & ~quick)
    found = []
    for who in asked:
        ci95 = _differ(hasty[who], usual[who], level=confidence(len(asked)))
        if ci95:
            figures = (float(limits[who]), medians[who], hasty[who].value, usual[who].value)
            found.append(Quick(names[who], int(quick[judged.annotator == who].sum()), *figures, ci95))
    return tuple(found)


def _match(couples: Couples, annotators: int, counted: Flags) -> list[Estimate]:
    """The share of each annotator's `counted` judgments that match another's."""
    first, second = (counted[rows].astype(np.float64) for rows in (couples.left, couples.right))
    matching = couples.apart == 0
    sums = tally(couples, annotators, first * matching, second * matching)
    counts = tally(couples, annotators, first, second)
    return [estimate_mean(*own) for own in zip(sums, counts, strict=True)]


def _differ(hasty: Estimate, usual: Estimate, *, level: float) -> Interval | None:
    """The interval of how much less the hasty ones match; None unless they surely do."""
    difference = subtract(hasty, usual)
    strict = cluster_interval(difference, level=level)
    if usual.couples < FEW_PAIRS or strict is None or strict[1] >= 0 or difference.value > -DIFFERS_BY:
        return None
    return cluster_interval(difference)
