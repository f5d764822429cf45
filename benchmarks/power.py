"""Whether the smallest detectable difference is one: how often a paired t-test finds it in simulated sets of queries.

    .venv/bin/python -m benchmarks.power [--sets 20000] [--seed 0]

For each number of queries the true difference is the one that `annotator evaluate` calls detectable at 80 % power. Its
differences are drawn from a normal distribution, for which the power is exact; and from two kinds that scores have: of
many queries that do not differ and some that differ much, and of a reciprocal rank, which takes few values. There the
80 % are an approximation, and this says how good it is. Also: the queries needed for d = 0.3, and their power.

It fails if normal differences are found more or less often than the power says, by over 4 standard errors of the simulation.
"""

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.differences.comparison import (
    ALPHA,
    POWER,
    SMALL_EFFECT,
    compute_power,
    find_detectable_effect,
    find_queries_needed,
)

SMALL = "--sets 50"  # what the tests start it with
MOST_ERRORS = 4  # standard errors of the simulation
SIZES = (10, 13, 25, 50, 100, 200)

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def draw_normal(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return differences from a normal distribution."""
    return random.normal(size=shape)


def draw_mostly_equal(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return differences of which 70 % are nearly 0 and the others large."""
    large = random.random(shape) < 0.3
    return np.where(large, random.normal(0, 0.3, shape), random.normal(0, 0.01, shape))


def draw_reciprocal_ranks(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return differences of two reciprocal ranks, each of the ranks 1 to 10 or none."""
    scores = np.array([1 / rank for rank in range(1, 11)] + [0.0])
    shares = np.array([0.45, 0.15, 0.1, 0.07, 0.05, 0.04, 0.03, 0.03, 0.02, 0.02, 0.04])
    first, second = (random.choice(scores, size=shape, p=shares) for _ in range(2))
    return np.asarray(first - second)


KINDS: dict[str, Draw] = {
    "normal": draw_normal,
    "mostly equal": draw_mostly_equal,
    "reciprocal ranks": draw_reciprocal_ranks,
}


def find_share(draw: Draw, effect: float, queries: int, sets: int, random: np.random.Generator) -> float:
    """Return how often a two-sided paired t-test finds a true difference of `effect` standard deviations."""
    from scipy.stats import t as student

    scale = float(draw(random, (200_000, 1)).std())
    differences = draw(random, (sets, queries)) / scale + effect
    error = differences.std(axis=1, ddof=1) / np.sqrt(queries)
    t = np.divide(differences.mean(axis=1), error, out=np.zeros(sets), where=error > 0)
    return float((np.abs(t) > student.ppf(1 - ALPHA / 2, queries - 1)).mean())


def list_lines(sets: int, seed: int) -> Iterator[str]:
    """Yield the table line by line."""
    yield f"| {'queries':>7} | {'d':>5} | " + " | ".join(KINDS) + " |"
    yield "|---:|---:|" + "---:|" * len(KINDS)
    needed = find_queries_needed(SMALL_EFFECT)
    rows = [(size, find_detectable_effect(size)) for size in SIZES]
    for queries, effect in [*rows, (needed, SMALL_EFFECT)]:
        if queries is None or effect is None:
            raise RuntimeError("expected a detectable effect for every size")
        random = np.random.default_rng(seed)
        shares = [find_share(draw, effect, queries, sets, random) for draw in KINDS.values()]
        yield f"| {queries:>7} | {effect:.3f} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"
        stated = compute_power(effect, queries)
        if abs(shares[0] - stated) > MOST_ERRORS * np.sqrt(stated * (1 - stated) / sets):
            sys.exit(
                f"{queries} queries, d = {effect:.3f}: a power of {stated:.1%} is stated, simulated {shares[0]:.1%}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="How often a detectable difference is found, by simulation.")
    parser.add_argument("--sets", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for line in list_lines(chosen.sets, chosen.seed):
        print(line, flush=True)
    error = 2 * np.sqrt(POWER * (1 - POWER) / chosen.sets)
    print(f"\nAim: {POWER:.0%} of {chosen.sets:,} sets each, known to ± {error:.1%}.")


if __name__ == "__main__":
    main()
