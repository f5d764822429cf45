"""Find the two grades confused most: how often, who gives the higher one, and in which category it happens most.

A confusion is two judgments of one pair with these two grades. An annotator is named when the interval of their share
of the higher grade misses an even split; a further one only if that also holds among the annotators not named yet,
since where one gives the higher grade, all others give the lower. A category is named when its rate is at least
CONCENTRATED times the rate of the others and the difference misses 0.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.diagnosis.unusual_annotators import keep_pairs
from annotator.agreement.intervals import confidence, exact_interval, misses, normal_reach
from annotator.agreement.judgment_pairs import FigureEstimate, JudgmentPairs, estimate_mean, tally
from annotator.agreement.judgment_table import CATEGORIES, CELLS, Flags, Ints
from annotator.agreement.records import GroupAgreement, Interval, PairAgreement

FEW_CONFUSIONS = 10
CONCENTRATED = 1.5
MOST_DIRECTIONS = 3
ONE_SIDED = 0.65


@dataclass(frozen=True, slots=True)
class ConfusionDirection:
    """Who gives the higher of two grades: `higher` of the `of` times that they are confused between this annotator and
    another."""

    annotator: str
    higher: int
    of: int


@dataclass(frozen=True, slots=True)
class ConfusionConcentration:
    """Where two grades are confused: in `times` of the `couples` of this category, elsewhere in the share `elsewhere`."""

    category: str
    times: int
    couples: int
    elsewhere: float


@dataclass(frozen=True, slots=True)
class GradeConfusion:
    """The grades confused most (`low`, `high`): `times` of the `total` that two annotators differ; `far` of these are
    two or three grades apart. `direction`: the annotators who surely give the higher or the lower, most one-sided first."""

    low: int
    high: int
    times: int
    total: int
    far: int
    directions: tuple[ConfusionDirection, ...] = ()
    concentrations: tuple[ConfusionConcentration, ...] = ()


def find_confused(
    groups: Sequence[GroupAgreement],
    couples: JudgmentPairs,
    names: Sequence[str],
    left_out: Collection[str] = (),
) -> GradeConfusion | None:
    """The confusion with what is sure about it; None where nobody differs. `groups`: by category, or none. `left_out`: of whom
    something worse is said already; `couples` are those of all others."""
    table = np.bincount(couples.cell, minlength=CELLS).reshape(CATEGORIES, CATEGORIES)
    differing = np.triu(table + table.T, 1)
    total = int(differing.sum())
    if not total:
        return None
    rows, columns = np.triu_indices(CATEGORIES, 1)
    counts = differing[rows, columns]
    most = min(
        range(len(counts)), key=lambda place: (-counts[place], columns[place] - rows[place], rows[place])
    )
    low, high = int(rows[most]), int(columns[most])
    return GradeConfusion(
        low=low,
        high=high,
        times=int(counts[most]),
        total=total,
        far=int(counts[columns - rows >= 2].sum()),
        directions=_find_directions(couples, names, low, high),
        concentrations=_find_concentrations(groups, couples, low, high, left_out),
    )


def _are_confused(couples: JudgmentPairs, low: int, high: int) -> tuple[Flags, Flags]:
    """Flags of the couples in which the first gave `high` and the second `low`, and the other way round."""
    return couples.cell == high * CATEGORIES + low, couples.cell == low * CATEGORIES + high


def _find_directions(
    couples: JudgmentPairs, names: Sequence[str], low: int, high: int
) -> tuple[ConfusionDirection, ...]:
    down, up = _are_confused(couples, low, high)
    own = couples.take(np.flatnonzero(down | up))
    shares, pairs = _share_higher(own, len(names), high), _count_pairs(own, len(names))
    asked = [who for who, share in enumerate(shares) if share.couples >= FEW_CONFUSIONS]
    two = (
        sum(share.couples > 0 for share in shares) == 2
    )  # the one gives the higher where the other gives the lower
    level = confidence(1 if two else len(asked))
    suspects = [who for who in asked if _is_one_sided(shares[who], int(pairs[who]), level)]
    suspects.sort(key=lambda who: (-abs(shares[who].value - 0.5), shares[who].value < 0.5, who))
    found: list[ConfusionDirection] = []
    for who in suspects:
        mine = own.take((own.first == who) | (own.second == who))
        rest = _share_higher_of(mine, who, high)
        if found and not (
            rest.couples >= FEW_CONFUSIONS
            and (rest.value > 0.5) == (shares[who].value > 0.5)
            and _is_one_sided(rest, len(np.unique(mine.place)), level)
        ):
            continue
        found.append(
            ConfusionDirection(
                names[who], round(shares[who].value * shares[who].couples), shares[who].couples
            )
        )
        if len(found) == MOST_DIRECTIONS:
            break
        own = own.leave_out(who)
    return tuple(found)


def _share_higher(own: JudgmentPairs, annotators: int, high: int) -> list[FigureEstimate]:
    """In which share of their confusions each gives the higher grade."""
    first = (own.cell // CATEGORIES == high).astype(np.float64)
    sums = tally(own, annotators, first, 1 - first)
    counts = tally(own, annotators, None, None)
    return [estimate_mean(*both) for both in zip(sums, counts, strict=True)]


def _share_higher_of(mine: JudgmentPairs, who: int, high: int) -> FigureEstimate:
    """The same of one annotator, whose confusions these are."""
    gave_higher = (mine.cell // CATEGORIES == high) == (mine.first == who)
    counts = np.bincount(mine.query, minlength=mine.queries).astype(np.float64)
    sums = np.bincount(mine.query, weights=gave_higher, minlength=mine.queries)
    return estimate_mean(np.asarray(sums, dtype=np.float64), counts)


def _count_pairs(own: JudgmentPairs, annotators: int) -> Ints:
    """Of how many pairs each annotator's couples are: one judgment that differs from four others' is no four cases."""
    who, place = np.concatenate([own.first, own.second]), np.tile(own.place, 2)
    pairs = int(place.max(initial=0)) + 1
    return np.bincount(np.unique(who * pairs + place) // pairs, minlength=annotators)


def _is_one_sided(share: FigureEstimate, pairs: int, level: float) -> bool:
    return abs(share.value - 0.5) >= ONE_SIDED - 0.5 and misses(_widen_exact(share, pairs, level), 0.5)


def _find_concentrations(
    groups: Sequence[GroupAgreement], couples: JudgmentPairs, low: int, high: int, left_out: Collection[str]
) -> tuple[ConfusionConcentration, ...]:
    """Most frequent first. Two binomial rates would be too sure of themselves, since the couples of a query go together:
    their errors are stretched by how much wider the whole dataset's rate is by query than by couple."""
    down, up = _are_confused(couples, low, high)
    stretch = _measure_stretch(couples, down | up)
    known = [
        (group.value, *_rate(keep_pairs(group.measured, left_out), low, high))
        for group in groups
        if group.value is not None
    ]
    asked = [one for one in known if one[1] >= FEW_CONFUSIONS]
    times, of = sum(one[1] for one in known), sum(one[2] for one in known)
    found = []
    for category, here, couples_here in asked:
        if of == couples_here:
            continue
        rate, elsewhere = here / couples_here, (times - here) / (of - couples_here)
        error = stretch * np.sqrt(
            rate * (1 - rate) / couples_here + elsewhere * (1 - elsewhere) / (of - couples_here)
        )
        reach = normal_reach(confidence(len(asked))) * error
        if rate >= CONCENTRATED * elsewhere and rate - elsewhere > reach:
            found.append(ConfusionConcentration(category, here, couples_here, elsewhere))
    return tuple(sorted(found, key=lambda one: (-one.times / one.couples, one.category)))


def _rate(pairs: Sequence[PairAgreement], low: int, high: int) -> tuple[int, int]:
    """How often the two grades are confused between these annotators of a category, and its couples."""
    tables = np.array([pair.confusion for pair in pairs], dtype=np.int64)
    table = tables.reshape(-1, CATEGORIES, CATEGORIES).sum(axis=0)
    return int(table[low, high] + table[high, low]), int(table.sum())


def _widen_exact(share: FigureEstimate, pairs: int, level: float) -> Interval:
    """The exact binomial interval of a share, as of so few independent couples as its spread by query amounts to, and no more
    than there are pairs: near 0 and 1 the spread alone would be too sure of itself."""
    effective = min(share.couples / _stretch(share) ** 2, pairs)
    return exact_interval(share.value * effective, effective, level=level)


def _measure_stretch(couples: JudgmentPairs, flags: Flags) -> float:
    counts = np.bincount(couples.query, minlength=couples.queries).astype(np.float64)
    sums = np.asarray(np.bincount(couples.query, weights=flags, minlength=couples.queries), dtype=np.float64)
    return _stretch(estimate_mean(sums, counts))


def _stretch(share: FigureEstimate) -> float:
    """How many times wider the interval of a share is by query than by couple; at least 1."""
    plain = share.value * (1 - share.value) / max(1, share.couples)
    return max(1.0, float(np.sqrt((share.influence**2).sum() / plain))) if plain > 0 else 1.0
