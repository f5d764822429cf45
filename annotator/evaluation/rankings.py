"""Records: the ranked lists of one query, and how scores of the same runs changed between two releases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

GradeState = Literal["graded", "unsettled", "waiting", "not pooled"]


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A document in a system's list, with its grade in the truth.

    `state`: `graded`; `unsettled` (judged, without a settled grade); `waiting` (in the pool, not judged);
    `not pooled` (not in the pool).
    """

    rank: int  # from 1
    doc_id: str
    title: str
    grade: int | None  # None unless `state` is "graded"
    state: GradeState


@dataclass(frozen=True, slots=True)
class QueryRankings:
    """The systems' lists for one query.

    `missed`: relevant documents that no list has, highest grades first. Their rank is 0.
    """

    query_id: str
    text: str
    narrative: str | None
    systems: Mapping[str, tuple[RankedResult, ...]]  # best first
    depth: int
    missed: tuple[RankedResult, ...]
    not_pooled: tuple[str, ...]  # doc_ids of the lists that are not in the pool, without repeats
    hidden: int  # judged pairs among `to_judge`
    to_judge: int = (
        0  # pairs of the query that the lead may still judge; above 0, `systems` and what follows are empty
    )


@dataclass(frozen=True, slots=True)
class ScoreMove:
    """A system's mean on two releases; None if undefined."""

    system: str
    measure: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class GradeMove:
    """A grade that changed between two releases; None: unjudged. `ranks`: the document's rank by system."""

    query_id: str
    doc_id: str
    before: int | None
    after: int | None
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QueryMove:
    """A query with changed scores and its changed grades. `changes`: {system: difference}."""

    query_id: str
    text: str
    changes: Mapping[str, float]
    grades: tuple[GradeMove, ...]

    @property
    def largest(self) -> float:
        """Return the largest change of a score, without its sign."""
        return max(map(abs, self.changes.values()), default=0.0)


@dataclass(frozen=True, slots=True)
class ReleaseEvaluationChange:
    """The same runs on two releases. `queries`: those with the largest changes of `measure`, largest first."""

    before: str
    after: str
    measure: str
    moves: tuple[ScoreMove, ...]
    queries: tuple[QueryMove, ...]
    moved_queries: int  # number of queries with a changed score, listed in `queries` or not
    queries_before: int  # over which the means are taken
    queries_after: int
    changed_grades: int  # of all queries, also of documents that no system lists
