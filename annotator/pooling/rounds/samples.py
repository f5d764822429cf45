"""Combine the inclusion probabilities of several stratified rounds of one dataset. Pure rules.

Two samples with different seeds are independent draws. A pair that either of them could have drawn is in the pool with the probability
1 - (1 - p1)(1 - p2), whichever of them drew it. So p1 must be known also for pairs that the first sample did not draw: its draw is
repeated from the same lists with the same seed, and must give what is stored. Where it does not, since a run has changed for instance,
the second sample is refused: its estimates would be wrong. (Horvitz & Thompson 1952; multiple-frame samples: Bankier 1986.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.pooling.rounds.pool_records import CandidatePairs, PoolChoice, PoolRequest, RankStratum
from annotator.pooling.rounds.round_records import PoolRound
from annotator.pooling.rounds.strategies import (
    count_strata,
    draw_by_rank,
    find_strata,
    measure_chances,
    read_strata,
)


@dataclass(frozen=True, slots=True)
class EarlierSample:
    """A stratified round that was made before. `depths`: by the name of each system, to which depth it was looked at."""

    number: int
    strata: tuple[RankStratum, ...]
    seed: int
    depths: Mapping[str, int]
    figures: Mapping[str, Any]


def read_sample(made: PoolRound) -> EarlierSample:
    """Return the sample that a stratified round drew."""
    strata = read_strata(",".join(made.options["strata"]))
    return EarlierSample(made.number, strata, made.options["seed"], made.figures["systems"], made.figures)


def is_same_draw(sample: EarlierSample, request: PoolRequest) -> bool:
    """Return whether the request draws with the same seed from the same ranks."""
    return (sample.strata, sample.seed) == (find_strata(request), request.seed)


def check_independent(rounds: Sequence[PoolRound], request: PoolRequest) -> None:
    """Raise StateError unless the request's sample is independent of those of these stratified rounds, whose draws can be repeated."""
    for made in rounds:
        if made.options["seed"] == request.seed:
            raise StateError(
                say(
                    "round {number} already drew a sample with the seed {seed}, so another one is not independent of it: choose another seed",
                    number=made.number,
                    seed=request.seed,
                )
            )
        for retrievers, filters in (
            (made.options["retrievers"], made.options.get("filters")),
            (request.retrievers, request.filters),
        ):
            if retrievers or filters:
                raise StateError(
                    say(
                        "round {number} already drew a sample: a second one can be combined with it only if both are drawn from imported runs without filters; choose pairs by depth instead",
                        number=made.number,
                    )
                )


def check_repeated(
    sample: EarlierSample,
    pairs: CandidatePairs,
    stored: Mapping[tuple[int, int], str | None],
    in_pool: NDArray[np.bool_],
) -> None:
    """Raise StateError unless the sample's draw, repeated from these pairs, gives the stored ones (stratum by query and document).

    `in_pool`: of each of the pairs, whether it is in the pool, as every drawn pair is.
    """
    choice = draw_by_rank(pairs, sample.strata, sample.seed)
    drawn = _name_drawn(pairs, choice)
    counts = [
        {"ranks": item.ranks, "rate": item.rate, "candidates": item.candidates, "drawn": item.drawn}
        for item in count_strata(pairs, choice)
    ]
    if (
        not stored.items() <= drawn.items()
        or not in_pool[choice.pairs].all()
        or counts != sample.figures["strata"]
    ):
        raise StateError(
            say(
                "the runs have changed since round {number} drew its sample, so the probabilities of both samples together are not known; choose pairs by depth instead",
                number=sample.number,
            )
        )


def _name_drawn(pairs: CandidatePairs, choice: PoolChoice) -> dict[tuple[int, int], str | None]:
    strata = choice.stratum.tolist() if choice.stratum is not None else []
    keys = zip(pairs.query[choice.pairs].tolist(), pairs.document[choice.pairs].tolist(), strict=True)
    return {key: choice.strata[number].name for key, number in zip(keys, strata, strict=True)}


def combine_chances(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities to be drawn by at least one of two independent draws."""
    combined: NDArray[np.float64] = 1 - (1 - first) * (1 - second)
    return combined


def carry_chances(
    sample: EarlierSample, earlier: CandidatePairs, pairs: CandidatePairs
) -> NDArray[np.float64]:
    """Return the probability with which the sample drew each of `pairs`; 0 for those that it could not draw.

    `earlier`: the candidates that it was drawn from.
    """
    width = int(max(earlier.document.max(initial=0), pairs.document.max(initial=0))) + 1
    keys = earlier.query * width + earlier.document  # ascending
    wanted = pairs.query * width + pairs.document
    chances = np.zeros(len(wanted))
    if len(keys):
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there = keys[at] == wanted
        chances[there] = measure_chances(earlier, sample.strata)[at[there]]
    return chances
