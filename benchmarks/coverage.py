"""How often the 95 % intervals of agreement hold the true value, over simulated datasets whose agreement is known.

    .venv/bin/python -m benchmarks.coverage [--datasets 2000] [--resamples 1000] [--seed 0] [--sizes NAME …]

Each dataset is measured by the program itself. Pairs of one query hang together: a query has its own mix of grades and
its own difficulty. The true values follow from the expected counts, without simulation. Also printed: the same
intervals drawn as if the pairs were independent of each other, which is what resampling by query is for.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotator.agreement.judgment_table import CATEGORIES, Floats, GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import CoefficientValue, MeasuredAgreement

SMALL = "--datasets 4 --resamples 10 --sizes '20 queries, 2 annotators'"  # what the tests start it with
APART = np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES)).astype(float)
NAMES = "abcdefghijklmnopqrst"
MIXED = (0.45, 0.25, 0.20, 0.10)
MOSTLY_0 = (0.80, 0.10, 0.06, 0.04)


@dataclass(frozen=True)
class World:
    """Datasets alike: each pair is judged by `overlap` of the `annotators`.

    A query draws its shares of the grades around `shares` (Dirichlet, `alike` the precision) and how often a judgment
    is a guess (Beta, `guesses`). A judgment is the pair's grade, or a guess in which the later annotators lean upward.
    """

    queries: int
    pairs: int = 10
    annotators: int = 2
    overlap: int = 2
    shares: tuple[float, ...] = MIXED
    alike: float = 4.0
    guesses: tuple[float, float] = (1.5, 3.5)

    def list_guesses(self) -> Floats:
        """How often each annotator guesses each grade: annotators x 4."""
        distance = np.arange(self.annotators) - (self.annotators - 1) / 2
        leaning = 0.05 * distance / max(1, self.annotators - 1)
        return np.asarray(0.25 + leaning[:, None] * (np.arange(CATEGORIES) - 1.5))

    def draw(self, seed: int) -> GradedJudgments:
        """One dataset."""
        random = np.random.default_rng(seed)
        query = np.repeat(np.arange(self.queries), self.pairs)
        shares = random.dirichlet(np.array(self.shares) * self.alike, self.queries)[query]
        grade = (random.random(len(query))[:, None] > shares.cumsum(axis=1)).sum(axis=1).clip(0, 3)
        guesses = random.beta(*self.guesses, self.queries)[query]
        given = []
        for odds in self.list_guesses():
            guess = random.choice(CATEGORIES, size=len(query), p=odds)
            given.append(np.where(random.random(len(query)) < guesses, guess, grade))
        turn = random.random((self.annotators, len(query))).argsort(axis=0).argsort(axis=0)
        annotator, pair = np.nonzero(turn < self.overlap)
        return sort_judged(query[pair], pair, annotator, np.array(given)[annotator, pair])

    def expect(self) -> list[Floats]:
        """The expected table of every two annotators, as shares."""
        alpha, beta = self.guesses
        mean = alpha / (alpha + beta)
        squared = mean * (alpha + 1) / (alpha + beta + 1)
        guess, shares = self.list_guesses(), np.array(self.shares)
        return [
            (1 - 2 * mean + squared) * np.diag(shares)
            + (mean - squared) * (np.outer(shares, guess[second]) + np.outer(guess[first], shares))
            + squared * np.outer(guess[first], guess[second])
            for first, second in combinations(range(self.annotators), 2)
        ]


def compute_truth(world: World) -> dict[str, float]:
    """The coefficients of the expected counts: what an endless dataset of this world would have."""
    tables = world.expect()
    table = np.mean([(counts + counts.T) / 2 for counts in tables], axis=0)
    share = table.sum(axis=0)
    middle = np.cumsum(share) - share / 2
    spread = (share * (1 - share)).sum()
    near = 1 - (APART / (CATEGORIES - 1)) ** 2

    def beyond_chance(observed: float, chance: float) -> float:
        return float((observed - chance) / (1 - chance))

    def kappa(counts: Floats, apart: Floats) -> float:
        return float(
            1 - (counts * apart).sum() / (np.outer(counts.sum(axis=1), counts.sum(axis=0)) * apart).sum()
        )

    return {
        "kappa": float(np.mean([kappa(counts, APART != 0) for counts in tables])),
        "kappa, quadratic": float(np.mean([kappa(counts, APART**2) for counts in tables])),
        "Fleiss": beyond_chance(np.trace(table), (share**2).sum()),
        "alpha, ordinal": kappa(table, np.subtract.outer(middle, middle) ** 2),
        "alpha, interval": kappa(table, APART**2),
        "AC1": beyond_chance(np.trace(table), spread / (CATEGORIES - 1)),
        "AC2": beyond_chance((table * near).sum(), near.sum() / (CATEGORIES * (CATEGORIES - 1)) * spread),
    }


def pick_values(measured: MeasuredAgreement) -> dict[str, CoefficientValue]:
    """The same figures of a measurement."""
    return {
        "kappa": measured.cohen_kappa["unweighted"],
        "kappa, quadratic": measured.cohen_kappa["quadratic"],
        "Fleiss": measured.fleiss_kappa,
        "alpha, ordinal": measured.krippendorff_alpha["ordinal"],
        "alpha, interval": measured.krippendorff_alpha["interval"],
        "AC1": measured.gwet_ac1,
        "AC2": measured.gwet_ac2,
    }


def compute_coverage(
    world: World, *, datasets: int, resamples: int, seed: int = 0, by_pair: bool = False
) -> dict[str, float]:
    """The share of datasets whose interval holds the true value. `by_pair`: every pair taken for a query of its own."""
    truth = compute_truth(world)
    held = dict.fromkeys(truth, 0)
    for number in range(datasets):
        judged = world.draw(seed + number)
        if by_pair:
            judged = replace(judged, query=judged.pair)
        for name, value in pick_values(measure(judged, NAMES, resamples=resamples, seed=0)).items():
            low, high = value.ci95 or (np.nan, np.nan)
            held[name] += bool(low <= truth[name] <= high)
    return {name: count / datasets for name, count in held.items()}


WORLDS: dict[str, World] = {
    "20 queries, 2 annotators": World(20),
    "50 queries, 2 annotators": World(50),
    "50 queries, mostly grade 0": World(50, shares=MOSTLY_0, guesses=(1.0, 5.0)),
    "50 queries, 3 annotators, few guesses": World(50, annotators=3, overlap=3, guesses=(1.0, 9.0)),
    "100 queries, 2 annotators": World(100),
    "100 queries, 2 of 4 annotators": World(100, annotators=4),
    "200 queries, 2 annotators": World(200),
}
FEW_SHARED: dict[str, World] = {
    "100 queries, 2 of 10 annotators": World(100, annotators=10),
    "100 queries, 2 of 20 annotators": World(100, annotators=20),
}
"""Every two annotators share 22 and 5 pairs: too few for the mean of their kappas."""


def list_lines(sizes: Sequence[str], datasets: int, resamples: int, seed: int) -> Iterator[str]:
    """The table, as Markdown, line by line."""
    names = list(compute_truth((WORLDS | FEW_SHARED)[sizes[0]]))
    yield "| ten pairs a query | kappa is | " + " | ".join(names) + " | kappa, drawn by pair |"
    yield "|---" * (len(names) + 3) + "|"
    for size in sizes:
        world = (WORLDS | FEW_SHARED)[size]
        coverage = compute_coverage(world, datasets=datasets, resamples=resamples, seed=seed)
        wrong = compute_coverage(
            world, datasets=max(1, datasets // 4), resamples=resamples, seed=seed, by_pair=True
        )
        figures = " | ".join(f"{100 * share:.1f}" for share in coverage.values())
        yield f"| {size} | {compute_truth(world)['kappa']:.2f} | {figures} | {100 * wrong['kappa']:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Coverage of the intervals of agreement, in % of the datasets."
    )
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--sizes", nargs="+", choices=WORLDS | FEW_SHARED, default=list(WORLDS), metavar="NAME"
    )
    chosen = parser.parse_args()
    for line in list_lines(chosen.sizes, chosen.datasets, chosen.resamples, chosen.seed):
        print(line, flush=True)
    error = 100 * np.sqrt(0.95 * 0.05 / chosen.datasets)
    print(f"\nOver {chosen.datasets:,} datasets 95 % is known to ± {2 * error:.1f}.")


if __name__ == "__main__":
    main()
