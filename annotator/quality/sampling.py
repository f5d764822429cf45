"""Draws a stratified random sample of settled pairs: the same from the same data and seed, whatever the order of the rows.

A stratum is a query category with a settled grade. Each gets its share of the sample, in whole pairs one more or less:
which strata get one more is drawn too, by systematic sampling with a chance equal to the fraction that is left (a
fixed rule, such as the largest remainder, would never draw from a small stratum, and then the sample would prove
nothing about it). So every pair has the same chance. What a sample holds already counts for its stratum.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from heapq import nsmallest
from math import ceil
from typing import NamedTuple

from annotator.domain.order import place as order_of
from annotator.quality.records import QualityStratum

Stratum = tuple[str, int]
"""A category (empty: none) and a settled grade."""


class Settled(NamedTuple):
    """A pair that could be drawn: `key` names it the same in every database."""

    key: str
    category: str | None
    grade: int

    @property
    def stratum(self) -> Stratum:
        return self.category or "", self.grade


def find_target(population: int, rate: float) -> int:
    """How many pairs that share is, rounded up; 0.07 of 100 is 7, whatever binary fractions make of it."""
    return min(population, ceil(Fraction(str(rate)) * population))


def find_seats(
    left: Mapping[Stratum, int], held: Mapping[Stratum, int], target: int, *, seed: int, sample_round: int
) -> dict[Stratum, int]:
    """How many of those left of each stratum to add to those held, so that the sample is of `target` pairs (or of all there
    are)."""
    sizes = {stratum: left.get(stratum, 0) + held.get(stratum, 0) for stratum in sorted({*left, *held})}
    start = _draw(seed, sample_round, f"start {sum(held.values())}")
    return share_out(sizes, held, target, start=Fraction(int.from_bytes(start, "big"), 2**64))


def draw_pairs(
    free: Iterable[Settled], held: Collection[Settled], target: int, *, seed: int, sample_round: int
) -> list[Settled]:
    """The pairs of `free` to add to those `held`."""
    by_stratum: dict[Stratum, list[Settled]] = {}
    for pair in free:
        by_stratum.setdefault(pair.stratum, []).append(pair)
    left = {stratum: len(pairs) for stratum, pairs in by_stratum.items()}
    already = Counter(pair.stratum for pair in held)
    seats = find_seats(left, already, target, seed=seed, sample_round=sample_round)
    drawn: list[Settled] = []
    for stratum, number in seats.items():
        pairs = by_stratum.get(stratum, ())
        drawn += nsmallest(number, pairs, key=lambda pair: (_draw(seed, sample_round, pair.key), pair.key))
    return drawn


def count_strata(
    left: Mapping[Stratum, int], already: Mapping[Stratum, int], new: Mapping[Stratum, int]
) -> tuple[QualityStratum, ...]:
    """How many pairs of each category and grade there are, are held, and are drawn; queries without a category last."""
    return tuple(
        QualityStratum(
            place[0] or None,
            place[1],
            left.get(place, 0) + already.get(place, 0),
            already.get(place, 0),
            new.get(place, 0),
        )
        for place in sorted({*left, *already}, key=lambda one: (not one[0], *one))
    )


def share_out(
    sizes: Mapping[Stratum, int],
    already: Mapping[Stratum, int],
    target: int,
    *,
    start: Fraction,
) -> dict[Stratum, int]:
    """How many further pairs each stratum gives, by its size, what the sample holds of it, and a random number in [0, 1).

    Together `target` less what is held; no stratum gives more than it has left.
    """
    population = sum(sizes.values())
    target = min(target, population)
    missing = target - sum(already.get(stratum, 0) for stratum in sizes)
    if missing <= 0:
        return dict.fromkeys(sizes, 0)
    wanted = {
        stratum: max(Fraction(0), Fraction(size * target, population) - already.get(stratum, 0))
        for stratum, size in sizes.items()
    }
    scale = missing / sum(wanted.values(), Fraction(0))  # below 1 where a stratum holds more than its share
    shares = {stratum: share * scale for stratum, share in wanted.items()}
    return dict(zip(sizes, _round_at_random(list(shares.values()), start), strict=True))


def _round_at_random(shares: Sequence[Fraction], start: Fraction) -> list[int]:
    """Whole numbers of the same sum: each share rounded up with a chance equal to its fraction, else down."""
    whole: list[int] = []
    passed = Fraction(0)
    for share in shares:
        fraction = share - int(share)
        up = ceil(passed + fraction - start) - ceil(passed - start)
        whole.append(int(share) + up)
        passed += fraction
    return whole


def _draw(seed: int, sample_round: int, name: str) -> bytes:
    """8 bytes that look drawn at random and are the same every time; others in every round."""
    return order_of(seed, f"quality control, round {sample_round}", name)
