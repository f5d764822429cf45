"""Summarize scores: means with other readings, coverage, latency, spread; group queries, and find failed ones.

A system fails on a query if none of the expected documents is among its first results. The expected documents
have at least the grade from which the measures count a document as relevant. A query without such a document
cannot fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import say
from annotator.evaluation.records import Grades, Measure, RankedRun, Score, ScoreTable, SystemScores, Truth

Values = NDArray[np.float64]
Rows = NDArray[np.int64]

_WHY: Mapping[str, str] = {
    "FirstRank": say("no relevant document is in the results of any query"),
    "TFFU": say("no relevant result has a time (time_ms)"),
    "Judged": say("there are no results"),
}
NO_QUERY = say("no query of this group is scored")
NO_RELEVANT = say("no query has a relevant document")
NONE_OF_GROUP = say("no query of this group has a relevant document")


@dataclass(frozen=True, slots=True)
class LatencyPercentiles:
    """Latency percentiles in milliseconds, by nearest rank: each is a measured latency."""

    p50: float
    p95: float
    p99: float
    queries: int


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """How a measure varies over queries. `sd` divides by n - 1, and is None for one query."""

    mean: float
    sd: float | None
    lowest: float
    quartiles: tuple[float, float, float]
    highest: float
    queries: int


def summarize_measure(scores: SystemScores, measure: Measure, rows: Rows | None = None) -> Score:
    """Return the mean of a measure over all queries of the table, or over the queries in `rows`."""
    values = _take(scores.values[measure.name], rows)
    defined = values == values
    count = int(defined.sum())
    if not count:
        usual = NO_RELEVANT if rows is None else NO_QUERY
        why = _WHY.get(measure.kind, usual) if len(values) else NO_QUERY
        return Score(None, why)
    lowest = _mean(scores.lowest.get(measure.name), rows)
    highest = _mean(scores.highest.get(measure.name), rows)
    return Score(
        float(values[defined].mean()),
        queries=count,
        judged=_mean(scores.judged.get(measure.name), rows),
        condensed=_mean(scores.condensed.get(measure.name), rows),
        bounds=None if lowest is None or highest is None else (lowest, highest),
    )


def summarize_answerable(
    table: ScoreTable, scores: SystemScores, measure: Measure, rows: Rows | None = None
) -> Score:
    """Return the mean over queries with a relevant document, because the others give 0 to every system."""
    answerable = np.flatnonzero(table.answerable[measure.name])
    if rows is not None:
        answerable = np.intersect1d(rows, answerable)
    if not len(answerable):
        return Score(None, NO_RELEVANT if rows is None else NONE_OF_GROUP)
    return summarize_measure(scores, measure, answerable)


def measure_coverage(scores: SystemScores, rows: Rows | None = None) -> float | None:
    """Return the share of queries with at least one result; None without queries."""
    results = _take(scores.results, rows)
    return float((results > 0).mean()) if len(results) else None


def measure_latency(scores: SystemScores, rows: Rows | None = None) -> LatencyPercentiles | None:
    """Return the percentiles over queries with a known latency; None without any."""
    if scores.latency_ms is None:
        return None
    latencies = _take(scores.latency_ms, rows)
    latencies = latencies[latencies == latencies]
    if not len(latencies):
        return None
    p50, p95, p99 = np.percentile(latencies, (50, 95, 99), method="inverted_cdf").tolist()
    return LatencyPercentiles(p50, p95, p99, len(latencies))


def measure_spread(scores: SystemScores, measure: Measure, rows: Rows | None = None) -> ScoreSpread | None:
    """Return mean, standard deviation and quartiles over queries; None if every value is undefined."""
    values = _take(scores.values[measure.name], rows)
    values = values[values == values]
    if not len(values):
        return None
    lowest, first, second, third, highest = np.percentile(values, (0, 25, 50, 75, 100)).tolist()
    sd = float(values.std(ddof=1)) if len(values) > 1 else None
    return ScoreSpread(float(values.mean()), sd, lowest, (first, second, third), highest, len(values))


def group_rows(table: ScoreTable, field: str) -> dict[str, Rows]:
    """Return {value of the field: rows of its queries}. Queries without the field are in no group."""
    groups: dict[str, list[int]] = {}
    for row, query_id in enumerate(table.query_ids):
        value = table.truth.fields.get(query_id, {}).get(field)
        if value is not None and value != "":
            groups.setdefault(str(value), []).append(row)
    return {value: np.array(rows, dtype=np.int64) for value, rows in sorted(groups.items())}


def list_group_fields(truth: Truth) -> list[str]:
    """Return the fields of queries, in order of appearance."""
    return list(dict.fromkeys(name for fields in truth.fields.values() for name in fields))


def _take(values: NDArray[np.float64] | NDArray[np.int64], rows: Rows | None) -> Values:
    return values if rows is None else values[rows]  # type: ignore[return-value]


def _mean(values: Values | None, rows: Rows | None) -> float | None:
    if values is None:
        return None
    chosen = _take(values, rows)
    chosen = chosen[chosen == chosen]
    return float(chosen.mean()) if len(chosen) else None


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
