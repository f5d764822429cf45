"""How often the 95 % intervals of `annotator evaluate` hold the true value, over simulated sets of queries.

    .venv/bin/python -m benchmarks.score_coverage [--sets 4000] [--resamples 1000] [--seed 0] [--queries 5 10 50]

A set has the scores of two systems on its queries; both depend on how hard the query is. Measured are the interval of the
first system's mean and that of the mean difference, as the program computes them, and the same with plain percentiles. The
true mean follows from 4,000,000 simulated queries; the true difference is 0.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from annotator.evaluation.differences.comparison import find_intervals, find_range, resample_means

SMALL = "--sets 4 --resamples 20 --queries 5"  # what the tests start it with
TRUTH_FROM = 4_000_000
Floats = NDArray[np.float64]


def draw_ndcg(random: Generator, size: int) -> Floats:
    """Draw scores as of nDCG, from 0 to 1: size x 2."""
    ease = random.beta(1.5, 1.5, size)
    return np.column_stack([random.beta(0.3 + 4 * ease, 0.3 + 4 * (1 - ease)) for _ in range(2)])


def draw_precision(random: Generator, size: int) -> Floats:
    """Draw scores as of P@10 with few relevant documents: size x 2."""
    ease = random.beta(0.8, 2.5, size)
    return np.column_stack([random.binomial(10, ease) / 10 for _ in range(2)])


def draw_reciprocal_rank(random: Generator, size: int) -> Floats:
    """Draw reciprocal ranks, 0 below rank 100: size x 2."""
    ease = random.beta(1.0, 1.5, size).clip(0.002)
    ranks = np.column_stack([random.geometric(ease) for _ in range(2)])
    return np.where(ranks <= 100, 1 / ranks, 0.0)


def draw_normal(random: Generator, size: int) -> Floats:
    """Draw normal scores, for comparison: size x 2."""
    return random.normal(0.5, 0.2, size)[:, None] + random.normal(0.0, 0.1, (size, 2))


WORLDS: dict[str, Callable[[Generator, int], Floats]] = {
    "nDCG": draw_ndcg,
    "P@10": draw_precision,
    "RR": draw_reciprocal_rank,
    "normal": draw_normal,
}


def measure_coverage(world: str, queries: int, *, sets: int, resamples: int, seed: int) -> list[float]:
    """Return the coverage of mean and difference, then of both with plain percentiles."""
    draw = WORLDS[world]
    random = np.random.default_rng(seed)
    truth = (float(draw(random, TRUTH_FROM).mean()), 0.0)  # both systems are alike
    held = np.zeros(4)
    for number in range(sets):
        means = resample_means(draw(random, queries), seed=seed + number, resamples=resamples)
        resampled = np.column_stack([means[:, 0], means[:, 1] - means[:, 0]])
        intervals = [*find_intervals(resampled, queries), *map(find_range, resampled.T)]
        held += [
            interval is not None and interval[0] <= value <= interval[1]
            for interval, value in zip(intervals, truth * 2, strict=True)
        ]
    return (held / sets).tolist()


def list_lines(queries: list[int], sets: int, resamples: int, seed: int) -> Iterator[str]:
    """Yield the table, as Markdown, line by line."""
    yield "| scores | queries | mean | difference | mean, plain | difference, plain |"
    yield "|---|---:|---:|---:|---:|---:|"
    for world in WORLDS:
        for count in queries:
            shares = measure_coverage(world, count, sets=sets, resamples=resamples, seed=seed)
            yield f"| {world} | {count} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Coverage of the intervals of scores, in % of the sets.")
    parser.add_argument("--sets", type=int, default=4_000)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queries", type=int, nargs="+", default=[5, 10, 50])
    chosen = parser.parse_args()
    for line in list_lines(chosen.queries, chosen.sets, chosen.resamples, chosen.seed):
        print(line, flush=True)
    error = 100 * np.sqrt(0.95 * 0.05 / chosen.sets)
    print(f"\nOver {chosen.sets:,} sets 95 % is known to ± {2 * error:.1f}.")


if __name__ == "__main__":
    main()
