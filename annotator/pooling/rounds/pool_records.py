"""Records of pooling: the lead's request, the candidates of the systems, the choice, and the report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.pooling.filters.filters import NO_FILTERS, PoolFilters
from annotator.pooling.retrievers.records import RetrievalOptions, RetrieverNote

Strategy = Literal["depth", "fused", "stratified", "move-to-front", "adaptive"]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankStratum:
    """Ranks from `first` to `last`. The share `rate` (above 0, at most 1) of them is drawn for each query."""

    first: int
    last: int
    rate: float

    @property
    def name(self) -> str:
        """Return the ranks, such as `11-50`."""
        return f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """A lead's request for a round. `strategies.py` says what `depth` means for each strategy.

    `systems`: of imported runs; None: all. `retrievers`: our own, which search the documents, with the
    options `retrieval`. `seed`: of strategies that draw. `budget` or `per_category`: how many pairs of budget
    rounds may wait for judgments, in all or for each category of queries. `measure`: by which an adaptive
    round orders the systems. `filters`: what stays out.
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
    """The candidates as parallel arrays.

    Entry i is the result of `systems[system[i]]` at `position[i]`, from 1. `query` and `document` are primary
    keys. A list contains a document once.
    """

    systems: tuple[str, ...]
    system: NDArray[np.int32]
    query: Numbers
    document: Numbers
    position: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """The different pairs of candidate lists, by query and document.

    `best`: its best position. `lists`: the number of lists with the pair. `of_entry`: for each entry the
    index of its pair.
    """

    query: Numbers
    document: Numbers
    best: NDArray[np.int32]
    lists: Numbers
    of_entry: Numbers

    def list_keys(self, indexes: Numbers | slice = slice(None)) -> list[tuple[int, int]]:
        """Return (query_pk, document_pk) of the pairs, or of those at these indexes."""
        return list(zip(self.query[indexes].tolist(), self.document[indexes].tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class PoolChoice:
    """The indexes of the chosen pairs, ascending.

    `stratum`: an index into `strata` for each. `inclusion`: the probability of each; NaN if certain. Both are
    None unless the strategy draws.
    """

    pairs: Numbers
    strata: tuple[RankStratum, ...] = ()
    stratum: Numbers | None = None
    inclusion: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """The chosen candidates of one system: the number of queries, of pairs, and of pairs that no other system has."""

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
    """The expected number of relevant new pairs, from the share of judged pairs at the same ranks.

    `value` and `ci95`: of `pairs` new pairs; None if not known yet (`why`). For `unknown` more pairs there is
    no estimate, because too few pairs at their ranks are judged.
    """

    value: float | None
    ci95: tuple[float, float] | None
    pairs: int
    unknown: int
    why: str | None = None


@dataclass(frozen=True, slots=True)
class LabelingEffort:
    """The judgments that the new pairs need, and the hours at the median active time; None until it is measured."""

    judgments: int
    seconds: float | None
    hours: float | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class StratumCounts:
    """The candidates and drawn pairs of one stratum, over all queries."""

    ranks: str
    rate: float
    candidates: int
    drawn: int


@dataclass(frozen=True, slots=True)
class OpenSystems:
    """Two systems that may still swap. `higher` leads by `difference` now. The probability is the model's."""

    higher: str
    lower: str
    difference: float
    swap_probability: float


@dataclass(frozen=True, slots=True)
class ExpectedScore:
    """A system with its expected score. Unjudged documents count with their expected grades."""

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
    """The expected order of the systems if everything was judged, best first.

    `open`: pairs of systems that may still swap, least certain first. `judged`: candidates with a settled
    grade.
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
    """The result of a round. With `dry_run` nothing was stored.

    `round`: its number; None for a dry run or without new pairs. `new` + `already_there`: the chosen pairs.
    `short`: chosen pairs by query_id, for queries with some but fewer than `depth`. `without`: queries
    without any. `too_short`: queries without two adjacent characters, which our retrievers cannot match.
    `notes`: problems by retriever. `left_out`: candidates by rule. `waiting`: unjudged pairs of earlier
    budget rounds, which count towards the budget. `order`: of an adaptive round.
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
