"""Combine the inclusion probabilities of several stratified rounds of one dataset.

Two samples with different seeds are independent draws. A pair that both could draw is in the pool with the
probability 1 - (1 - p1)(1 - p2). So p1 must also be known for pairs that the first sample did not draw: its
draw is repeated from the same lists with the same seed, and must give the stored pairs. If it does not, for
example because a run has changed, the second sample is refused: its estimates would be wrong. (Horvitz &
Thompson 1952; multiple-frame samples: Bankier 1986.)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.formats.trec import check_writable
from annotator.pooling.rounds.pool_records import CandidatePairs, PoolRequest, RankStratum
from annotator.pooling.rounds.round_records import JudgedProbability, PoolRound
from annotator.pooling.rounds.strategies import (
    count_strata,
    draw_by_rank,
    find_strata,
    measure_chances,
    read_strata,
)


@dataclass(frozen=True, slots=True)
class EarlierSample:
    """An earlier stratified round. `depths`: {system: how many of its results per query were considered}."""

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
    """Return whether the request has the same strata and seed."""
    return (sample.strata, sample.seed) == (find_strata(request), request.seed)


def check_independent(rounds: Sequence[PoolRound], request: PoolRequest) -> None:
    """Raise StateError unless the request's sample is independent of these rounds, and their draws can be repeated."""
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
    """Raise StateError unless repeating the sample's draw from these pairs gives the stored pairs.

    `stored`: their strata by (query_pk, document_pk). `in_pool`: whether each of `pairs` is in the pool, as
    drawn pairs are.
    """
    choice = draw_by_rank(pairs, sample.strata, sample.seed)
    numbers = choice.stratum.tolist() if choice.stratum is not None else []
    strata = [choice.strata[number].name for number in numbers]
    drawn = dict(zip(pairs.list_keys(choice.pairs), strata, strict=True))
    counts = [asdict(item) for item in count_strata(pairs, choice)]
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


def combine_chances(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities that at least one of two independent draws takes a pair."""
    combined: NDArray[np.float64] = 1 - (1 - first) * (1 - second)
    return combined


def carry_chances(
    sample: EarlierSample, earlier: CandidatePairs, pairs: CandidatePairs
) -> NDArray[np.float64]:
    """Return the probability that the sample drew each of `pairs`, from its candidates `earlier`; else 0."""
    width = int(max(earlier.document.max(initial=0), pairs.document.max(initial=0))) + 1
    earlier_keys = earlier.query * width + earlier.document  # ascending
    keys = pairs.query * width + pairs.document
    chances = np.zeros(len(keys))
    if len(earlier_keys):
        at = np.minimum(np.searchsorted(earlier_keys, keys), len(earlier_keys) - 1)
        could_be_drawn = earlier_keys[at] == keys
        chances[could_be_drawn] = measure_chances(earlier, sample.strata)[at[could_be_drawn]]
    return chances


def write_sampled_qrels(pairs: Iterable[JudgedProbability]) -> str:
    """Return TREC qrels with inclusion probabilities, for estimates from a sample.

    A line is `query_id 0 doc_id grade probability`, as in the files qrelsL07.probs and qrels.probs of TREC's
    Legal tracks 2007 and 2008: the probability that the document was chosen from the pool (1 if certain). A
    pair that cannot be rated has the grade -1, TREC's "gray". Raises ValidationError for an id with white
    space.
    """
    lines = []
    for pair in pairs:
        check_writable(pair.query_id, "query_id")
        check_writable(pair.doc_id, "doc_id")
        grade = -1 if pair.grade is None else pair.grade
        lines.append(f"{pair.query_id} 0 {pair.doc_id} {grade} {pair.inclusion:.9g}\n")
    return "".join(lines)
