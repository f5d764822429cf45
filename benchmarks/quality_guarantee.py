"""How often quality control passes although 5 % of the settled grades are errors, wherever the errors are.

    .venv/bin/python -m benchmarks.quality_guarantee [--draws 40000]

Each world has just too many errors, placed so that the strata could mislead: in two grades, in one category, in few strata,
or one in each of many. Samples are drawn with `share_out` of the program, of the smallest sizes that pass with 0 and with 3
errors. Printed are the share of samples that pass, beside it the probability for a simple random sample (hypergeometric), and
the most that the program's draw allows for any places of the errors: the errors in a sample by the pivotal method are
distributed as a sum of independent yes-or-no variables (the draw is strongly Rayleigh: Borcea, Brändén & Liggett 2009), and
a binomial one has the most weight in the tail (Hoeffding 1956). It fails if that is more than 5 %, or if more samples pass.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from random import Random

import numpy as np

from annotator.quality.records import CONFIDENCE
from annotator.quality.sampling import Stratum, count_first_too_many, is_proven, share_out

SMALL = "--draws 100"  # what the tests start it with
ALLOWED = (0, 3)  # errors with which a sample passes
MOST_SPREADS = 5  # of the simulation


@dataclass(frozen=True, slots=True)
class World:
    """Strata of one size, and the number of errors in each."""

    name: str
    size: int
    errors: dict[Stratum, int]

    @property
    def population(self) -> int:
        return self.size * len(self.errors)


def list_worlds() -> Iterator[World]:
    """Yield worlds with just too many errors; strata of equal size, which fool a systematic draw most."""
    for categories, size in ((1, 50), (3, 10), (25, 10), (12, 20), (10, 250)):
        strata = [(f"{category:02}", grade) for category in range(categories) for grade in range(4)]
        too_many = count_first_too_many(size * len(strata))
        places = {
            "grades 0 and 2": [stratum for stratum in strata if stratum[1] in (0, 2)],
            "one category": [stratum for stratum in strata if stratum[0] == "00"],
            "few strata": strata,
            "evenly": strata,
        }
        for name, chosen in places.items():
            errors = dict.fromkeys(strata, 0)
            room = size if name == "few strata" else -(-too_many // len(chosen))
            left = too_many
            for stratum in chosen:
                errors[stratum] = min(size, room, left)
                left -= errors[stratum]
            if not left:
                yield World(f"{len(strata)} × {size}, errors: {name}", size, errors)


def find_size(world: World, allowed: int) -> int | None:
    """Return the smallest sample that passes with this many errors, if one does."""
    sizes = range(allowed + 1, world.population)
    return next((size for size in sizes if is_proven(allowed, size, world.population)), None)


def simulate(world: World, size: int, allowed: int, draws: int) -> float:
    """Return the share of samples with at most `allowed` errors."""
    generator = np.random.default_rng(0)
    left = dict.fromkeys(world.errors, world.size)
    bad = np.array([world.errors[stratum] for stratum in sorted(left)])
    passed = 0
    for start in range(0, draws, 1000):
        seeds = range(start, min(start + 1000, draws))
        seats = [share_out(left, size, Random(seed)) for seed in seeds]
        table = np.array([[drawn[stratum] for stratum in sorted(left)] for drawn in seats])
        found = generator.hypergeometric(bad, world.size - bad, table).sum(axis=1)
        passed += int((found <= allowed).sum())
    return passed / draws


def main() -> None:
    """Simulate and print."""
    from scipy.stats import binom, hypergeom

    parser = argparse.ArgumentParser(description="How often quality control passes wrongly.")
    parser.add_argument("--draws", type=int, default=40_000)
    draws = parser.parse_args().draws
    print("| strata × pairs | sample | errors allowed | passes wrongly | simple random sample | at most |")
    print("|---|---:|---:|---:|---:|---:|")
    broken = False
    for world in list_worlds():
        population, too_many = world.population, sum(world.errors.values())
        for allowed in ALLOWED:
            size = find_size(world, allowed)
            if size is None or allowed >= too_many:
                continue
            share = simulate(world, size, allowed, draws)
            terms = min(size, too_many)
            most = float(binom.cdf(allowed, terms, size * too_many / population / terms))
            simple = float(hypergeom.cdf(allowed, population, too_many, size))
            broken |= most > 1 - CONFIDENCE or share > most + MOST_SPREADS * sqrt(most * (1 - most) / draws)
            print(
                f"| {world.name} | {size} | {allowed} | {share:.2%} | {simple:.2%} | {most:.2%} |", flush=True
            )
    if broken:
        sys.exit("more samples pass than the guarantee allows")


if __name__ == "__main__":
    main()
