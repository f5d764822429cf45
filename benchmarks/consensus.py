"""Dawid and Skene's estimate of crowds: rounds and seconds until nothing changes, beside the algorithm of 1979.

    .venv/bin/python -m benchmarks.consensus [--pairs 20000] [--people 762] [--judgments 100000] [--plain 200] [--seeds 3]

Crowds with constant, guessing and adverse annotators (`crowd.py`), and harder ones with more of them. `--plain`: at most so many
rounds of the algorithm without acceleration, 0 leaves it out. Printed too: whether the likelihood ever fell.
"""

import argparse
import time

import numpy as np

from annotator.agreement.consensus import estimate
from benchmarks.crowd import draw_crowd

SMALL = "--pairs 200 --people 20 --judgments 600 --plain 5 --seeds 1"  # what the tests start it with
HARDER = {
    "as drawn": {},
    "careless": {"constant": 0.3, "guessing": 0.25},
    "adverse": {"adverse": 0.2, "guessing": 0.2},
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Dawid and Skene's estimate of crowds.")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--people", type=int, default=762)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--plain", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    sizes = {"pairs": chosen.pairs, "people": chosen.people, "judgments": chosen.judgments}
    for seed in range(chosen.seeds):
        for name, shares in HARDER.items():
            crowd = draw_crowd(**sizes, seed=seed, **shares)
            for accelerate, rounds in ((True, {}), (False, {"most_rounds": chosen.plain})):
                if not accelerate and not chosen.plain:
                    continue
                begun = time.perf_counter()
                estimates = estimate(*crowd, accelerate=accelerate, **rounds)
                took = time.perf_counter() - begun
                falls = int((np.diff(estimates.log_likelihoods) < 0).sum())
                print(
                    f"seed {seed} {name:<9} {len(crowd.pair):,} judgments {'accelerated' if accelerate else 'plain':<11} "
                    f"{estimates.rounds:>5} rounds {took:6.1f} s converged {estimates.converged} falls {falls} "
                    f"log-likelihood {estimates.log_likelihoods[-1]:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
