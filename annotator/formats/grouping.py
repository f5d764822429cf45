"""What the writers of per-query files share: qrels under their query, and the fields of a query that have a value."""

from collections.abc import Sequence

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Qrel, Query


def group_qrels(truth: GroundTruth, *, list_grade_0: bool) -> list[tuple[Query, Sequence[Qrel]]]:
    """Every query with its qrels, both in the truth's order; grade 0 only when asked for.

    ValidationError when a query stands twice or a qrel belongs to no query.
    """
    groups: dict[str, list[Qrel]] = {query.query_id: [] for query in truth.queries}
    if len(groups) != len(truth.queries):
        raise ValidationError("expected every query_id once, found one of them again")
    for qrel in truth.qrels:
        if qrel.query_id not in groups:
            raise ValidationError(f"expected the query of every qrel, found none for {qrel.query_id!r}")
        if qrel.grade > 0 or list_grade_0:
            groups[qrel.query_id].append(qrel)
    return [(query, groups[query.query_id]) for query in truth.queries]


def list_fields(query: Query, *, without: Sequence[str] = ()) -> dict[str, str]:
    """The known fields of a query that it has, by name, in their usual order."""
    values = {name: getattr(query, name) for name in QUERY_FIELDS if name not in without}
    return {name: value for name, value in values.items() if value is not None}
