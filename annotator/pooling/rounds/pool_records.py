"""Records of making the pool: what a lead asks for, what systems propose, what is chosen of it, and the report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.pooling.filters.filter_records import NO_FILTERS, PoolFilters
from annotator.pooling.retrievers.records import RetrievalOptions, RetrieverNote

Strategy = Literal["depth", "fused", "stratified", "move-to-front", "adaptive"]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankStratum:
    """Ranks from `first` to `last`, of which a share of `rate` (above 0, at most 1) is drawn for each query."""

    first: int
    last: int
    rate: float

    @property
    def name(self) -> str:
        """Return the ranks, as `11-50`."""
        return f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """What a lead asks for. `depth` means something else for each strategy: see `strategies.py`.

    `systems`: the imported runs to take, None for all. `retrievers`: our own that search the documents, with their options in
    `retrieval`. `seed`: of the strategies that draw. `budget`, `per_category`: how many pairs of
    budget rounds may wait for their judgments, in all or in each category of queries (one of the two). `measure`: by which an
    adaptive round orders the systems. `filters`: what does not enter, whatever its rank.
    """

    strategy: Strategy = "depth"
    depth: int | None = None
    systems: tuple[str, ...] | None = None
    retrievers: tuple[str, ...] = ()
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    strata: tuple[RankStratum, ...] = ()
    budget: int | None = None
    per_category: int | None = None
    measure: str = "nDCG@10"
    seed: int = 0
    filters: PoolFilters = NO_FILTERS


@dataclass(frozen=True, slots=True, eq=False)
class CandidateLists:
    """What systems propose, as parallel arrays: entry i is the result of `systems[system[i]]` at `position[i]`, from 1.

    `query` and `document` are primary keys. A list holds a document once.
    """

    systems: tuple[str, ...]
    system: NDArray[np.int32]
    query: Numbers
    document: Numbers
    position: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """The different pairs of candidate lists, by query and document.

    `best`: the best position in any list. `lists`: how many lists name it. `of_entry`: the index of the pair of each entry.
    """

    query: Numbers
    document: Numbers
    best: NDArray[np.int32]
    lists: Numbers
    of_entry: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class PoolChoice:
    """The indexes of the chosen pairs, ascending. `stratum`, `inclusion`: of each of them, NaN where it is certain.

    `stratum` is an index into `strata`. Both are empty unless the strategy draws.
    """

    pairs: Numbers
    strata: tuple[RankStratum, ...] = ()
    stratum: Numbers | None = None
    inclusion: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """The proposals of one system: in how many queries, how many pairs, and how many that no other proposed.

    In the report of a pooling, `candidates` are those chosen of its results; in the pool, the pairs it is named for.
    """

    system: str
    queries: int
    candidates: int
    only_here: int


@dataclass(frozen=True, slots=True)
class PairsPerQuery:
    """New pairs per query, over all queries of the dataset."""

    median: float
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class ExpectedRelevant:
    """How many of the new pairs are expected to be relevant, by the share of judged pairs at the same ranks.

    `value` and `ci95` (None if not known yet: `why`) are of `pairs` pairs; of `unknown` further pairs nothing can be said,
    since too few pairs of their ranks are judged.
    """

    value: float | None
    ci95: tuple[float, float] | None
    pairs: int
    unknown: int
    why: str | None = None


@dataclass(frozen=True, slots=True)
class LabelingEffort:
    """How many judgments the new pairs need, and the hours at the median active time; None until it is measured."""

    judgments: int
    seconds: float | None
    hours: float | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class StratumCounts:
    """What a stratified round drew from some ranks, summed over the queries."""

    ranks: str
    rate: float
    candidates: int
    drawn: int


@dataclass(frozen=True, slots=True)
class OpenSystems:
    """Two systems whose order may still change. `higher` leads by `difference` as far as is judged.

    `swap_probability`: that the order is the other one with everything judged, by the model.
    """

    higher: str
    lower: str
    difference: float
    swap_probability: float


@dataclass(frozen=True, slots=True)
class ExpectedScore:
    """A system with the score that puts it in its place: unjudged documents count with their expected grades."""

    system: str
    score: float


class OrderTable(NamedTuple):
    """The expected order in words: each system with its score, best first."""

    title: Message
    columns: tuple[Message, Message]
    rows: tuple[tuple[str, str], ...]
    note: Message


@dataclass(frozen=True, slots=True)
class SystemOrder:
    """The expected order of the systems with everything judged, best first, and what is still open, least certain first.

    `judged`: candidates with a settled grade.
    """

    measure: str
    judged: int
    systems: tuple[ExpectedScore, ...]
    open: tuple[OpenSystems, ...]
    compared: int  # pairs of systems in all

    def tabulate(self) -> OrderTable:
        """Return the expected order as pages, reports and commands show it."""
        return OrderTable(
            title=say("Expected order"),
            columns=(say("system"), say("expected {measure}", measure=self.measure)),
            rows=tuple((item.system, show_number(item.score, 4)) for item in self.systems),
            note=say(
                "Unjudged documents count with their expected grades. The scores are for the order only: judging "
                "more can raise or lower all of them together."
            ),
        )


@dataclass(frozen=True, slots=True)
class PoolReport:
    """The result of pooling candidates. With `dry_run` nothing was stored, and `new` would have been.

    `round`: the number under which the new pairs are kept; None without any, and of a dry run. `new` pairs and those
    `already_there` together are what the strategy chose. `short` counts chosen pairs by query_id where there are some but fewer
    than `depth`; `without` are the queries that have none, and `too_short` those in which our retrievers find no two characters
    in a row to match; `notes` say by retriever what it could not do. `left_out`: how many by rule. `waiting`: pairs of earlier
    budget rounds that nobody has judged yet; they count towards the budget. `order`: of an adaptive round.
    """

    dataset: str
    strategy: str
    depth: int
    dry_run: bool
    round: int | None
    new: int
    already_there: int
    per_query: PairsPerQuery
    expected_relevant: ExpectedRelevant
    effort: LabelingEffort
    left_out: Mapping[str, int]
    strata: tuple[StratumCounts, ...]
    waiting: int
    order: SystemOrder | None
    systems: tuple[SystemCounts, ...]
    short: Mapping[str, int]
    without: tuple[str, ...]
    too_short: tuple[str, ...]
    notes: tuple[RetrieverNote, ...]
