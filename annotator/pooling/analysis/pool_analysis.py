"""Records of the page Pool: systems, their overlap, relevance by rank, pages of pairs, and one pair with its origin."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import sqrt
from typing import Any, Literal

from annotator.domain.messages import Message, say


@dataclass(frozen=True, slots=True)
class PairCount:
    """A number of pairs, of those with a settled grade, and of those settled as relevant.

    Pairs without a settled grade (unjudged, in disagreement, unrateable) never count as not relevant.
    """

    pairs: int = 0
    settled: int = 0
    relevant: int = 0

    @property
    def share(self) -> float | None:
        """Return the share of relevant pairs among the settled ones; None without a settled one."""
        return self.relevant / self.settled if self.settled else None

    def __add__(self, other: "PairCount") -> "PairCount":
        return PairCount(
            self.pairs + other.pairs, self.settled + other.settled, self.relevant + other.relevant
        )


@dataclass(frozen=True, slots=True)
class SystemShare:
    """The pairs that a system proposed, and those that it alone proposed. `deepest`: its last rank in the pool, from 1."""

    system: str
    deepest: int | None
    proposed: PairCount
    alone: PairCount


@dataclass(frozen=True, slots=True)
class SystemSet:
    """The pairs that exactly these systems proposed. `others`: whether also systems without a name in the picture."""

    systems: tuple[str, ...]
    others: bool
    counted: PairCount


@dataclass(frozen=True, slots=True)
class PoolContents:
    """The pool at a glance.

    `statuses`: pairs by status, for every status. `drawn`: the systems that the sets name. `blind_pairs`:
    judged pairs that the reader may still judge; they count as not judged.
    """

    statuses: Mapping[str, int]
    systems: tuple[SystemShare, ...]
    drawn: tuple[str, ...]
    sets: tuple[SystemSet, ...]
    blind_pairs: int = 0

    @property
    def pairs(self) -> int:
        return sum(self.statuses.values())


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Sums over queries for the interval of a share, because pairs of one query depend on each other.

    `queries`: with at least one settled pair. The others: sums of s², s·r and r² for s settled and r relevant
    pairs per query.
    """

    queries: int = 0
    settled_squares: int = 0
    products: int = 0
    relevant_squares: int = 0

    def __add__(self, other: "ClusterSums") -> "ClusterSums":
        return ClusterSums(
            self.queries + other.queries,
            self.settled_squares + other.settled_squares,
            self.products + other.products,
            self.relevant_squares + other.relevant_squares,
        )


@dataclass(frozen=True, slots=True)
class RankShare:
    """The pairs at ranks `first` to `last`, with the 95 % interval of the share of relevant ones; None if unknown."""

    first: int
    last: int
    counted: PairCount
    interval: tuple[float, float] | None


DepthState = Literal["deep enough", "too shallow", "cannot tell", "too few"]


@dataclass(frozen=True, slots=True)
class DepthVerdict:
    """Whether the pool is deep enough by its last ranks, with a sentence."""

    state: DepthState
    last_ranks: RankShare
    sentence: Message


@dataclass(frozen=True, slots=True)
class DepthReport:
    """Relevance by rank. `overall` and `categories` use a pair's best rank over all systems.

    `by_system`: by the system's own ranks. `unranked`: pairs without a rank (imported, proposed).
    """

    overall: tuple[RankShare, ...]
    verdict: DepthVerdict | None
    by_system: Mapping[str, tuple[RankShare, ...]]
    categories: Mapping[str | None, DepthVerdict]
    unranked: int


@dataclass(frozen=True, slots=True)
class PairFilter:
    """A filter of pairs. None and "" mean all.

    `alone`: only pairs that no other system than `system` proposed. `text`: a part of the query's id or of
    the document's id or title, in any case. `number`: of the round.
    """

    status: str | None = None
    system: str | None = None
    alone: bool = False
    number: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class SystemProposal:
    """A system that proposed a pair, with rank, score and further signals from its file."""

    system: str
    rank: int | None
    score: float | None
    signals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PooledPair:
    """A pair of the pool, for leads. `pair`: its id in the app. `number`: of its round; None if unknown.

    `hidden`: the reader may still judge it, so status and provenance are empty.
    """

    pair: str
    query_id: str
    query: str
    category: str | None
    doc_id: str
    title: str
    status: str
    number: int | None
    provenance: Sequence[SystemProposal]
    hidden: bool = False


def hide_origin(pair: PooledPair) -> PooledPair:
    """Return the pair without status and systems, for a reader who may still judge it."""
    return replace(pair, status="", provenance=(), hidden=True)


@dataclass(frozen=True, slots=True)
class PairPage:
    """A part of a list of pairs, and its length. `hides`: a filter by system left out pairs still to judge."""

    pairs: tuple[PooledPair, ...]
    total: int
    hides: bool = False


@dataclass(frozen=True, slots=True)
class LeftOutGroup:
    """The number of candidates that a round left out by one rule."""

    number: int
    rule: str
    candidates: int


@dataclass(frozen=True, slots=True)
class LeftOutCandidate:
    """A candidate that a round left out. `pair`: of the document judged instead, if it is in the pool."""

    number: int
    rule: str
    query_id: str
    doc_id: str
    title: str
    kept_doc_id: str | None
    pair: str | None


@dataclass(frozen=True, slots=True)
class LeftOutPage:
    """A part of the left-out candidates, and the length of the whole list."""

    candidates: tuple[LeftOutCandidate, ...]
    total: int


@dataclass(frozen=True, slots=True)
class PooledPairOrigin:
    """One pair with its origin. `inclusion`: the probability that it was drawn; None if certain.

    `duplicates`: candidates left out because this document is judged instead. `ranked`: whether an imported
    run has results for the query.
    """

    pair: PooledPair
    stratum: str | None
    inclusion: float | None
    duplicates: tuple[LeftOutCandidate, ...] = field(default=())
    ranked: bool = False


Z = 1.959963984540054  # of the 95 % interval
ENOUGH = 0.05
"""A pool is deep enough if its last ranks have a lower share of relevant documents."""
FEWEST = 30
"""Settled pairs that a verdict needs."""
LEAST_SETTLED = 0.5
"""The share of settled pairs that a verdict needs: the pairs judged first are no sample of the others."""
EACH_RANK = 20
MOST_DRAWN = 12
"""Systems with a name in the picture of sets. The others are counted together."""
STEPS = (1, 2, 5)


def list_bounds(deepest: int) -> tuple[int, ...]:
    """Return the last rank of each group: every rank if the pool has at most 20, else 1 to 5, 10, 20, 50, 100 …"""
    if deepest <= EACH_RANK:
        return tuple(range(1, deepest + 1))
    bounds, power = [1, 2, 3, 4, 5], 10
    while bounds[-1] < deepest:
        bounds += [step * power for step in STEPS]
        power *= 10
    kept = [bound for bound in bounds if bound < deepest]
    return (*kept, deepest)


def find_last_ranks(deepest: int) -> int:
    """Return the first of the last ranks: the last fifth of the pool's ranks decides on its depth."""
    return deepest - max(1, deepest // 5) + 1


def compute_share_interval(counted: PairCount, sums: ClusterSums) -> tuple[float, float] | None:
    """Return the 95 % interval of the share of relevant pairs; None if no pair is settled.

    Wilson's interval (1927) with an effective number of pairs: pairs of one query depend on each other, which
    the variance of a ratio over queries measures (Kish 1965). It is never narrower than for independent
    pairs.
    """
    settled, share = counted.settled, counted.share
    if share is None:
        return None
    effective = float(settled)
    if 1 < sums.queries < settled and 0 < share < 1:
        squares = sums.relevant_squares - 2 * share * sums.products + share**2 * sums.settled_squares
        variance = max(0.0, squares) / settled**2 * sums.queries / (sums.queries - 1)
        effective = settled / max(1.0, variance / (share * (1 - share) / settled))
    centre = share + Z**2 / (2 * effective)
    reach = Z * sqrt(share * (1 - share) / effective + Z**2 / (4 * effective**2))
    bottom = 1 + Z**2 / effective
    return max(0.0, (centre - reach) / bottom), min(1.0, (centre + reach) / bottom)


def describe_ranks(
    bounds: Sequence[int], counts: Mapping[int, tuple[PairCount, ClusterSums]]
) -> tuple[RankShare, ...]:
    """Return the share of relevant pairs in each group of ranks. `counts`: by the group's last rank."""
    shares = []
    for previous, last in pairwise((0, *bounds)):
        counted, sums = counts.get(last, (PairCount(), ClusterSums()))
        shares.append(RankShare(previous + 1, last, counted, compute_share_interval(counted, sums)))
    return tuple(shares)


def judge_depth(first: int, last: int, counted: PairCount, sums: ClusterSums) -> DepthVerdict:
    """Decide whether the pool is deep enough, by the pairs at its last ranks.

    Deep enough: the interval of the share of relevant pairs is below ENOUGH. Too shallow: it is above.
    """
    interval = compute_share_interval(counted, sums)
    ranks = RankShare(first, last, counted, interval)
    if (
        interval is None
        or counted.settled < FEWEST
        or counted.settled < LEAST_SETTLED * counted.pairs
        or counted.share is None
    ):
        return DepthVerdict("too few", ranks, _say_too_few(ranks))
    state: DepthState = "cannot tell"
    if interval[1] < ENOUGH:
        state = "deep enough"
    elif interval[0] > ENOUGH:
        state = "too shallow"
    more = round(counted.pairs / (last - first + 1))
    values = {
        "ranks": _name_ranks(first, last),
        "share": counted.share,
        "low": interval[0],
        "high": interval[1],
        "relevant": counted.relevant,
        "settled": counted.settled,
        "limit": ENOUGH,
        "more": more,
        "expected": round(more * counted.share),
    }
    return DepthVerdict(state, ranks, _say_verdict(state, values))


def _name_ranks(first: int, last: int) -> str:
    return str(last) if first == last else f"{first}–{last}"


def _say_too_few(ranks: RankShare) -> Message:
    return say(
        "Settled pairs at the last ranks ({ranks}): {settled:,} of {pairs:,}. That is too few to tell whether the pool is deep enough.",
        ranks=_name_ranks(ranks.first, ranks.last),
        settled=ranks.counted.settled,
        pairs=ranks.counted.pairs,
    )


def _say_verdict(state: DepthState, values: Mapping[str, object]) -> Message:
    if state == "deep enough":
        return say(
            "The pool is deep enough: {share:.0%} of the pairs first found at its last ranks ({ranks}) are relevant [{low:.0%}, {high:.0%}] ({relevant:,} of {settled:,}), less than {limit:.0%}. New pairs with one more rank: about {more:,}, of these relevant: about {expected:,}.",
            **values,
        )
    if state == "too shallow":
        return say(
            "The pool is not deep enough: {share:.0%} of the pairs first found at its last ranks ({ranks}) are relevant [{low:.0%}, {high:.0%}] ({relevant:,} of {settled:,}), more than {limit:.0%}. New pairs with one more rank: about {more:,}, of these relevant: about {expected:,}.",
            **values,
        )
    return say(
        "It is not clear yet whether the pool is deep enough: {share:.0%} of the pairs first found at its last ranks ({ranks}) are relevant [{low:.0%}, {high:.0%}] ({relevant:,} of {settled:,}), and the interval contains {limit:.0%}. New pairs with one more rank: about {more:,}, of these relevant: about {expected:,}.",
        **values,
    )


def count_from_one(ranks: Mapping[int | None, PairCount]) -> dict[int | None, PairCount]:
    """Return the pairs of a system by rank from 1, even if its file counts from 0."""
    shift = 1 if 0 in ranks else 0
    return {None if rank is None else rank + shift: counted for rank, counted in ranks.items()}


def describe_system_ranks(
    bounds: Sequence[int], ranks: Mapping[int | None, PairCount]
) -> tuple[RankShare, ...]:
    """Return the share of relevant pairs in each group of a system's ranks, counted from 1.

    At one rank a system has one document per query, so the pairs are independent. A group of several ranks
    has no interval, because the dependence of its pairs is unknown.
    """
    shares = []
    for previous, last in pairwise((0, *bounds)):
        counted = sum((ranks.get(rank, PairCount()) for rank in range(previous + 1, last + 1)), PairCount())
        interval = compute_share_interval(counted, ClusterSums()) if last == previous + 1 else None
        shares.append(RankShare(previous + 1, last, counted, interval))
    return tuple(shares)


def choose_drawn(proposed: Mapping[str, int]) -> tuple[str, ...]:
    """Return the systems with a name in the picture of sets: those with the most pairs. `proposed`: pairs by system."""
    return tuple(sorted(proposed, key=lambda system: (-proposed[system], system))[:MOST_DRAWN])


def name_sets(
    drawn: Sequence[str], counted: Iterable[tuple[int, int, str, PairCount]]
) -> tuple[SystemSet, ...]:
    """Return the sets of systems that proposed the same pairs, the largest first.

    `counted`: (systems of `drawn` as bits, the first is 1; 1 if it has other systems; status; pairs) of each
    set and status.
    """
    by_set: dict[tuple[int, int], PairCount] = {}
    for mask, others, _, numbers in counted:
        by_set[mask, others] = by_set.get((mask, others), PairCount()) + numbers
    sets = [
        SystemSet(tuple(system for bit, system in enumerate(drawn) if mask >> bit & 1), bool(others), numbers)
        for (mask, others), numbers in by_set.items()
    ]
    return tuple(sorted(sets, key=lambda item: (-item.counted.pairs, item.others, item.systems)))
