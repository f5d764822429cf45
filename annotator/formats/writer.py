"""Write a ground truth as files, piece by piece, with qrels grouped under their query.

A `FileWriter` returns the beginning, each query with its qrels, and the end of one file as text. So a file of a million
qrels is never whole in memory, and a release writes all formats in one pass over the database.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, Document, GroundTruth, Metadata, Qrel, Query

ONE_FILE = ""


def _no_document(_: Document) -> str:
    return ""


def _nothing(*_: object) -> str:
    return ""


def _take_every(_: Query, __: Sequence[Qrel]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FileWriter:
    """One file of a format. `path` is its place within the format's folder, ONE_FILE where the format is one file.

    `begin(metadata, queries)`: the text before the first query; `queries` is how many will follow, which some
    files state. `add(query, qrels, place)`: one query with its qrels; `place` counts from 0. `add_document`: one document
    (BEIR's corpus). `end(queries)`: the text after the last one; `queries` is how many were added. `takes(query, qrels)`:
    whether the file has a place for this query; `add` is not asked for one that it has none for. Each raises ValidationError for an id that the
    format cannot carry. Line ends are LF, and the same truth gives the same text.

    `by_qrel`: each qrel is a line of its own, so that the qrels of a query need not stand together. `add` then comes
    once for each stretch of qrels of one query (see `grouping.list_runs`), and keeps the order of such a file.
    """

    path: str
    begin: Callable[[Metadata, int], str] = _nothing
    add: Callable[[Query, Sequence[Qrel], int], str] = _nothing
    end: Callable[[int], str] = _nothing
    add_document: Callable[[Document], str] = _no_document
    by_qrel: bool = False
    takes: Callable[[Query, Sequence[Qrel]], bool] = _take_every


def write_file(
    writer: FileWriter,
    truth: GroundTruth,
    groups: Sequence[tuple[Query, Sequence[Qrel]]],
) -> Iterator[str]:
    """The pieces of one file. `groups`: every query with the qrels to be listed (see `grouping`)."""
    yield writer.begin(truth.metadata, len(truth.queries))
    place = 0
    for query, qrels in groups:
        if writer.takes(query, qrels):
            yield writer.add(query, qrels, place)
            place += 1
    for document in truth.documents:
        yield writer.add_document(document)
    yield writer.end(place)


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
