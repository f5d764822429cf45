"""Write an evaluation as CSV: a row for each system and measure, over all queries and then by group."""

from collections.abc import Iterable, Iterator
from typing import Any

from annotator.evaluation.evaluate import Evaluation, SystemSummary
from annotator.formats.syntax.spreadsheet import write_sheet

COLUMNS = (
    "by",
    "value",
    "system",
    "measure",
    "score",
    "ci95_low",
    "ci95_high",
    "judged",
    "condensed",
    "bounds_low",
    "bounds_high",
    "queries",
)


def write_csv(evaluation: Evaluation) -> Iterator[str]:
    """Yield the file in pieces. `by` and `value` are empty in rows over all queries."""
    return write_sheet(COLUMNS, _list_rows(evaluation))


def _list_rows(evaluation: Evaluation) -> Iterator[tuple[Any, ...]]:
    yield from _list_systems("", "", evaluation.systems)
    for group in evaluation.groups:
        yield from _list_systems(group.field, group.value, group.systems)


def _list_systems(field: str, value: str, systems: Iterable[SystemSummary]) -> Iterator[tuple[Any, ...]]:
    nothing = (None,) * 6
    for system in systems:
        for name, summary in system.measures.items():
            score, ci95 = summary.score, summary.ci95 or (None, None)
            bounds = score.bounds or (None, None)
            yield (
                field,
                value,
                system.system,
                name,
                score.value,
                *ci95,
                score.judged,
                score.condensed,
                *bounds,
                score.queries,
            )
        if system.latency_ms is not None:
            latency = system.latency_ms
            for percentile, figure in (("P50", latency.p50), ("P95", latency.p95), ("P99", latency.p99)):
                name = f"latency {percentile} (ms)"
                yield (field, value, system.system, name, figure, *nothing, latency.queries)
        yield (field, value, system.system, "coverage", system.coverage, *nothing, system.queries)
