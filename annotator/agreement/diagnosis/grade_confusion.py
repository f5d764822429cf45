"""Find the two grades confused most: how often, by whom, and in which category.

A confusion is two judgments of one pair with these two grades. An annotator is named if the interval of their
share of the higher grade excludes one half. Where one annotator gives the higher grade, all others give the
lower; so a further annotator is named only if this also holds among those who are not named yet. A category
is named if its rate is at least CONCENTRATED times the rate of the others and the interval of the difference
excludes 0.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.comparisons import Comparisons, FigureEstimate, estimate_mean, tally
from annotator.agreement.diagnosis.careless_work import keep_pairs
from annotator.agreement.intervals import confidence, exact_interval, misses, normal_reach
from annotator.agreement.judgment_table import CATEGORIES, CELLS, Flags, Ints
from annotator.agreement.records import GroupAgreement, Interval, PairAgreement

FEW_CONFUSIONS = 10
CONCENTRATED = 1.5
MOST_DIRECTIONS = 3
ONE_SIDED = 0.65


@dataclass(frozen=True, slots=True)
class ConfusionDirection:
    """The direction in which one annotator confuses two grades."""

    annotator: str
    higher: int  # how often the annotator gave the higher grade
    of: int  # confusions between the annotator and another one


@dataclass(frozen=True, slots=True)
class ConfusionConcentration:
    """A category in which two grades are confused more often than elsewhere."""

    category: str
    times: int  # confusions in this category
    comparisons: int  # comparisons in this category
    elsewhere: float  # share of confusions in the other categories


@dataclass(frozen=True, slots=True)
class GradeConfusion:
    """The two grades confused most, `low` and `high`."""

    low: int
    high: int
    times: int  # how often these two are confused
    total: int  # how often two annotators differ
    far: int  # differences of two or three grades
    directions: tuple[ConfusionDirection, ...] = ()
    """Annotators who surely give the higher or the lower grade, the most one-sided first."""
    concentrations: tuple[ConfusionConcentration, ...] = ()


def find_confused(
    groups: Sequence[GroupAgreement],
    comparisons: Comparisons,
    names: Sequence[str],
    left_out: Collection[str] = (),
) -> GradeConfusion | None:
    """Return the two grades confused most, with what is sure about the confusion; None if nobody differs.

    `groups`: by category, may be empty. `comparisons`: without those of `left_out`, who are named for
    something worse.
    """
    table = np.bincount(comparisons.cell, minlength=CELLS).reshape(CATEGORIES, CATEGORIES)
    differing = np.triu(table + table.T, 1)
    total = int(differing.sum())
    if not total:
        return None
    rows, columns = np.triu_indices(CATEGORIES, 1)
    counts = differing[rows, columns]
    most = min(
        range(len(counts)), key=lambda index: (-counts[index], columns[index] - rows[index], rows[index])
    )
    low, high = int(rows[most]), int(columns[most])
    return GradeConfusion(
        low=low,
        high=high,
        times=int(counts[most]),
        total=total,
        far=int(counts[columns - rows >= 2].sum()),
        directions=_find_directions(comparisons, names, low, high),
        concentrations=_find_concentrations(groups, comparisons, low, high, left_out),
    )


def _are_confused(comparisons: Comparisons, low: int, high: int) -> tuple[Flags, Flags]:
    """Return flags of the comparisons with (`high`, `low`), and of those with (`low`, `high`)."""
    return comparisons.cell == high * CATEGORIES + low, comparisons.cell == low * CATEGORIES + high


def _find_directions(
    comparisons: Comparisons, names: Sequence[str], low: int, high: int
) -> tuple[ConfusionDirection, ...]:
    down, up = _are_confused(comparisons, low, high)
    own = comparisons.take(np.flatnonzero(down | up))
    shares, pairs = _share_higher(own, len(names), high), _count_pairs(own, len(names))
    tested = [who for who, share in enumerate(shares) if share.comparisons >= FEW_CONFUSIONS]
    two = (
        sum(share.comparisons > 0 for share in shares) == 2
    )  # the one gives the higher where the other gives the lower
    level = confidence(1 if two else len(tested))
    suspects = [who for who in tested if _is_one_sided(shares[who], int(pairs[who]), level)]
    suspects.sort(key=lambda who: (-abs(shares[who].value - 0.5), shares[who].value < 0.5, who))
    named: list[ConfusionDirection] = []
    for who in suspects:
        with_annotator = own.of(who)
        rest = _share_higher_of(with_annotator, who, high)
        if named and not (
            rest.comparisons >= FEW_CONFUSIONS
            and (rest.value > 0.5) == (shares[who].value > 0.5)
            and _is_one_sided(rest, len(np.unique(with_annotator.pair_number)), level)
        ):
            continue
        named.append(
            ConfusionDirection(
                names[who], round(shares[who].value * shares[who].comparisons), shares[who].comparisons
            )
        )
        if len(named) == MOST_DIRECTIONS:
            break
        own = own.leave_out(who)
    return tuple(named)


def _share_higher(own: Comparisons, annotators: int, high: int) -> list[FigureEstimate]:
    """Return each annotator's share of confusions in which they give the higher grade."""
    first = (own.cell // CATEGORIES == high).astype(np.float64)
    sums = tally(own, annotators, first, 1 - first)
    counts = tally(own, annotators, None, None)
    return [estimate_mean(*both) for both in zip(sums, counts, strict=True)]


def _share_higher_of(comparisons: Comparisons, who: int, high: int) -> FigureEstimate:
    """Return the share of these confusions, all of one annotator, with the higher grade from them."""
    return comparisons.estimate_mean((comparisons.cell // CATEGORIES == high) == (comparisons.first == who))


def _count_pairs(own: Comparisons, annotators: int) -> Ints:
    """Return the number of pairs in each annotator's comparisons: one pair has several comparisons."""
    who, pair_number = np.concatenate([own.first, own.second]), np.tile(own.pair_number, 2)
    pairs = int(pair_number.max(initial=0)) + 1
    return np.bincount(np.unique(who * pairs + pair_number) // pairs, minlength=annotators)


def _is_one_sided(share: FigureEstimate, pairs: int, level: float) -> bool:
    return abs(share.value - 0.5) >= ONE_SIDED - 0.5 and misses(_widen_exact(share, pairs, level), 0.5)


def _find_concentrations(
    groups: Sequence[GroupAgreement], comparisons: Comparisons, low: int, high: int, left_out: Collection[str]
) -> tuple[ConfusionConcentration, ...]:
    """Return the categories in which the confusion is concentrated, the most frequent first.

    Comparisons of one query depend on each other, so binomial errors are too small. They are multiplied by
    the ratio of the two intervals of the whole dataset: by query and by comparison.
    """
    down, up = _are_confused(comparisons, low, high)
    stretch = _stretch(comparisons.estimate_mean(down | up))
    rates = [
        (group.value, *_rate(keep_pairs(group.measured, left_out), low, high))
        for group in groups
        if group.value is not None
    ]
    tested = [candidate for candidate in rates if candidate[1] >= FEW_CONFUSIONS]
    times, of = sum(candidate[1] for candidate in rates), sum(candidate[2] for candidate in rates)
    named = []
    for category, here, comparisons_here in tested:
        if of == comparisons_here:
            continue
        rate, elsewhere = here / comparisons_here, (times - here) / (of - comparisons_here)
        error = stretch * np.sqrt(
            rate * (1 - rate) / comparisons_here + elsewhere * (1 - elsewhere) / (of - comparisons_here)
        )
        reach = normal_reach(confidence(len(tested))) * error
        if rate >= CONCENTRATED * elsewhere and rate - elsewhere > reach:
            named.append(ConfusionConcentration(category, here, comparisons_here, elsewhere))
    return tuple(
        sorted(
            named,
            key=lambda concentration: (
                -concentration.times / concentration.comparisons,
                concentration.category,
            ),
        )
    )


def _rate(pairs: Sequence[PairAgreement], low: int, high: int) -> tuple[int, int]:
    """Return the confusions of the two grades and all comparisons of these annotator pairs."""
    tables = np.array([pair.confusion for pair in pairs], dtype=np.int64)
    table = tables.reshape(-1, CATEGORIES, CATEGORIES).sum(axis=0)
    return int(table[low, high] + table[high, low]), int(table.sum())


def _widen_exact(share: FigureEstimate, pairs: int, level: float) -> Interval:
    """Return the exact binomial interval of a share, for its effective number of independent comparisons.

    That number follows from the spread by query, and is at most the number of pairs. Near 0 and 1, an
    interval from the spread alone would be too narrow.
    """
    effective = min(share.comparisons / _stretch(share) ** 2, pairs)
    return exact_interval(share.value * effective, effective, level=level)


def _stretch(share: FigureEstimate) -> float:
    """Return how many times wider the interval of a share is by query than by comparison; at least 1."""
    plain = share.value * (1 - share.value) / max(1, share.comparisons)
    return max(1.0, float(np.sqrt((share.influence**2).sum() / plain))) if plain > 0 else 1.0
