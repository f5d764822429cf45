"""Find annotators who give one grade almost throughout, and measure agreement without them.

Names an annotator only if the others surely give this grade less often on the same pairs. The claim is
corrected for the number of annotators.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.agreement.coefficients import coincidences, krippendorff_alpha
from annotator.agreement.comparisons import Comparisons
from annotator.agreement.intervals import cluster_interval, confidence
from annotator.agreement.judgment_table import (
    CATEGORIES,
    Flags,
    GradedJudgments,
    count_by_annotator,
    count_grades,
    number_rows,
)
from annotator.agreement.records import (
    FEW_PAIRS,
    CoefficientValue,
    MeasuredAgreement,
    PairAgreement,
)

ALMOST_ALL = 0.95
DIFFERS_BY = 0.2


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
    if interval is None or interval[0] <= 0 or difference.value < DIFFERS_BY:
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
