"""Records of systems' scores on a query, and of a pair's impact on them."""

from typing import NamedTuple

from annotator.domain.settling import Decided

Scores = dict[str, list[float | None]]
"""The scores on one query by system: nDCG, recall and reciprocal rank; None without a relevant document."""


class KnownPair(NamedTuple):
    """A judged or decided pair, or a disagreement.

    `grades` (ascending) and `unrateable`: its independent judgments. `errors`: grades from quality control on
    which no lead has decided. `answered`: those on which a lead has decided.
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
    """The impact of choosing a pair's grade: the largest change of one system's scores on the pair's query.

    `impact`: the change of nDCG; `recall`: of recall; `mrr`: of reciprocal rank. `flips`: the pairs of
    systems that can change places. All but `impact` are None if no run has the query.
    """

    pair_pk: int
    impact: float
    recall: float | None = None
    mrr: float | None = None
    flips: int | None = None


class ScoreTotals(NamedTuple):
    """The sums of the scores over `queries` queries, by system: nDCG, recall and reciprocal rank."""

    queries: int
    scores: dict[str, list[float]]
