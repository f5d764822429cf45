"""Dawid and Skene's estimate of crowds: it converges, its likelihood never falls, and it ends where the algorithm of 1979
ends."""

import numpy as np
import pytest

from annotator.agreement.dawid_skene import DawidSkene, estimate
from benchmarks.crowd import Crowd, draw_crowd

SHARES: dict[str, dict[str, float]] = {
    "as drawn": {},
    "careless": {"constant": 0.4, "guessing": 0.3},
    "adverse": {"adverse": 0.3},
}
WORLDS = [(name, seed) for name in SHARES for seed in range(2)]


def _draw(name: str, seed: int, *, people: int = 60) -> Crowd:
    return draw_crowd(pairs=600, people=people, judgments=2_400, seed=seed, **SHARES[name])


@pytest.mark.parametrize(("name", "seed"), WORLDS)
def test_the_likelihood_never_falls_and_nothing_changes_any_more(name: str, seed: int) -> None:
    found = estimate(*_draw(name, seed))
    assert found.converged
    steps = np.diff(found.log_likelihoods)
    assert steps.min() > -1e-9 * abs(found.log_likelihoods[-1])


@pytest.mark.parametrize(("name", "seed"), WORLDS)
def test_it_takes_far_fewer_rounds_than_the_plain_algorithm(name: str, seed: int) -> None:
    crowd = _draw(name, seed)
    found = estimate(*crowd)
    assert not estimate(*crowd, accelerate=False, most_rounds=found.rounds).converged


@pytest.mark.parametrize("seed", range(4))
def test_it_ends_where_the_plain_algorithm_ends_when_it_is_run_long(seed: int) -> None:
    crowd = draw_crowd(pairs=300, people=8, judgments=1_200, seed=seed)
    found, plain = estimate(*crowd), estimate(*crowd, accelerate=False, most_rounds=50_000)
    assert found.converged and plain.converged
    assert found.log_likelihoods[-1] == pytest.approx(plain.log_likelihoods[-1], abs=1e-4)
    assert found.probabilities == pytest.approx(plain.probabilities, abs=2e-3)
    assert found.shares == pytest.approx(plain.shares, abs=1e-3)
    assert found.errors == pytest.approx(plain.errors, abs=5e-3)


@pytest.mark.parametrize(("name", "seed"), WORLDS)
def test_what_it_ends_with_are_probabilities_that_a_further_round_keeps(name: str, seed: int) -> None:
    found: DawidSkene = estimate(*_draw(name, seed))
    assert found.shares.sum() == pytest.approx(1.0)
    sums = found.errors.sum(axis=2)
    assert np.all(np.isclose(sums, 1.0) | (sums == 0.0))
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(len(found.probabilities)))
    assert min(found.errors.min(), found.probabilities.min()) >= 0.0
