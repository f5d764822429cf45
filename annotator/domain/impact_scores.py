"""Records of systems' scores on a query and of a pair's impact on them, shared by the storage and the rules."""

from typing import NamedTuple

from annotator.domain.settling import Decided

Scores = dict[str, list[float | None]]
"""Of a query, by system: nDCG, recall and reciprocal rank; None where it has nothing relevant."""


class KnownPair(NamedTuple):
    """A pair that somebody judged or decided, or that is a disagreement.

    `grades`, ascending, and `unrateable`: the independent judgments; `errors`: of quality control, on which nobody has
    decided, `answered`: on which a lead has.
    """

    pair_pk: int
    document_pk: int
    disputed: bool = False
    grades: tuple[int, ...] = ()
    unrateable: int = 0
    decided: Decided | None = None
    imported: int | None = None
    errors: tuple[int, ...] = ()
    answered: tuple[int, ...] = ()


class GradeImpact(NamedTuple):
    """The impact of choosing a pair's grade: the change of the system that it moves most, on the pair's query.

    `impact`: of its nDCG; `recall`; `mrr`: of its reciprocal rank; `flips`: how many pairs of systems can change places.
    All but `impact` are None where no run has the query.
    """

    pair_pk: int
    impact: float
    recall: float | None = None
    mrr: float | None = None
    flips: int | None = None


class ScoreTotals(NamedTuple):
    """The sums of the scores of so many queries, by system: nDCG, recall and reciprocal rank."""

    queries: int
    scores: dict[str, list[float]]
