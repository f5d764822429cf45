"""Records of an evaluation: ground truth, ranked run, measures, and scores by query.

Scores are arrays aligned with one list of queries, so that systems can be compared query by query. An
undefined score is NaN in an array, and None in a `Score`, which then says why. Nothing else is ever NaN.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Grades = Mapping[str, Mapping[str, int]]
Order = Literal["score", "rank"]
Gain = Literal["grade", "exponential", "position"]
Ideal = Literal["truth", "retrieved"]
Kind = Literal[
    "nDCG", "P", "R", "F1", "AP", "RR", "Success", "ERR", "RBP", "Bpref", "Judged", "FirstRank", "TFFU"
]
SAME_WITHIN = 1e-9


@dataclass(frozen=True, slots=True)
class Truth:
    """A ground truth to score runs against.

    `grades` holds every query of the truth, also one without a qrel. Queries, and documents of a query, keep
    the order of the file; the profile `survey` needs it for documents of equal grade. `fields`: category,
    language and others. `tells_grade_0`: False if the format usually leaves grade 0 out, so that 0 and
    unjudged look the same. `has_grades`: False if the file holds only an order (`ranked`).
    """

    name: str
    grades: Grades  # by query_id, then doc_id; a missing document is unjudged
    texts: Mapping[str, str] = field(default_factory=dict)  # by query_id
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by query_id
    document_fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by doc_id: law_type, …
    version: str | None = None
    sha256: str | None = None
    format: str | None = None
    tells_grade_0: bool = True
    has_grades: bool = True
    notes: tuple[str, ...] = ()
    blind_queries: tuple[str, ...] = ()
    """Queries with a graded pair that the reader may still judge. They are only in `texts`."""


@dataclass(frozen=True, slots=True, eq=False)
class RankedRun:
    """One system's results, best first, query by query, as arrays.

    The results of query i are at `codes[starts[i]:starts[i + 1]]`; each code is an index into `doc_ids`.
    `times_ms`: when a result arrived, NaN if unknown. `latency_ms`: by query_id, also for queries without
    results. `id_field`: the field of a JSON result that names its document; None: one of the usual fields.
    """

    system: str
    query_ids: tuple[str, ...]  # those with at least one result
    starts: "NDArray[np.int64]"
    doc_ids: Sequence[str]  # each document once
    codes: "NDArray[np.int32]"
    scores: "Floats | None" = None  # aligned with `codes`; None where the file has none
    times_ms: "Floats | None" = None  # aligned with `codes`
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    signals: Sequence[Mapping[str, Any]] = ()  # aligned with `codes`; empty if the file has none
    query_signals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    repeats: int = 0  # results left out because their document ranks higher in the same query
    contradictions: int = 0  # queries whose ranks contradict their scores
    notes: tuple[str, ...] = ()
    id_field: str | None = None

    def list_documents(self, index: int) -> list[str]:
        """Return the doc_ids of the query at this index of `query_ids`, best first."""
        codes = self.codes[self.starts[index] : self.starts[index + 1]].tolist()
        return list(map(self.doc_ids.__getitem__, codes))


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure with every parameter that decides its value."""

    name: str
    kind: Kind
    cutoff: int | None = None  # None: all results
    relevant_from: int | None = 1  # the lowest relevant grade; None: every document that the truth lists
    gain: Gain = "grade"
    ideal: Ideal = "truth"
    persistence: float = 0.8  # RBP only
    over_returned: bool = False  # P only: divide by the number of returned documents instead of by k
    decimals: int | None = None  # the value of a query is rounded to so many
    formula: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of a measure over `queries` queries, with other readings.

    `value` None: undefined; `why` says why. `judged`: the share of judged documents among those the measure
    looks at. `condensed`: the score without unjudged documents. `bounds`: the score if the unjudged results
    of all systems had the worst and the best grades.
    """

    value: float | None
    why: str | None = None
    queries: int = 0
    judged: float | None = None
    condensed: float | None = None
    bounds: tuple[float, float] | None = None

    @property
    def may_rise(self) -> bool:
        """Return whether grades for the unjudged results can raise the value; False without bounds."""
        return (
            self.bounds is not None and self.value is not None and self.bounds[1] > self.value + SAME_WITHIN
        )

    @property
    def may_fall(self) -> bool:
        """Return whether grades for the unjudged results can lower the value; False without bounds."""
        return (
            self.bounds is not None and self.value is not None and self.bounds[0] < self.value - SAME_WITHIN
        )


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores:
    """One system's scores by measure. Arrays are aligned with the `query_ids` of the `ScoreTable`."""

    system: str
    values: "Mapping[str, Floats]"
    judged: "Mapping[str, Floats]"
    condensed: "Mapping[str, Floats]"
    lowest: "Mapping[str, Floats]"  # only measures that have bounds
    highest: "Mapping[str, Floats]"
    results: "NDArray[np.int64]"  # number of results by query
    latency_ms: "Floats | None" = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """The scores of systems on the same queries.

    `comparable`: False if the ideal ranking comes from the results, so that systems have different ideals.
    `answerable`: by measure, whether each query has a relevant document.
    """

    truth: Truth
    profile: str
    measures: tuple[Measure, ...]
    query_ids: tuple[str, ...]  # over which means are taken
    left_out: Mapping[str, str]  # query_id to why it is in no mean
    systems: tuple[SystemScores, ...]
    comparable: bool = True
    answerable: "Mapping[str, NDArray[np.bool_]]" = field(default_factory=dict)

    @property
    def is_answerable(self) -> bool:
        """Return whether every query has a relevant document, for all measures."""
        return all(found.all() for found in self.answerable.values())


@dataclass(frozen=True, slots=True)
class SystemMean:
    """One system's mean of a measure with its 95 % interval, which is None with a single query."""

    system: str
    mean: float
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFindings:
    """What a ground truth can tell about imported runs, for a datasheet. All fields empty: no run."""

    systems: tuple[SystemMean, ...] = ()  # the best first
    unrelated: tuple[str, ...] = ()  # systems without a result for a query of the truth
    measure: str = ""  # of the means
    queries: int = 0  # over which the means are taken
    same_winner: float | None = None  # the share of resamples in which the first system stays first
    resamples: int = 0
    seed: int = 0
    sentences: tuple[str, ...] = ()  # in English, the most important first


def list_document_types(truth: Truth, type_field: str) -> dict[str, str]:
    """Return {doc_id: type} for the documents of the truth that have the field."""
    return _choose_types(truth.document_fields.items(), type_field)


def _choose_types(documents: Iterable[tuple[str, Mapping[str, Any]]], type_field: str) -> dict[str, str]:
    return {
        doc_id: str(fields[type_field]) for doc_id, fields in documents if fields.get(type_field) is not None
    }
