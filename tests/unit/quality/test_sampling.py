"""A sample of settled pairs: each pair's chance is the same, each stratum has its share, and the seed says which."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.quality.sampling import DrawablePair, count_strata, draw_pairs, find_target, share_out

SIZES = st.dictionaries(
    st.tuples(st.sampled_from(["", "howto", "판례", "例"]), st.integers(0, 3)),
    st.integers(1, 40),
    min_size=1,
)
STARTS = st.integers(0, 2**64 - 1).map(lambda number: Fraction(number, 2**64))


def make_pairs(sizes: dict[tuple[str, int], int]) -> list[DrawablePair]:
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


@given(SIZES, st.integers(0, 200), STARTS)
def test_each_stratum_gives_its_share_up_to_one_pair(
    sizes: dict[tuple[str, int], int], target: int, start: Fraction
) -> None:
    population = sum(sizes.values())
    seats = share_out(sizes, {}, target, start=start)
    assert sum(seats.values()) == min(target, population)
    for stratum, seat in seats.items():
        share = Fraction(sizes[stratum] * min(target, population), population)
        assert int(share) <= seat <= sizes[stratum]
        assert seat < share + 1


@given(SIZES, st.integers(1, 60), st.integers(1, 60), STARTS, STARTS)
def test_what_a_sample_holds_counts_for_its_stratum(
    sizes: dict[tuple[str, int], int], first: int, more: int, start: Fraction, again: Fraction
) -> None:
    population = sum(sizes.values())
    held = share_out(sizes, {}, first, start=start)
    added = share_out(sizes, held, first + more, start=again)
    assert sum(held.values()) + sum(added.values()) == min(first + more, population)
    for stratum, size in sizes.items():
        share = Fraction(size * min(first + more, population), population)
        assert held[stratum] + added[stratum] <= size
        assert held[stratum] + added[stratum] < share + 2


def test_every_pair_has_the_same_chance_also_in_the_smallest_stratum() -> None:
    """Over evenly spread starts, a stratum gets on average exactly its share: a third of one pair as well."""
    sizes = {("", 0): 2, ("a", 1): 31, ("b", 2): 27}
    starts = [Fraction(2 * number + 1, 2_000) for number in range(1_000)]
    seats = [share_out(sizes, {}, 10, start=start) for start in starts]
    for stratum, size in sizes.items():
        mean = Fraction(sum(seat[stratum] for seat in seats), len(starts))
        assert abs(mean - Fraction(size * 10, 60)) < Fraction(1, 500)


def test_over_many_seeds_each_pair_is_drawn_equally_often() -> None:
    pairs = make_pairs({("", 0): 2, ("a", 1): 9, ("b", 2): 13})
    drawn: Counter[str] = Counter()
    for seed in range(2_000):
        drawn.update(pair.key for pair in draw_pairs(pairs, [], 6, seed=seed, sample_round=1))
    assert sum(drawn.values()) == 12_000
    assert all(
        abs(drawn[pair.key] - 500) < 100 for pair in pairs
    )  # 500 expected; 100 is five times its spread


@given(SIZES, st.integers(1, 100), st.integers(0, 2**31 - 1), st.randoms())
def test_the_order_of_the_rows_does_not_matter(
    sizes: dict[tuple[str, int], int], target: int, seed: int, random: object
) -> None:
    pairs = make_pairs(sizes)
    mixed = pairs.copy()
    random.shuffle(mixed)  # type: ignore[attr-defined]
    first = draw_pairs(pairs, [], target, seed=seed, sample_round=1)
    assert first == draw_pairs(mixed, [], target, seed=seed, sample_round=1)
    assert len({pair.key for pair in first}) == min(target, len(pairs))


@given(SIZES, st.integers(1, 60), st.integers(1, 60))
def test_more_is_drawn_of_what_was_not_and_never_the_same_again(
    sizes: dict[tuple[str, int], int], target: int, more: int
) -> None:
    pairs = make_pairs(sizes)
    held = draw_pairs(pairs, [], target, seed=3, sample_round=1)
    free = [pair for pair in pairs if pair not in held]
    added = draw_pairs(free, held, target + more, seed=3, sample_round=1)
    assert not set(added) & set(held)
    assert len(held) + len(added) == min(target + more, len(pairs))
    assert draw_pairs(free, held, len(held), seed=3, sample_round=1) == []


def test_another_seed_and_another_round_draw_others() -> None:
    pairs = make_pairs({("a", 0): 500})
    drawn = [
        frozenset(draw_pairs(pairs, [], 50, seed=seed, sample_round=number))
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
