"""Find annotators who judge some pairs in haste and agree less on them, and those who fail gold pairs or repeats.

Neither haste nor disagreement alone is a sign: easy pairs are quick, and hard pairs lead to disagreement. A
judgment is quick if its active time is below a quarter of the annotator's median and below ten seconds. Wise &
Ma (2012), Setting response time thresholds, NCME, use a tenth of an item's usual time and at most ten seconds.
The share is larger here because most of the time is reading. A judgment of unknown time is never quick.

Checks are tested from FEW_ANSWERS answers on. An annotator fails if the exact interval (Clopper and Pearson) of
the share of right or equal answers lies wholly below the required share, corrected for the number of
annotators.

Also finds annotators who give one grade almost throughout, and measures agreement without them. Names an
annotator only if the others surely give this grade less often on the same pairs. The claim is corrected for
the number of annotators.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from annotator.agreement.coefficients import coincidences, krippendorff_alpha
from annotator.agreement.comparisons import Comparisons, FigureEstimate, estimate_mean, subtract, tally
from annotator.agreement.intervals import cluster_interval, confidence, exact_interval
from annotator.agreement.judgment_table import (
    CATEGORIES,
    Flags,
    Floats,
    GradedJudgments,
    Ints,
    count_by_annotator,
    count_grades,
    number_rows,
)
from annotator.agreement.records import (
    FEW_PAIRS,
    CoefficientValue,
    Interval,
    MeasuredAgreement,
    PairAgreement,
)
from annotator.labeling.records import AnnotatorResult

SHARE_OF_MEDIAN = 0.25
MOST_SECONDS = 10.0
FEW_QUICK = 15
DIFFERS_BY = 0.1


@dataclass(frozen=True, slots=True)
class QuickAnnotator:
    """An annotator whose quick judgments match the others' less often than their other judgments do."""

    annotator: str
    judgments: int  # quick ones, including those on pairs that nobody else judged
    limit: float  # seconds below which a judgment is quick
    median: float  # usual seconds
    matching: float  # share of the quick judgments' comparisons that match
    usually: float  # share of the other judgments' comparisons that match
    ci95: Interval  # of the difference; below 0


def find_medians(annotator: Ints, seconds: Floats, annotators: int) -> list[float]:
    """Return each annotator's median seconds; NaN below FEW_PAIRS judgments of known time (> 0)."""
    timed = seconds > 0
    order = np.argsort(annotator[timed].astype(np.min_scalar_type(annotators)), kind="stable")
    ends = np.cumsum(np.bincount(annotator[timed], minlength=annotators))
    times = np.split(seconds[timed][order], ends[:-1])
    return [float(np.median(own)) if len(own) >= FEW_PAIRS else float("nan") for own in times]


def find_limit(median: float) -> float:
    """Return the number of seconds below which a judgment is quick, for an annotator with this median."""
    return min(SHARE_OF_MEDIAN * median, MOST_SECONDS) if median == median else float("nan")


def limit_quick(seconds: Sequence[float]) -> float | None:
    """Return the seconds below which a judgment is quick, from an annotator's times; None if unknown."""
    times = np.array(seconds, dtype=np.float64)
    (median,) = find_medians(np.zeros(len(times), dtype=np.int64), times, 1)
    limit = find_limit(median)
    return limit if limit == limit else None


def find_quick(
    judged: GradedJudgments, seconds: Floats, comparisons: Comparisons, names: Sequence[str]
) -> tuple[QuickAnnotator, ...]:
    """Find annotators whose quick judgments agree less. `seconds`: of every judgment; 0 or NaN: unknown."""
    if not len(comparisons.left):
        return ()
    medians = find_medians(judged.annotator, seconds, len(names))
    limits = np.array([find_limit(median) for median in medians])
    timed = seconds > 0
    quick = timed & (seconds < limits[judged.annotator])
    shared = np.zeros(len(quick), dtype=np.bool_)
    shared[comparisons.left] = shared[comparisons.right] = True
    counts = np.bincount(judged.annotator[quick & shared], minlength=len(names))
    tested = np.flatnonzero(counts >= FEW_QUICK).tolist()
    if not tested:
        return ()
    counted = [_tally_match(comparisons, len(names), flags) for flags in (quick, timed & ~quick)]
    hasty, usual = ([estimate_mean(*own) for own in zip(*sums, strict=True)] for sums in counted)
    found_annotators = []
    for who in tested:
        ci95 = _differ(hasty[who], usual[who], level=confidence(len(tested)))
        if ci95 and _match_less_within_queries(*((sums[who], counts[who]) for sums, counts in counted)):
            figures = (float(limits[who]), medians[who], hasty[who].value, usual[who].value)
            found_annotators.append(
                QuickAnnotator(names[who], int(quick[judged.annotator == who].sum()), *figures, ci95)
            )
    return tuple(found_annotators)


def _tally_match(comparisons: Comparisons, annotators: int, counted: Flags) -> tuple[Floats, Floats]:
    """Count the matching and all comparisons of `counted` judgments: annotators x queries."""
    first, second = (counted[rows].astype(np.float64) for rows in (comparisons.left, comparisons.right))
    matching = comparisons.apart == 0
    sums = tally(comparisons, annotators, first * matching, second * matching)
    counts = tally(comparisons, annotators, first, second)
    return sums, counts


def _match_less_within_queries(hasty: tuple[Floats, Floats], usual: tuple[Floats, Floats]) -> bool:
    """Return whether quick judgments also match less than the other judgments of the same query.

    An annotator may be quick on a hard query, on which everybody differs. True if too few judgments are on
    queries with both kinds.
    """
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
    """Return the interval of the difference in matching; None unless quick ones surely match less."""
    difference = subtract(hasty, usual)
    strict = cluster_interval(difference, level=level)
    if usual.comparisons < FEW_PAIRS or strict is None or strict[1] >= 0 or difference.value > -DIFFERS_BY:
        return None
    return cluster_interval(difference)


FEW_ANSWERS = 10
GOLD_RIGHT = 0.75
REPEATS_EQUAL = 0.75


@dataclass(frozen=True, slots=True)
class FailingAnnotator:
    """An annotator who fails a check."""

    kind: Literal["gold", "repeat"]
    annotator: str
    right: int  # right answers, or answers equal to the first
    of: int  # answers
    share: Interval  # exact 95 % interval of right / of
    difference: float | None  # gold: the mean of given minus right grade; repeats: the mean distance


def find_failing(checks: Sequence[AnnotatorResult]) -> tuple[FailingAnnotator, ...]:
    """Return the annotators who fail on repeats, then those who fail on gold, each by username."""
    people = sorted(checks, key=lambda result: result.annotator)
    repeats = [
        (annotator.annotator, annotator.repeats.n, annotator.repeats.equal, annotator.repeats.difference)
        for annotator in people
    ]
    gold = [
        (annotator.annotator, annotator.gold.answered, annotator.gold.exact, annotator.gold.difference)
        for annotator in people
    ]
    return (*_find("repeat", repeats, REPEATS_EQUAL), *_find("gold", gold, GOLD_RIGHT))


def _find(
    kind: Literal["gold", "repeat"],
    answers: Sequence[tuple[str, int, float | None, float | None]],
    asked_for: float,
) -> list[FailingAnnotator]:
    tested = [candidate for candidate in answers if candidate[1] >= FEW_ANSWERS and candidate[2] is not None]
    found_annotators = []
    for annotator, of, share, difference in tested:
        right = round((share or 0.0) * of)
        if exact_interval(right, of, level=confidence(len(tested)))[1] < asked_for:
            found_annotators.append(
                FailingAnnotator(kind, annotator, right, of, exact_interval(right, of), difference)
            )
    return found_annotators


ALMOST_ALL = 0.95
OTHERS_DIFFER_BY = 0.2


@dataclass(frozen=True, slots=True)
class ConstantAnnotator:
    """An annotator who gave one grade almost throughout."""

    annotator: str
    grade: int  # the grade
    judgments: int  # on shared pairs
    own: float  # share of this grade among the annotator's `judgments`
    others: float  # share of this grade among the others' judgments of the same pairs


@dataclass(frozen=True, slots=True)
class ConstantAnnotators:
    """All annotators who give almost always the same grade, sorted by effect, greatest first."""

    people: tuple[ConstantAnnotator, ...]
    share: float  # of the judgments on shared pairs
    alpha_without: float  # ordinal alpha of the other annotators; NaN if undefined
    pairs_without: int  # pairs on which `alpha_without` rests


def find_constants(
    judged: GradedJudgments, comparisons: Comparisons, names: Sequence[str]
) -> ConstantAnnotators:
    """Find annotators who almost always give one grade. `names[n]` is annotator n."""
    shared = judged.shared()
    counts = count_by_annotator(shared, len(names))
    judgments, grade = counts.sum(axis=1), counts.argmax(axis=1)
    suspects = np.flatnonzero((judgments >= FEW_PAIRS) & (counts.max(axis=1) >= ALMOST_ALL * judgments))
    level = confidence(int((judgments >= FEW_PAIRS).sum()))
    found: list[tuple[ConstantAnnotator, int]] = []
    for who in suspects.tolist():
        share_of_others = _compare(comparisons, who, int(grade[who]), level)
        if share_of_others is not None:
            own = float(counts[who].max() / judgments[who])
            constant = ConstantAnnotator(
                names[who], int(grade[who]), int(judgments[who]), own, share_of_others
            )
            found.append((constant, who))
    people = sorted(
        (constant for constant, _ in found),
        key=lambda constant: (-(constant.own - constant.others) * constant.judgments, constant.annotator),
    )
    is_constant = np.isin(shared.annotator, [who for _, who in found])
    alpha, pairs = measure_without(shared, is_constant) if found else (float("nan"), 0)
    return ConstantAnnotators(
        tuple(people), float(is_constant.mean()) if len(is_constant) else 0.0, alpha, pairs
    )


def _compare(comparisons: Comparisons, who: int, grade: int, level: float) -> float | None:
    """Return the share of this grade among the others' judgments of the same pairs.

    None unless it is surely lower than the annotator's own share.
    """
    own = comparisons.of(who)
    first, second = own.cell // CATEGORIES == grade, own.cell % CATEGORIES == grade
    is_first = own.first == who
    other_grade = np.where(is_first, second, first).astype(np.float64)
    own_grade = np.where(is_first, first, second).astype(np.float64)
    difference = own.estimate_mean(own_grade - other_grade)
    interval = cluster_interval(difference, level=level)
    if interval is None or interval[0] <= 0 or difference.value < OTHERS_DIFFER_BY:
        return None
    return float(other_grade.mean())


def measure_without(shared: GradedJudgments, left_out: Flags) -> tuple[float, int]:
    """Return ordinal alpha of the remaining judgments (NaN if undefined), and the number of pairs they share."""
    rest = shared.where(~left_out).shared()
    counts = count_grades(rest).counts
    if not len(counts):
        return float("nan"), 0
    patterns, pattern = number_rows(counts)
    times = np.bincount(pattern, minlength=len(patterns))
    table = np.tensordot(times.astype(np.float64), coincidences(patterns), axes=1)
    return float(krippendorff_alpha(table, "ordinal")), len(counts)


def leave_out(measured: MeasuredAgreement, others: Comparisons, named: Collection[str]) -> MeasuredAgreement:
    """Return the measured agreement without these annotators, for findings about grades and annotator pairs.

    Only `pairs`, `annotator_pairs` and `cohen_kappa` (without intervals) are computed again; the rest stays
    as it is. `others`: the comparisons of the remaining annotators.
    """
    if not named:
        return measured
    kept = keep_pairs(measured, named)
    kappas = {kind: CoefficientValue(_average(kept, kind)) for kind in measured.cohen_kappa}
    return replace(
        measured, pairs=len(np.unique(others.pair_number)), annotator_pairs=kept, cohen_kappa=kappas
    )


def keep_pairs(measured: MeasuredAgreement, named: Collection[str]) -> tuple[PairAgreement, ...]:
    """Return the annotator pairs that contain none of these annotators."""
    left_out = frozenset(named)
    return tuple(pair for pair in measured.annotator_pairs if left_out.isdisjoint(pair.annotators))


def _average(pairs: tuple[PairAgreement, ...], kind: str) -> float | None:
    """Return the mean over annotator pairs, weighted by the pairs they share (see `mean_kappa`)."""
    kappas = [(pair.pairs, value) for pair in pairs if (value := pair.cohen_kappa[kind].value) is not None]
    return sum(n * value for n, value in kappas) / sum(n for n, _ in kappas) if kappas else None
