"""Records of the page Pool: systems, their overlap, relevance by rank, pages of pairs, and one pair with its origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from annotator.domain.messages import Message


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
