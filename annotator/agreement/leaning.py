"""Who grades higher or lower than the others, and what alpha would be without each annotator in turn.

Where one is lenient, all others look severe beside them. So whoever leans most is named first, and another only if they
still lean among those who are not named.

For alpha, a pair's coincidences depend only on how many gave each grade, and few such patterns occur. So for each annotator the
patterns that stay are counted, and alpha comes out of those counts: no pass over the judgments per annotator.
"""

from collections.abc import Sequence

import numpy as np

from annotator.agreement.claims import cluster_interval, misses, widen
from annotator.agreement.couples import Couples, Estimate, estimate_leanings
from annotator.agreement.judged import CATEGORIES, CELLS, Floats, Ints, Judged, number_rows
from annotator.agreement.krippendorff import coincidences, krippendorff_alpha
from annotator.domain.agreement import Interval, Leaning
from annotator.domain.enough_pairs import FEW_PAIRS

METRIC = "ordinal"
LEANS_BY = 0.2
MOST_NAMED = 5


def find_leaning(leanings: Sequence[Leaning], couples: Couples, names: Sequence[str]) -> tuple[Leaning, ...]:
    """Those of the measured leanings that are sure and of some size, greatest first; of two annotators the one who grades
    higher."""
    asked = [one for one in leanings if one.couples >= FEW_PAIRS and one.ci95]
    claims = 1 if len(leanings) == 2 else len(asked)  # of two, one's gain is the other's loss
    suspects = [one for one in asked if _is_sure(one.mean, one.ci95, claims)]
    suspects.sort(key=lambda one: (-round(abs(one.mean), 9), one.mean < 0, one.annotator))
    found: list[Leaning] = []
    for one in suspects:
        who = names.index(one.annotator)
        if found and not _still_leans(one, estimate_leanings(couples, len(names))[who], claims):
            continue
        found.append(one)
        couples = couples.leave_out(who)
    return tuple(found[:MOST_NAMED])


def _is_sure(mean: float, ci95: Interval | None, claims: int) -> bool:
    return abs(mean) >= LEANS_BY and ci95 is not None and misses(widen(mean, ci95, claims), 0.0)


def _still_leans(one: Leaning, rest: Estimate, claims: int) -> bool:
    """Whether they do also beside those who are not named."""
    return (
        rest.couples >= FEW_PAIRS
        and rest.value * one.mean > 0
        and _is_sure(rest.value, cluster_interval(rest), claims)
    )


def leave_one_out(judged: Judged, annotators: int) -> list[float]:
    """Krippendorff's ordinal alpha of the others' judgments, for each of `annotators` (they are numbered from 0).

    NaN where it is undefined: the others share no pair, or all gave one and the same grade.
    """
    if not len(judged.pair):
        return [float("nan")] * annotators
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
    return [float(alpha) for alpha in alphas]


def _count(judged: Judged) -> tuple[Ints, Ints]:
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
