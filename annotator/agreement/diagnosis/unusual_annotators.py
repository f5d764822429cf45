"""Find annotators who stand out: who agrees less, gives one grade throughout, or fails checks.

Each annotator is compared with all others in one table (rows: own grades, columns: others'), so that pairs of
annotators with few shared pairs do not distort the kappa, as they do in the mean over annotator pairs
(docs/statistics.md). Every claim is corrected for the number of annotators. The lowest and highest annotator pairs are
named only if they surely differ; a constant grade only if the others give it less often on the same pairs; failed
checks only with FEW_ANSWERS or more answers and an exact interval (Clopper and Pearson) wholly below the required
share.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from annotator.agreement.coefficients.krippendorff import coincidences, krippendorff_alpha
from annotator.agreement.diagnosis.drift import TOO_FEW_QUERIES
from annotator.agreement.intervals import cluster_interval, confidence, exact_interval
from annotator.agreement.judgment_pairs import (
    FigureEstimate,
    JudgmentPairs,
    estimate_kappa,
    estimate_mean,
    estimate_table,
    estimate_tables,
    subtract,
)
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    Flags,
    GradedJudgments,
    Ints,
    count_by_annotator,
    count_grades,
    number_rows,
)
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    CoefficientValue,
    Interval,
    MeasuredAgreement,
    PairAgreement,
)
from annotator.domain.messages import say
from annotator.labeling.records import AnnotatorResult

LESS_BY = 0.1
NO_VARIATION = say("without variation in these comparisons kappa is undefined")
_TURNED = np.arange(CELLS).reshape(CATEGORIES, CATEGORIES).T.ravel()


@dataclass(frozen=True, slots=True)
class LowAgreementAnnotator:
    """An annotator whose kappa with all the others together is surely below that of all comparisons (`everybody`)."""

    annotator: str
    kappa: CoefficientValue
    couples: int
    everybody: float


def estimate_against_others(
    couples: JudgmentPairs, annotators: int
) -> tuple[tuple[int, FigureEstimate], ...]:
    """Estimate the kappa with all the others together of each annotator who has comparisons: (number, estimate)."""
    who: Ints = np.concatenate([couples.first, couples.second])
    cell = np.concatenate([couples.cell, _TURNED[couples.cell]])
    query = np.tile(couples.query, 2)
    return tuple(estimate_tables(who, cell, query, queries=couples.queries, tables=annotators))


def measure_against_others(
    estimates: Iterable[tuple[int, FigureEstimate]], names: Sequence[str]
) -> dict[str, CoefficientValue]:
    """Return each annotator's kappa with all the others together, with its 95 % interval; who shares no pair is not in it."""
    found = {}
    for who, own in estimates:
        ci95 = cluster_interval(own)
        if np.isnan(own.value):
            found[names[who]] = CoefficientValue(None, None, NO_VARIATION)
        else:
            found[names[who]] = CoefficientValue(own.value, ci95, None if ci95 else TOO_FEW_QUERIES)
    return found


def find_less(
    couples: JudgmentPairs, estimates: Iterable[tuple[int, FigureEstimate]], names: Sequence[str]
) -> tuple[LowAgreementAnnotator, ...]:
    """Find who agrees surely less with the others than everybody does, those first who weigh most. `couples` and the
    `estimates` of them are without those of whom something worse is said already: beside them all others look bad."""
    estimates = [
        (who, own)
        for who, own in estimates
        if own.couples >= FEW_PAIRS and int(own.seen.sum()) >= FEW_QUERIES and not np.isnan(own.value)
    ]
    if len(estimates) < 3:
        return ()
    both = np.concatenate([couples.cell, _TURNED[couples.cell]])
    everybody = estimate_table(both, np.tile(couples.query, 2), couples.queries)
    level = confidence(len(estimates))
    found = []
    for who, own in estimates:
        difference = subtract(own, everybody)
        interval = cluster_interval(difference, level=level)
        if interval is not None and interval[1] < 0 and difference.value <= -LESS_BY:
            value = CoefficientValue(own.value, cluster_interval(own))
            found.append(LowAgreementAnnotator(names[who], value, own.couples, everybody.value))
    found.sort(key=lambda one: (-(one.everybody - (one.kappa.value or 0.0)) * one.couples, one.annotator))
    return tuple(found)


def find_extremes(
    measured: MeasuredAgreement, couples: JudgmentPairs, names: Sequence[str]
) -> tuple[PairAgreement, PairAgreement] | None:
    """Return the lowest and the highest by kappa of those who share enough (`warning`), if the difference of the two is as sure
    as the number of annotator pairs calls for; else None."""
    known = [
        (value, pair.annotators, pair)
        for pair in measured.annotator_pairs
        if pair.warning is None and (value := pair.cohen_kappa["unweighted"].value) is not None
    ]
    if len(known) < 2:
        return None
    known.sort(key=lambda one: one[:2])
    low, high = known[0][2], known[-1][2]
    places = {name: place for place, name in enumerate(names)}
    least, most = (
        estimate_kappa(
            couples.take(
                (couples.first == places[pair.annotators[0]]) & (couples.second == places[pair.annotators[1]])
            ),
            len(names),
        )
        for pair in (low, high)
    )
    level = confidence(len(known) * (len(known) - 1))
    interval = cluster_interval(subtract(least, most), level=level)
    return (low, high) if interval is not None and interval[1] < 0 else None


ALMOST_ALL = 0.95
DIFFERS_BY = 0.2


@dataclass(frozen=True, slots=True)
class ConstantAnnotator:
    """An annotator who gave `grade` in the share `own` of `judgments` on shared pairs; the others gave it, on the same pairs,
    in the share `others`."""

    annotator: str
    grade: int
    judgments: int
    own: float
    others: float


@dataclass(frozen=True, slots=True)
class ConstantAnnotators:
    """All such annotators, those first who weigh most; `share` of the judgments on shared pairs is theirs. `alpha_without`
    them (ordinal; NaN: undefined) rests on `pairs_without` pairs."""

    people: tuple[ConstantAnnotator, ...]
    share: float
    alpha_without: float
    pairs_without: int


def find_constants(
    judged: GradedJudgments, couples: JudgmentPairs, names: Sequence[str]
) -> ConstantAnnotators:
    """Find who gives one grade almost throughout. `couples`: of `judged`; `names[n]` is annotator n."""
    shared = judged.shared()
    counts = count_by_annotator(shared, len(names))
    judgments, grade = counts.sum(axis=1), counts.argmax(axis=1)
    suspects = np.flatnonzero((judgments >= FEW_PAIRS) & (counts.max(axis=1) >= ALMOST_ALL * judgments))
    level = confidence(int((judgments >= FEW_PAIRS).sum()))
    found = []
    for who in suspects.tolist():
        one = _compare(couples, who, int(grade[who]), level)
        if one is not None:
            own = float(counts[who].max() / judgments[who])
            found.append(ConstantAnnotator(names[who], int(grade[who]), int(judgments[who]), own, one))
    found.sort(key=lambda one: (-(one.own - one.others) * one.judgments, one.annotator))
    places = {name: place for place, name in enumerate(names)}
    theirs = np.isin(shared.annotator, [places[one.annotator] for one in found])
    alpha, pairs = measure_without(shared, theirs) if found else (float("nan"), 0)
    return ConstantAnnotators(tuple(found), float(theirs.mean()) if len(theirs) else 0.0, alpha, pairs)


def _compare(couples: JudgmentPairs, who: int, grade: int, level: float) -> float | None:
    """The share of this grade among the others' judgments of the annotator's pairs; None unless it is surely lower than the
    annotator's own."""
    own = couples.take((couples.first == who) | (couples.second == who))
    first, second = own.cell // CATEGORIES == grade, own.cell % CATEGORIES == grade
    is_first = own.first == who
    theirs = np.where(is_first, second, first).astype(np.float64)
    mine = np.where(is_first, first, second).astype(np.float64)
    counts = np.bincount(own.query, minlength=own.queries).astype(np.float64)
    sums = np.asarray(np.bincount(own.query, weights=mine - theirs, minlength=own.queries), dtype=np.float64)
    difference = estimate_mean(sums, counts)
    interval = cluster_interval(difference, level=level)
    if interval is None or interval[0] <= 0 or difference.value < DIFFERS_BY:
        return None
    return float(theirs.mean())


def measure_without(shared: GradedJudgments, left_out: Flags) -> tuple[float, int]:
    """Return ordinal alpha of the judgments that stay, and over how many pairs."""
    rest = shared.where(~left_out).shared()
    counts = count_grades(rest).counts
    if not len(counts):
        return float("nan"), 0
    patterns, pattern = number_rows(counts)
    times = np.bincount(pattern, minlength=len(patterns))
    table = np.tensordot(times.astype(np.float64), coincidences(patterns), axes=1)
    return float(krippendorff_alpha(table, "ordinal")), len(counts)


FEW_ANSWERS = 10
GOLD_RIGHT = 0.75
REPEATS_EQUAL = 0.75


@dataclass(frozen=True, slots=True)
class FailingAnnotator:
    """An annotator who fails a check: `right` of `of` answers were right, or equal to the first; `share` is its exact
    95 % interval. `difference`: of gold, the mean of given less right; of repeats, the mean distance."""

    kind: Literal["gold", "repeat"]
    annotator: str
    right: int
    of: int
    share: Interval
    difference: float | None


def find_failing(checks: Sequence[AnnotatorResult]) -> tuple[FailingAnnotator, ...]:
    """Those who fail on repeats, then those who fail on gold, each by username."""
    people = sorted(checks, key=lambda one: one.annotator)
    repeats = [(one.annotator, one.repeats.n, one.repeats.equal, one.repeats.difference) for one in people]
    gold = [(one.annotator, one.gold.answered, one.gold.exact, one.gold.difference) for one in people]
    return (*_find("repeat", repeats, REPEATS_EQUAL), *_find("gold", gold, GOLD_RIGHT))


def _find(
    kind: Literal["gold", "repeat"],
    answers: Sequence[tuple[str, int, float | None, float | None]],
    asked_for: float,
) -> list[FailingAnnotator]:
    asked = [one for one in answers if one[1] >= FEW_ANSWERS and one[2] is not None]
    found = []
    for annotator, of, share, difference in asked:
        right = round((share or 0.0) * of)
        if exact_interval(right, of, level=confidence(len(asked)))[1] < asked_for:
            found.append(FailingAnnotator(kind, annotator, right, of, exact_interval(right, of), difference))
    return found


def leave_out(
    measured: MeasuredAgreement, others: JudgmentPairs, named: Collection[str]
) -> MeasuredAgreement:
    """The figures that the findings about grades and annotator pairs rest on (`pairs`, `annotator_pairs` and `cohen_kappa`,
    without intervals), of the others alone; the rest as it was. `others`: their couples."""
    if not named:
        return measured
    kept = keep_pairs(measured, named)
    kappas = {kind: CoefficientValue(_average(kept, kind)) for kind in measured.cohen_kappa}
    return replace(measured, pairs=len(np.unique(others.place)), annotator_pairs=kept, cohen_kappa=kappas)


def keep_pairs(measured: MeasuredAgreement, named: Collection[str]) -> tuple[PairAgreement, ...]:
    """The annotator pairs that are of none of them."""
    left_out = frozenset(named)
    return tuple(pair for pair in measured.annotator_pairs if left_out.isdisjoint(pair.annotators))


def _average(pairs: tuple[PairAgreement, ...], kind: str) -> float | None:
    """The mean over annotator pairs, weighted by the pairs they share, as of the whole dataset (cohen.mean_kappa)."""
    known = [(pair.pairs, value) for pair in pairs if (value := pair.cohen_kappa[kind].value) is not None]
    return sum(n * value for n, value in known) / sum(n for n, _ in known) if known else None
