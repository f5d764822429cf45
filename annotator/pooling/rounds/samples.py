"""Combine the inclusion probabilities of several stratified rounds, and estimate what new pairs bring.

Two samples with different seeds are independent draws. A pair that both could draw is in the pool with the
probability 1 - (1 - p1)(1 - p2). So p1 must also be known for pairs that the first sample did not draw: its
draw is repeated from the same lists with the same seed, and must give the stored pairs. If it does not, for
example because a run has changed, the second sample is refused: its estimates would be wrong. (Horvitz &
Thompson 1952; multiple-frame samples: Bankier 1986.)

The benefit and the cost of new pairs are estimated before they are judged. Each band of best ranks has a share of
relevant pairs among the judged pairs of the same lists; this share applies to the new pairs of the band. A band
with fewer than LEAST_JUDGED judged pairs gives no estimate. The normal interval includes the spread of the new
pairs and of the share, with p = (relevant + 1/2) / (judged + 1). The estimate tends to be too high: documents of
many systems are pooled and judged first, and are relevant more often.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from statistics import NormalDist, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import StateError
from annotator.domain.messages import say, say_n
from annotator.formats.trec import check_writable
from annotator.pooling.rounds.pool_records import (
    CandidatePairs,
    ExpectedRelevant,
    LabelingEffort,
    PairsPerQuery,
    PoolRequest,
    RankStratum,
)
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


BANDS = (1, 2, 4, 6, 11, 21, 51, 101, 201, 501)  # the first rank of each
LEAST_JUDGED = 10
LEAST_TIMED = 10
_Z = NormalDist().inv_cdf(0.975)


def expect_relevant(
    new: NDArray[np.integer], judged: NDArray[np.integer], relevant: NDArray[np.bool_]
) -> ExpectedRelevant:
    """Estimate how many new pairs are relevant.

    `new`: the best rank of each new pair. `judged`, `relevant`: the best rank of each judged pair, and
    whether it is relevant.
    """
    if not len(new):
        return ExpectedRelevant(None, None, 0, 0, say("there are no new pairs"))
    if not len(judged):
        why = say("none of the candidates is judged yet")
        return ExpectedRelevant(None, None, 0, len(new), why)
    new_counts, judged_counts = _count_bands(new), _count_bands(judged)
    relevant_counts = _count_bands(judged[relevant])
    expected = variance = 0.0
    covered = 0
    for count, judged_here, positive in zip(
        new_counts.tolist(), judged_counts.tolist(), relevant_counts.tolist(), strict=True
    ):
        if not count or judged_here < LEAST_JUDGED:
            continue
        covered += count
        expected += count * positive / judged_here
        share = (positive + 0.5) / (judged_here + 1)
        variance += share * (1 - share) * (count + count**2 / judged_here)
    if not covered:
        why = say(
            "fewer than {least} candidates are judged at each rank that the new pairs have",
            least=LEAST_JUDGED,
        )
        return ExpectedRelevant(None, None, 0, len(new), why)
    half = _Z * sqrt(variance)
    interval = (max(0.0, expected - half), min(float(covered), expected + half))
    unknown = len(new) - covered
    why = say_n(
        "{n:,} more pair cannot be estimated: too few candidates at its rank are judged",
        "{n:,} more pairs cannot be estimated: too few candidates at their ranks are judged",
        unknown,
    )
    return ExpectedRelevant(expected, interval, covered, unknown, why if unknown else None)


def _count_bands(ranks: NDArray[np.integer]) -> NDArray[np.int64]:
    numbers = np.searchsorted(BANDS, ranks, side="right") - 1
    return np.bincount(numbers, minlength=len(BANDS))


def estimate_effort(judgments: int, timed: int, seconds: float | None) -> LabelingEffort:
    """Estimate the hours for these judgments, if at least LEAST_TIMED have a time. `seconds`: the median of `timed` ones."""
    if seconds is None or timed < LEAST_TIMED:
        why = say_n(
            "the pace is not measured yet: {n:,} judgment has a time, {least} are needed",
            "the pace is not measured yet: {n:,} judgments have a time, {least} are needed",
            timed,
            least=LEAST_TIMED,
        )
        return LabelingEffort(judgments, None, None, why)
    return LabelingEffort(judgments, seconds, judgments * seconds / 3600)


def describe_per_query(counts: NDArray[np.int64]) -> PairsPerQuery:
    """Return the median, minimum and maximum of the counts of all queries."""
    values = counts.tolist() or [0]
    return PairsPerQuery(float(median(values)), min(values), max(values))
