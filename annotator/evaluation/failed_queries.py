"""Find the queries on which a system fails: none of the expected documents is among its first results.

The expected documents of a query have at least the grade from which the measures count a document as
relevant. A query without such a document cannot fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotator.evaluation.records import Grades, Measure, RankedRun


@dataclass(frozen=True, slots=True)
class FailedQuery:
    """A query for which a system has no expected document among its first results."""

    system: str
    query_id: str
    late_ranks: Mapping[str, int]  # by doc_id: ranks of expected documents below the first results


def find_relevance_threshold(measures: Sequence[Measure]) -> int:
    """Return the lowest relevant grade of the first measure that has one; 1 if no measure has one."""
    return next((measure.relevant_from for measure in measures if measure.relevant_from), 1)


def list_expected_documents(
    grades: Grades, query_ids: Sequence[str], threshold: int
) -> dict[str, tuple[str, ...]]:
    """Return {query_id: documents of at least this grade, highest first}, only queries that have some."""
    expected = {}
    for query_id in query_ids:
        documents = grades.get(query_id, {})
        relevant = [doc_id for doc_id, grade in documents.items() if grade >= threshold]
        if relevant:
            expected[query_id] = tuple(sorted(relevant, key=lambda doc_id: -documents[doc_id]))
    return expected


def find_failed_queries(
    run: RankedRun, expected: Mapping[str, Sequence[str]], depth: int
) -> list[FailedQuery]:
    """Return the queries of `expected` for which no document is among the first `depth` results of `run`."""
    positions = {query_id: index for index, query_id in enumerate(run.query_ids)}
    failed = []
    for query_id, documents in expected.items():
        index = positions.get(query_id)
        if index is None:
            failed.append(FailedQuery(run.system, query_id, {}))
            continue
        start, stop = int(run.starts[index]), int(run.starts[index + 1])
        first = {run.doc_ids[code] for code in run.codes[start : min(stop, start + depth)].tolist()}
        if first.isdisjoint(documents):
            ranks = {doc_id: rank for rank, doc_id in enumerate(run.list_documents(index), start=1)}
            late = {doc_id: ranks[doc_id] for doc_id in documents if doc_id in ranks}
            failed.append(FailedQuery(run.system, query_id, late))
    return failed
