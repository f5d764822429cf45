"""What the writers of per-query files share: qrels under their query, and the fields of a query that have a value."""

from collections.abc import Sequence

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Qrel, Query

Group = tuple[Query, Sequence[Qrel]]


def group_qrels(truth: GroundTruth, *, list_grade_0: bool) -> list[Group]:
    """Every query with its qrels, both in the truth's order; grade 0 only when asked for.

    ValidationError when a query stands twice or a qrel belongs to no query.
    """
    groups: dict[str, list[Qrel]] = {query.query_id: [] for query in truth.queries}
    if len(groups) != len(truth.queries):
        raise ValidationError("expected every query_id once, found one of them again")
    for qrel in truth.qrels:
        group = groups.get(qrel.query_id)
        if group is None:
            raise ValidationError(f"expected the query of every qrel, found none for {qrel.query_id!r}")
        if qrel.grade > 0 or list_grade_0:
            group.append(qrel)
    return [(query, groups[query.query_id]) for query in truth.queries]


def list_runs(truth: GroundTruth, groups: Sequence[Group], *, list_grade_0: bool) -> Sequence[Group]:
    """The qrels in the truth's own order, in stretches of one query each, for files of a line per qrel.

    A query without qrels stands before the first query that follows it in the truth. `groups`: as
    `group_qrels` gives them; they come back when the qrels of each query stand together in the queries' order.
    """
    if _stand_together(truth):
        return groups
    found: dict[str, tuple[int, Query]] = {
        query.query_id: (place, query) for place, query in enumerate(truth.queries)
    }
    runs: list[tuple[Query, list[Qrel]]] = []
    empty = [place for place, (_, qrels) in enumerate(groups) if not qrels][::-1]
    for qrel in truth.qrels:
        if qrel.grade == 0 and not list_grade_0:
            continue
        place, query = found[qrel.query_id]
        while empty and empty[-1] < place:
            runs.append((truth.queries[empty.pop()], []))
        if not runs or runs[-1][0] is not query:
            runs.append((query, []))
        runs[-1][1].append(qrel)
    return [*runs, *((truth.queries[place], []) for place in reversed(empty))]


def _stand_together(truth: GroundTruth) -> bool:
    """Whether the qrels follow the order of the queries."""
    order = {query.query_id: place for place, query in enumerate(truth.queries)}
    last = -1
    for qrel in truth.qrels:
        place = order[qrel.query_id]
        if place < last:
            return False
        last = place
    return True


def list_fields(query: Query, *, without: Sequence[str] = ()) -> dict[str, str]:
    """The known fields of a query that it has, by name, in their usual order."""
    values = {name: getattr(query, name) for name in QUERY_FIELDS if name not in without}
    return {name: value for name, value in values.items() if value is not None}
