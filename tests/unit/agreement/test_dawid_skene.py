"""Dawid and Skene's estimate of crowds: it converges, its likelihood never falls, and it ends where the algorithm of 1979
ends."""

import numpy as np
import pytest

from annotator.agreement import consensus
from annotator.agreement.consensus import DawidSkene, estimate, find_likelier
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
    estimates = estimate(*_draw(name, seed))
    assert estimates.converged
    steps = np.diff(estimates.log_likelihoods)
    assert steps.min() > -1e-9 * abs(estimates.log_likelihoods[-1])


@pytest.mark.parametrize(("name", "seed"), WORLDS)
def test_it_takes_far_fewer_rounds_than_the_plain_algorithm(name: str, seed: int) -> None:
    crowd = _draw(name, seed)
    estimates = estimate(*crowd)
    assert not estimate(*crowd, accelerate=False, most_rounds=estimates.rounds).converged


@pytest.mark.parametrize("seed", range(4))
def test_it_ends_where_the_plain_algorithm_ends_when_it_is_run_long(seed: int) -> None:
    crowd = draw_crowd(pairs=300, people=8, judgments=1_200, seed=seed)
    estimates, plain = estimate(*crowd), estimate(*crowd, accelerate=False, most_rounds=50_000)
    assert estimates.converged and plain.converged
    assert estimates.log_likelihoods[-1] == pytest.approx(plain.log_likelihoods[-1], abs=1e-4)
    assert estimates.probabilities == pytest.approx(plain.probabilities, abs=2e-3)
    assert estimates.shares == pytest.approx(plain.shares, abs=1e-3)
    assert estimates.errors == pytest.approx(plain.errors, abs=5e-3)


@pytest.mark.parametrize(("name", "seed"), WORLDS)
def test_what_it_ends_with_are_probabilities_that_a_further_round_keeps(name: str, seed: int) -> None:
    estimates: DawidSkene = estimate(*_draw(name, seed))
    assert estimates.shares.sum() == pytest.approx(1.0)
    sums = estimates.errors.sum(axis=2)
    assert np.all(np.isclose(sums, 1.0) | (sums == 0.0))
    assert estimates.probabilities.sum(axis=1) == pytest.approx(np.ones(len(estimates.probabilities)))
    assert min(estimates.errors.min(), estimates.probabilities.min()) >= 0.0


def _draw_graded(seed: int, pairs: int = 400, people: int = 40) -> tuple[np.ndarray, ...]:  # type: ignore[type-arg]
    """Three judgments a pair; the first annotator guesses most, the last is right in nine of ten cases."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, pairs)
    rows = [
        (pair, who, truth[pair] if random.random() < 0.3 + 0.6 * who / people else random.integers(0, 4))
        for pair in range(pairs)
        for who in random.choice(people, 3, replace=False)
    ]
    return tuple(np.array(rows, dtype=np.int64).T)


@pytest.mark.parametrize(
    ("seed", "kept"), [(0, "plain"), (1, "accelerated"), (2, "accelerated"), (5, "plain")]
)
def test_of_two_ends_the_likelier_is_kept_where_the_plain_algorithm_is_cheap(
    seed: int, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = _draw_graded(seed)
    ends = {"accelerated": estimate(*columns), "plain": estimate(*columns, accelerate=False)}
    estimates = find_likelier(*columns)
    best = max(end.log_likelihoods[-1] for end in ends.values())
    assert estimates.log_likelihoods[-1] == pytest.approx(best, abs=1e-3)
    assert estimates.log_likelihoods == ends[kept].log_likelihoods
    monkeypatch.setattr(consensus, "CHEAP", 100 * len(columns[0]))
    assert find_likelier(*columns).log_likelihoods == ends["accelerated"].log_likelihoods


def test_without_a_judgment_there_is_nothing_to_compare() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert find_likelier(nothing, nothing, nothing).converged
