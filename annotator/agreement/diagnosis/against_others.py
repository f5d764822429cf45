"""Find annotators who grade higher or lower than the others, or agree less, and the extreme annotator pairs.

If one annotator is lenient, all others look severe. So the one who leans most is named first, and another one
only if they still lean among those who are not named. Alpha depends only on how many annotators gave each
grade to a pair. Few such patterns occur, and alpha without an annotator is computed from their counts,
without another pass over the judgments.

For low agreement each annotator is compared with all others in one table (rows: own grades, columns: others'),
so that pairs of annotators with few shared pairs do not distort the kappa, as they do in the mean over annotator
pairs (docs/statistics.md). Every claim is corrected for the number of annotators. The lowest and highest
annotator pairs are named only if they surely differ.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.coefficients import coincidences, krippendorff_alpha
from annotator.agreement.comparisons import (
    Comparisons,
    FigureEstimate,
    estimate_kappa,
    estimate_leaning,
    estimate_table,
    estimate_tables,
    subtract,
)
from annotator.agreement.intervals import cluster_interval, confidence, misses, to_coefficient, widen
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    Flags,
    Floats,
    GradedJudgments,
    Ints,
    number_rows,
)
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    CoefficientValue,
    Interval,
    Leaning,
    MeasuredAgreement,
    PairAgreement,
)
from annotator.domain.messages import say

METRIC = "ordinal"
LEANS_BY = 0.2
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class ClaimedLeaning:
    """A leaning that is surely not chance."""

    leaning: Leaning
    than: str | None = None  # the one annotator whom it is compared with; None: all others


def find_leaning(
    leanings: Sequence[Leaning], comparisons: Comparisons, names: Sequence[str], named: Collection[str] = ()
) -> tuple[ClaimedLeaning, ...]:
    """Return the leanings that are sure and large enough, the greatest first.

    If there are only two annotators, the one who grades higher is named. A leaning that rests on one other
    annotator is claimed of these two only. `named`: annotators who are named for something worse: they are
    not named again, and nobody is compared with them.
    """
    comparisons = comparisons.leave_out(*(names.index(name) for name in named))
    tested = [leaning for leaning in leanings if leaning.comparisons >= FEW_PAIRS and leaning.ci95]
    claims = 1 if len(leanings) == 2 else len(tested)  # two annotators have opposite leanings: one claim
    suspects = [candidate for candidate in tested if _is_sure(candidate.mean, candidate.ci95, claims)]
    suspects.sort(
        key=lambda candidate: (-round(abs(candidate.mean), 9), candidate.mean < 0, candidate.annotator)
    )
    found_annotators: list[ClaimedLeaning] = []
    for suspect in suspects:
        who = names.index(suspect.annotator)
        if suspect.annotator in named:
            continue
        if (found_annotators or named) and not _still_leans(
            suspect, estimate_leaning(comparisons, who), claims
        ):
            continue
        claim = _find_claim(suspect, who, comparisons, names, claims)
        if claim is None:
            continue
        found_annotators.append(claim)
        if len(found_annotators) == MOST_NAMED:
            break
        if claim.than is None:
            comparisons = comparisons.leave_out(who)
        else:
            comparisons = comparisons.take(~_are_between(comparisons, who, names.index(claim.than)))
    return tuple(found_annotators)


def _find_claim(
    leaning: Leaning, who: int, comparisons: Comparisons, names: Sequence[str], claims: int
) -> ClaimedLeaning | None:
    """Return the claim about an annotator's leaning, or None.

    The claim is about all others if the leaning holds without any one of them; else about the one other
    annotator on whom it rests, if it is sure in comparison with that one.
    """
    own = comparisons.of(who)
    if not len(own.left):
        return ClaimedLeaning(leaning)  # nothing else to compare with
    is_first = own.first == who
    other, apart = np.where(is_first, own.second, own.first), np.where(is_first, own.apart, -own.apart)
    sums = np.bincount(other, weights=apart * np.sign(leaning.mean), minlength=len(names))
    strongest = int(sums.argmax())
    if len(np.unique(other)) == 1 and len(own.left) == leaning.comparisons:
        return ClaimedLeaning(leaning, names[strongest])
    rest = estimate_leaning(own.leave_out(strongest), who)
    if _still_leans(leaning, rest, claims, least=LEANS_BY / 2):
        return ClaimedLeaning(leaning)
    two = estimate_leaning(own.take(other == strongest), who)
    if not _still_leans(leaning, two, claims):
        return None
    shown = Leaning(leaning.annotator, two.comparisons, two.value, cluster_interval(two))
    return ClaimedLeaning(shown, names[strongest])


def _are_between(comparisons: Comparisons, who: int, other: int) -> Flags:
    low, high = sorted((who, other))
    between: Flags = (comparisons.first == low) & (comparisons.second == high)
    return between


def _is_sure(mean: float, ci95: Interval | None, claims: int, least: float = LEANS_BY) -> bool:
    return abs(mean) >= least and ci95 is not None and misses(widen(mean, ci95, claims), 0.0)


def _still_leans(leaning: Leaning, rest: FigureEstimate, claims: int, *, least: float = LEANS_BY) -> bool:
    """Return whether the annotator also leans in `rest`: the comparisons with those who are not named."""
    return (
        rest.comparisons >= FEW_PAIRS
        and rest.value * leaning.mean > 0
        and _is_sure(rest.value, cluster_interval(rest), claims, least)
    )


def leave_one_out(judged: GradedJudgments, annotators: int) -> list[tuple[float, int]]:
    """Return ordinal alpha without each annotator in turn, and the pairs that the others share.

    Alpha is NaN if undefined: the others share no pair, or all gave one grade.
    """
    if not len(judged.pair):
        return [(float("nan"), 0)] * annotators
    counts, pair_number = _count(judged)
    patterns, pattern = number_rows(counts)
    grade = pattern[pair_number] * CATEGORIES + judged.grade
    whole = np.bincount(pattern, minlength=len(patterns))
    size = len(patterns) * CATEGORIES
    given = np.bincount(judged.annotator * size + grade, minlength=annotators * size)
    given = given.reshape(annotators, len(patterns), CATEGORIES)
    untouched = whole - given.sum(axis=2)
    without = patterns[:, None, :] - np.eye(CATEGORIES)
    tables = untouched @ _coincide(patterns) + given.reshape(annotators, size) @ _coincide(
        without.reshape(size, CATEGORIES)
    )
    alphas = krippendorff_alpha(tables.reshape(annotators, CATEGORIES, CATEGORIES), METRIC)
    judgments = patterns.sum(axis=1)
    pairs = untouched @ (judgments >= 2) + given.sum(axis=2) @ (judgments >= 3)
    return [(float(alpha), int(number)) for alpha, number in zip(alphas, pairs, strict=True)]


def _count(judged: GradedJudgments) -> tuple[Ints, Ints]:
    """Return how many annotators gave each grade to each pair (n x 4), and the pair of each row."""
    pair_number = np.zeros(len(judged.pair), dtype=np.int64)
    np.cumsum(judged.pair[1:] != judged.pair[:-1], out=pair_number[1:])
    counts = np.bincount(
        pair_number * CATEGORIES + judged.grade, minlength=(int(pair_number[-1]) + 1) * CATEGORIES
    )
    return counts.reshape(-1, CATEGORIES), pair_number


def _coincide(patterns: Floats) -> Floats:
    """Return the coincidence table of each pattern, flat; zeros for fewer than two judgments."""
    tables = np.zeros((len(patterns), CELLS))
    shared = patterns.sum(axis=1) >= 2
    tables[shared] = coincidences(patterns[shared]).reshape(-1, CELLS)
    return tables


LESS_BY = 0.1
NO_VARIATION = say("kappa is undefined because the grades in these comparisons do not vary")
_TURNED = np.arange(CELLS).reshape(CATEGORIES, CATEGORIES).T.ravel()


@dataclass(frozen=True, slots=True)
class LowAgreementAnnotator:
    """An annotator who surely agrees less with the others than annotators agree in all comparisons (kappa)."""

    annotator: str
    kappa: CoefficientValue
    comparisons: int
    everybody: float  # the kappa of all comparisons


def estimate_against_others(
    comparisons: Comparisons, annotators: int
) -> tuple[tuple[int, FigureEstimate], ...]:
    """Return the number of each annotator with comparisons, and their kappa with all others together."""
    who: Ints = np.concatenate([comparisons.first, comparisons.second])
    cell = np.concatenate([comparisons.cell, _TURNED[comparisons.cell]])
    query = np.tile(comparisons.query, 2)
    return tuple(estimate_tables(who, cell, query, queries=comparisons.queries, tables=annotators))


def measure_against_others(
    estimates: Iterable[tuple[int, FigureEstimate]], names: Sequence[str]
) -> dict[str, CoefficientValue]:
    """Return the kappa, with interval, of each annotator who shares a pair, with all others together."""
    return {names[who]: to_coefficient(own, NO_VARIATION) for who, own in estimates}


def find_less(
    comparisons: Comparisons, estimates: Iterable[tuple[int, FigureEstimate]], names: Sequence[str]
) -> tuple[LowAgreementAnnotator, ...]:
    """Find annotators who surely agree less with the others than all do, the greatest effect first.

    `comparisons` and `estimates`: without annotators who are named for something worse, because they make all
    others look bad.
    """
    estimates = [
        (who, own)
        for who, own in estimates
        if own.comparisons >= FEW_PAIRS and int(own.seen.sum()) >= FEW_QUERIES and not np.isnan(own.value)
    ]
    if len(estimates) < 3:
        return ()
    both = np.concatenate([comparisons.cell, _TURNED[comparisons.cell]])
    everybody = estimate_table(both, np.tile(comparisons.query, 2), comparisons.queries)
    level = confidence(len(estimates))
    found_annotators = []
    for who, own in estimates:
        difference = subtract(own, everybody)
        interval = cluster_interval(difference, level=level)
        if interval is not None and interval[1] < 0 and difference.value <= -LESS_BY:
            value = CoefficientValue(own.value, cluster_interval(own))
            found_annotators.append(
                LowAgreementAnnotator(names[who], value, own.comparisons, everybody.value)
            )
    found_annotators.sort(
        key=lambda annotator: (
            -(annotator.everybody - (annotator.kappa.value or 0.0)) * annotator.comparisons,
            annotator.annotator,
        )
    )
    return tuple(found_annotators)


def find_extremes(
    measured: MeasuredAgreement, comparisons: Comparisons, names: Sequence[str]
) -> tuple[PairAgreement, PairAgreement] | None:
    """Return the annotator pairs with the lowest and the highest kappa; None unless they surely differ.

    Only pairs that share enough (no `warning`) count. The claim is corrected for the number of annotator
    pairs.
    """
    ranked = [
        (value, pair.annotators, pair)
        for pair in measured.annotator_pairs
        if pair.warning is None and (value := pair.cohen_kappa["unweighted"].value) is not None
    ]
    if len(ranked) < 2:
        return None
    ranked.sort(key=lambda ranked_pair: ranked_pair[:2])
    low, high = ranked[0][2], ranked[-1][2]
    number_by_name = {name: index for index, name in enumerate(names)}
    least, most = (
        estimate_kappa(
            comparisons.take(
                (comparisons.first == number_by_name[pair.annotators[0]])
                & (comparisons.second == number_by_name[pair.annotators[1]])
            ),
            len(names),
        )
        for pair in (low, high)
    )
    level = confidence(len(ranked) * (len(ranked) - 1))
    interval = cluster_interval(subtract(least, most), level=level)
    return (low, high) if interval is not None and interval[1] < 0 else None
