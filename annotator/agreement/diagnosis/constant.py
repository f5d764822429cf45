"""Who gives one and the same grade almost throughout, where the others grade the same pairs otherwise.

An annotator who gives one grade has a kappa of about 0 with everybody and lowers every coefficient; in a crowd they can make a
quarter of all judgments. Somebody whose pairs do all deserve one grade is none of them: the others give it there too. So the
share of the grade among the others on the same pairs must be lower, its difference as sure as so many annotators call for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.claims import cluster_interval, confidence
from annotator.agreement.coefficients.krippendorff import coincidences, krippendorff_alpha
from annotator.agreement.enough_pairs import FEW_PAIRS
from annotator.agreement.judgment_pairs import Couples, estimate_mean
from annotator.agreement.judgment_table import (
    CATEGORIES,
    Flags,
    Judged,
    count_by_annotator,
    count_grades,
    number_rows,
)

ALMOST_ALL = 0.95
DIFFERS_BY = 0.2


@dataclass(frozen=True, slots=True)
class Constant:
    """An annotator who gave `grade` in the share `own` of `judgments` on shared pairs; the others gave it, on the same pairs,
    in the share `others`."""

    annotator: str
    grade: int
    judgments: int
    own: float
    others: float


@dataclass(frozen=True, slots=True)
class Constants:
    """All such annotators, those first who weigh most; `share` of the judgments on shared pairs is theirs. `alpha_without`
    them (ordinal; NaN: undefined) rests on `pairs_without` pairs."""

    people: tuple[Constant, ...]
    share: float
    alpha_without: float
    pairs_without: int


def find_constants(judged: Judged, couples: Couples, names: Sequence[str]) -> Constants:
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
            found.append(Constant(names[who], int(grade[who]), int(judgments[who]), own, one))
    found.sort(key=lambda one: (-(one.own - one.others) * one.judgments, one.annotator))
    places = {name: place for place, name in enumerate(names)}
    theirs = np.isin(shared.annotator, [places[one.annotator] for one in found])
    alpha, pairs = measure_without(shared, theirs) if found else (float("nan"), 0)
    return Constants(tuple(found), float(theirs.mean()) if len(theirs) else 0.0, alpha, pairs)


def _compare(couples: Couples, who: int, grade: int, level: float) -> float | None:
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


def measure_without(shared: Judged, left_out: Flags) -> tuple[float, int]:
    """Return ordinal alpha of the judgments that stay, and over how many pairs."""
    rest = shared.where(~left_out).shared()
    counts = count_grades(rest).counts
    if not len(counts):
        return float("nan"), 0
    patterns, pattern = number_rows(counts)
    times = np.bincount(pattern, minlength=len(patterns))
    table = np.tensordot(times.astype(np.float64), coincidences(patterns), axes=1)
    return float(krippendorff_alpha(table, "ordinal")), len(counts)
