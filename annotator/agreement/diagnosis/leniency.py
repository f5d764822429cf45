"""Find who grades higher or lower than the others, and compute alpha without each annotator in turn.

Where one annotator is lenient, all others look severe. So the one who leans most is named first, and another only if
they still lean among those not named. Alpha depends only on how many annotators gave each grade to a pair, and few such
patterns occur; alpha without an annotator is computed from pattern counts, without another pass over the judgments.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.coefficients.krippendorff import coincidences, krippendorff_alpha
from annotator.agreement.intervals import cluster_interval, misses, widen
from annotator.agreement.judgment_pairs import FigureEstimate, JudgmentPairs, estimate_leaning
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    Flags,
    Floats,
    GradedJudgments,
    Ints,
    number_rows,
)
from annotator.agreement.records import FEW_PAIRS, Interval, Leaning

METRIC = "ordinal"
LEANS_BY = 0.2
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class ClaimedLeaning:
    """A leaning that is claimed: beside the others; or beside `than` alone, where nothing is sure beside the rest."""

    leaning: Leaning
    than: str | None = None


def find_leaning(
    leanings: Sequence[Leaning], couples: JudgmentPairs, names: Sequence[str], named: Collection[str] = ()
) -> tuple[ClaimedLeaning, ...]:
    """Those of the measured leanings that are sure and of some size, greatest first; of two annotators the one who grades
    higher. A leaning that rests on one other annotator is claimed of these two. `named`: of whom something worse is said
    already; they are not named again, and nobody is because of them."""
    couples = couples.leave_out(*(names.index(name) for name in named))
    asked = [one for one in leanings if one.couples >= FEW_PAIRS and one.ci95]
    claims = 1 if len(leanings) == 2 else len(asked)  # of two, one's gain is the other's loss
    suspects = [one for one in asked if _is_sure(one.mean, one.ci95, claims)]
    suspects.sort(key=lambda one: (-round(abs(one.mean), 9), one.mean < 0, one.annotator))
    found: list[ClaimedLeaning] = []
    for one in suspects:
        who = names.index(one.annotator)
        if one.annotator in named:
            continue
        if (found or named) and not _still_leans(one, estimate_leaning(couples, who), claims):
            continue
        claim = _find_beside_whom(one, who, couples, names, claims)
        if claim is None:
            continue
        found.append(claim)
        if len(found) == MOST_NAMED:
            break
        if claim.than is None:
            couples = couples.leave_out(who)
        else:
            couples = couples.take(~_are_between(couples, who, names.index(claim.than)))
    return tuple(found)


def _find_beside_whom(
    one: Leaning, who: int, couples: JudgmentPairs, names: Sequence[str], claims: int
) -> ClaimedLeaning | None:
    """Beside whom the annotator leans: the others, if they do without any one of them; else the one other on whom it rests,
    if it is sure beside that one; else nobody (None)."""
    own = couples.take((couples.first == who) | (couples.second == who))
    if not len(own.left):
        return ClaimedLeaning(one)  # the measured figure is all there is
    is_first = own.first == who
    other, apart = np.where(is_first, own.second, own.first), np.where(is_first, own.apart, -own.apart)
    sums = np.bincount(other, weights=apart * np.sign(one.mean), minlength=len(names))
    strongest = int(sums.argmax())
    if len(np.unique(other)) == 1 and len(own.left) == one.couples:
        return ClaimedLeaning(one, names[strongest])
    rest = estimate_leaning(own.leave_out(strongest), who)
    if _still_leans(one, rest, claims, least=LEANS_BY / 2):
        return ClaimedLeaning(one)
    two = estimate_leaning(own.take(other == strongest), who)
    if not _still_leans(one, two, claims):
        return None
    shown = Leaning(one.annotator, two.couples, two.value, cluster_interval(two))
    return ClaimedLeaning(shown, names[strongest])


def _are_between(couples: JudgmentPairs, who: int, other: int) -> Flags:
    low, high = sorted((who, other))
    between: Flags = (couples.first == low) & (couples.second == high)
    return between


def _is_sure(mean: float, ci95: Interval | None, claims: int, least: float = LEANS_BY) -> bool:
    return abs(mean) >= least and ci95 is not None and misses(widen(mean, ci95, claims), 0.0)


def _still_leans(one: Leaning, rest: FigureEstimate, claims: int, *, least: float = LEANS_BY) -> bool:
    """Whether they do also beside those who are not named."""
    return (
        rest.couples >= FEW_PAIRS
        and rest.value * one.mean > 0
        and _is_sure(rest.value, cluster_interval(rest), claims, least)
    )


def leave_one_out(judged: GradedJudgments, annotators: int) -> list[tuple[float, int]]:
    """Krippendorff's ordinal alpha of the others' judgments, for each of `annotators` (they are numbered from 0), and over
    how many pairs: those that two or more of the others judged, which may be few of all.

    NaN where it is undefined: the others share no pair, or all gave one and the same grade.
    """
    if not len(judged.pair):
        return [(float("nan"), 0)] * annotators
    counts, place = _count(judged)
    patterns, pattern = number_rows(counts)
    grade = pattern[place] * CATEGORIES + judged.grade
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
    """How many gave each grade, per pair, and each row's pair (rows are sorted by pair)."""
    place = np.zeros(len(judged.pair), dtype=np.int64)
    np.cumsum(judged.pair[1:] != judged.pair[:-1], out=place[1:])
    counts = np.bincount(place * CATEGORIES + judged.grade, minlength=(int(place[-1]) + 1) * CATEGORIES)
    return counts.reshape(-1, CATEGORIES), place


def _coincide(patterns: Floats) -> Floats:
    """The coincidence table of each pattern, flat; zeros where fewer than two judgments make none."""
    tables = np.zeros((len(patterns), CELLS))
    shared = patterns.sum(axis=1) >= 2
    tables[shared] = coincidences(patterns[shared]).reshape(-1, CELLS)
    return tables
