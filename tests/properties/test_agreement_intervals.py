"""A 95 % interval holds the true value in 95 % of datasets: simulated ones, measured as any other, whose agreement is
known from their making. The worlds and their true values: benchmarks/coverage.py, which studies more of them."""

import numpy as np
import pytest

from annotator.agreement.judgment_table import sort_judged
from annotator.agreement.measure import measure
from benchmarks.coverage import NAMES, WORLDS, World, compute_coverage, compute_truth, pick_values

LEAST, MOST = 0.93, 0.97


@pytest.mark.parametrize(
    "size",
    ["20 queries, 2 annotators", pytest.param("50 queries, 2 annotators", marks=pytest.mark.long)],
)
def test_an_interval_holds_the_true_value_in_95_percent_of_the_datasets(size: str, is_long_run: bool) -> None:
    coverage = compute_coverage(WORLDS[size], datasets=1000 if is_long_run else 400, resamples=400)
    assert {name: share for name, share in coverage.items() if not LEAST <= share <= MOST} == {}


def test_resampling_pairs_instead_of_queries_would_promise_too_much() -> None:
    """The pairs of a query hang together in these worlds, so the rule above can fail."""
    coverage = compute_coverage(WORLDS["50 queries, 2 annotators"], datasets=80, resamples=200, by_pair=True)
    assert max(coverage.values()) < LEAST
    assert coverage["kappa"] < 0.88


@pytest.mark.parametrize("size", WORLDS)
def test_the_true_values_are_those_of_an_endless_dataset(size: str) -> None:
    """The expected counts, against a dataset so large that chance has no say."""
    world = WORLDS[size]
    large = World(60_000, 3, world.annotators, world.overlap, world.shares, world.alike, world.guesses)
    agreement = measure(large.draw(1), NAMES, resamples=0, seed=0)
    measured = {name: value.value for name, value in pick_values(agreement).items()}
    assert measured == pytest.approx(compute_truth(world), abs=0.01)


def test_the_interval_of_independent_pairs_is_the_published_one() -> None:
    """Cohen (1960): 200 cases, kappa .492, asymptotic interval .3916 to .5915 (Fleiss, Cohen & Everitt 1969). With each
    pair a query of its own, the bootstrap comes to the same to two places."""
    table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    first, second = (np.repeat(grid.ravel(), table.ravel()) for grid in np.indices((3, 3)))
    pair = np.tile(np.arange(200), 2)
    judged = sort_judged(pair, pair, np.repeat([0, 1], 200), np.concatenate([first, second]))
    low, high = measure(judged, "ab", resamples=4000, seed=0).cohen_kappa["unweighted"].ci95 or (0, 0)
    assert (low, high) == pytest.approx((0.3916, 0.5915), abs=0.01)
