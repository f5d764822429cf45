"""Records of one query's ranked lists side by side, and of what changed between two releases on the same runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

GradeState = Literal["graded", "unsettled", "waiting", "not pooled"]


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A document in a system's list, with its grade in the truth.

    `state`: `graded`; `unsettled`, judged but without a settled grade; `waiting`, in the pool and not judged; `not pooled`,
    nobody is asked to judge it.
    """

    rank: int  # from 1
    doc_id: str
    title: str
    grade: int | None  # None unless `state` is "graded"
    state: GradeState


@dataclass(frozen=True, slots=True)
class QueryRankings:
    """The systems' lists for one query.

    `missed`: relevant documents that no system has among its first results, highest grades first. Their rank is 0.
    """

    query_id: str
    text: str
    narrative: str | None
    systems: Mapping[str, tuple[RankedResult, ...]]  # best first
    depth: int
    missed: tuple[RankedResult, ...]
    not_pooled: tuple[str, ...]  # doc_ids in the lists that are not in the pool, each once
    hidden: int  # judged ones among `to_judge`
    to_judge: int = (
        0  # all pairs of it that the lead may still judge; above 0, everything from `systems` on is empty
    )


@dataclass(frozen=True, slots=True)
class ScoreMove:
    """What became of a system's mean between two releases. None where the mean is undefined."""

    system: str
    measure: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class GradeMove:
    """A grade that changed between two releases; None: unjudged there. `ranks`: where each system has the document."""

    query_id: str
    doc_id: str
    before: int | None
    after: int | None
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QueryMove:
    """A query whose scores moved, with the grades behind it. `changes`: by system, where the score is another."""

    query_id: str
    text: str
    changes: Mapping[str, float]
    grades: tuple[GradeMove, ...]

    @property
    def largest(self) -> float:
        """How far the score moved that moved most."""
        return max(map(abs, self.changes.values()), default=0.0)


@dataclass(frozen=True, slots=True)
class ReleaseEvaluationChange:
    """The same runs on two releases. `queries`: those whose `measure` moved, most moved first, of too many the first ones."""

    before: str
    after: str
    measure: str
    moves: tuple[ScoreMove, ...]
    queries: tuple[QueryMove, ...]
    moved_queries: int  # all of them
    queries_before: int  # over which the means are taken
    queries_after: int
    changed_grades: int  # of all queries, whether a system lists the document or not
