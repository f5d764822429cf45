"""A sample of settled pairs: each pair's chance is the same, each stratum has its share, and the seed says which."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.quality.sampling import (
    DrawablePair,
    Stratum,
    count_strata,
    draw_pairs,
    find_target,
    share_out,
)

SIZES = st.dictionaries(
    st.tuples(st.sampled_from(["", "howto", "판례", "例"]), st.integers(0, 3)),
    st.integers(1, 40),
    min_size=1,
)
SEEDS = st.integers(0, 2**31 - 1)


def make_pairs(sizes: dict[Stratum, int]) -> list[DrawablePair]:
    return [
        DrawablePair(f"{category}/{grade}/{number}", category or None, grade)
        for (category, grade), size in sizes.items()
        for number in range(size)
    ]


@pytest.mark.parametrize(
    ("population", "rate", "target"),
    [(100, 0.07, 7), (1_000, 0.1, 100), (1_001, 0.1, 101), (3, 0.1, 1), (7, 1.0, 7), (10, 0.3, 3)],
)
def test_a_share_is_rounded_up_and_only_where_it_is_not_whole(
    population: int, rate: float, target: int
) -> None:
    assert find_target(population, rate) == target


def by_grade(numbers: Mapping[Stratum, int]) -> Counter[int]:
    total: Counter[int] = Counter()
    for (_, grade), number in numbers.items():
        total[grade] += number
    return total


@given(SIZES, st.integers(0, 200), SEEDS)
def test_each_stratum_and_each_grade_gives_its_share_up_to_one_pair(
    sizes: dict[Stratum, int], target: int, seed: int
) -> None:
    population = sum(sizes.values())
    seats = share_out(sizes, target, Random(seed))
    assert sum(seats.values()) == min(target, population)
    for drawn, there in ((seats, sizes), (by_grade(seats), by_grade(sizes))):
        for part, number in drawn.items():
            share = Fraction(there[part] * min(target, population), population)
            assert int(share) <= number <= ceil(share)


@given(SIZES, st.integers(1, 60), st.integers(1, 60), SEEDS)
def test_a_sample_drawn_in_two_steps_has_the_share_of_each_stratum_up_to_two_pairs(
    sizes: dict[Stratum, int], first: int, more: int, seed: int
) -> None:
    population = sum(sizes.values())
    held = share_out(sizes, first, Random(seed))
    left = {stratum: size - held[stratum] for stratum, size in sizes.items()}
    added = share_out(left, more, Random(seed + 1))
    total = min(first + more, population)
    assert sum(held.values()) + sum(added.values()) == total
    for stratum, size in sizes.items():
        assert held[stratum] + added[stratum] <= size
        assert abs(held[stratum] + added[stratum] - Fraction(size * total, population)) < 2


@given(st.integers(1, 8), st.integers(1, 30), st.integers(4, 40), SEEDS)
def test_with_equal_strata_every_sample_has_all_grades(
    categories: int, size: int, target: int, seed: int
) -> None:
    sizes = {(str(category), grade): size for category in range(categories) for grade in range(4)}
    drawn = by_grade(share_out(sizes, target, Random(seed)))
    assert set(drawn) == set(range(4)) and min(drawn.values()) > 0


def test_with_equal_strata_any_two_grades_can_be_drawn_together() -> None:
    """A systematic draw gives grades 0 and 2, or 1 and 3, and never 0 and 1."""
    pairs = make_pairs({("", grade): 25 for grade in range(4)})
    drawn = Counter(
        frozenset(pair.grade for pair in draw_pairs(pairs, 0, 2, seed=seed, sample_round=1))
        for seed in range(1_200)
    )
    assert len(drawn) == 6
    assert all(abs(number - 200) < 65 for number in drawn.values())  # 65 is five times its spread


@pytest.mark.parametrize(
    "sizes",
    [
        {("", 0): 2, ("a", 1): 9, ("b", 2): 13},
        {(category, grade): 3 for category in "abc" for grade in range(4)},
        {("a", 0): 1, ("b", 0): 1, ("a", 3): 40},
    ],
)
@pytest.mark.parametrize("steps", [(6,), (4, 9)])
def test_over_many_seeds_each_pair_is_drawn_equally_often(
    sizes: dict[Stratum, int], steps: tuple[int, ...]
) -> None:
    pairs, seeds = make_pairs(sizes), 2_000
    drawn: Counter[str] = Counter()
    for seed in range(seeds):
        free = pairs
        for held, target in pairwise((0, *steps)):
            new = draw_pairs(free, held, target, seed=seed, sample_round=1)
            drawn.update(pair.key for pair in new)
            free = [pair for pair in free if pair not in new]
    chance = steps[-1] / len(pairs)
    spread = sqrt(seeds * chance * (1 - chance))
    assert sum(drawn.values()) == steps[-1] * seeds
    assert all(abs(drawn[pair.key] - seeds * chance) < 5 * spread for pair in pairs)


@given(SIZES, st.integers(1, 100), st.integers(0, 2**31 - 1), st.randoms())
def test_the_order_of_the_rows_does_not_matter(
    sizes: dict[Stratum, int], target: int, seed: int, random: object
) -> None:
    pairs = make_pairs(sizes)
    mixed = pairs.copy()
    random.shuffle(mixed)  # type: ignore[attr-defined]
    first = draw_pairs(pairs, 0, target, seed=seed, sample_round=1)
    assert first == draw_pairs(mixed, 0, target, seed=seed, sample_round=1)
    assert len({pair.key for pair in first}) == min(target, len(pairs))


@given(SIZES, st.integers(1, 60), st.integers(1, 60))
def test_a_further_draw_never_repeats_a_pair(sizes: dict[Stratum, int], target: int, more: int) -> None:
    pairs = make_pairs(sizes)
    held = draw_pairs(pairs, 0, target, seed=3, sample_round=1)
    free = [pair for pair in pairs if pair not in held]
    added = draw_pairs(free, len(held), target + more, seed=3, sample_round=1)
    assert not set(added) & set(held)
    assert len(held) + len(added) == min(target + more, len(pairs))
    assert draw_pairs(free, len(held), len(held), seed=3, sample_round=1) == []


def test_another_seed_and_another_round_draw_others() -> None:
    pairs = make_pairs({("a", 0): 500})
    drawn = [
        frozenset(draw_pairs(pairs, 0, 50, seed=seed, sample_round=number))
        for seed, number in ((0, 1), (1, 1), (0, 2))
    ]
    assert len(set(drawn)) == 3


def test_strata_are_counted_by_category_and_grade_without_a_category_last() -> None:
    pairs = make_pairs({("", 0): 2, ("b", 1): 1, ("a", 3): 3})
    held, drawn, free = pairs[:1], pairs[1:3], pairs[1:]
    assert [
        (stratum.category, stratum.grade, stratum.population, stratum.drawn, stratum.pairs)
        for stratum in count_strata(
            *(Counter(pair.stratum for pair in pairs) for pairs in (free, held, drawn))
        )
    ] == [("a", 3, 3, 0, 0), ("b", 1, 1, 0, 1), (None, 0, 2, 1, 1)]
