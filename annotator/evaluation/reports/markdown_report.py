"""Write the evaluation as Markdown, in the form in which a team reports it: scores with targets, groups, failed queries, advice.

This file chooses and orders what the report shows; `templates/report.md.jinja` holds its words, which `tr` translates. The
same evaluation, time and language give the same text. Every text is escaped for Markdown where it is printed.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotator.domain.figures import show_figure, show_interval, show_number, show_p, show_percent
from annotator.evaluation.dataset_analysis.robustness import Robustness
from annotator.evaluation.differences.comparison import SystemComparison
from annotator.evaluation.evaluate import (
    FIRST_DEPTH,
    Evaluation,
    MeasureSummary,
    QueryGroup,
    SystemSummary,
    choose_power,
)
from annotator.evaluation.failed_queries import (
    FailedQuery,
    find_relevance_threshold,
    list_expected_documents,
)
from annotator.evaluation.profiles.profile import MEAN_OVER, Target, describe_conventions
from annotator.evaluation.reports.recommendations import recommend
from annotator.evaluation.targets import ROUNDING, TargetCheck, list_shown_targets
from annotator.formats.syntax.markdown import escape_markdown

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

    from annotator.pooling.rounds.pool_records import SystemOrder

Translate = Callable[..., str]
"""Translates a sentence or a Message, and fills in its values: `tr` of the app."""

LATENCIES = ("latency P50", "latency P95")
MOST_FAILED = 20
MOST_DOCUMENTS = 5
MOST_COMPARED = 30
MOST_POWER = 5
MOST_IN_GROUP = 10
MOST_NAMED = 5
NOTHING = "–"
# nDCG@10 cannot be read as a person's name or address.
_CUTOFF = re.compile(r"(?<=[\w)])\\@(?=[0-9]+(?![\w]|\.\w))", re.ASCII)


@dataclass(frozen=True, slots=True)
class ReportedCell:
    """A figure of a table. `best`: no system has a better one; `missed`: it does not reach its target."""

    text: str
    best: bool = False
    missed: bool = False


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """One system's figures, column by column."""

    system: str
    cells: tuple[ReportedCell, ...]


@dataclass(frozen=True, slots=True)
class ReportedGroup:
    """The systems over the queries of one group, best first; `unlisted` more are left out."""

    value: str
    queries: int
    rows: tuple[ReportedRow, ...]
    unlisted: int


@dataclass(frozen=True, slots=True)
class ReportedDocument:
    """A document with its grade (None: unjudged) and where it stands (None: not in the results)."""

    doc_id: str
    grade: int | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class ReportedFailure:
    """What one system found instead of the expected documents of a query, and where those stood."""

    system: str
    found: tuple[ReportedDocument, ...]
    expected: tuple[ReportedDocument, ...]
    unlisted: int  # expected documents left out


@dataclass(frozen=True, slots=True)
class ReportedQuery:
    """A failed query with the systems that fail on it."""

    query_id: str
    text: str
    failures: tuple[ReportedFailure, ...]


def render_markdown(
    evaluation: Evaluation,
    *,
    tr: Translate,
    made_at: datetime,
    program: str,
    robustness: Robustness | None = None,
    checks: Sequence[TargetCheck] = (),
    expected_order: "SystemOrder | None" = None,
) -> str:
    """Return the report. `program`: name and version; `checks`: the targets that were checked, else the profile's are shown."""
    table = evaluation.table
    targets = list_shown_targets(table, evaluation.profile, checks)
    columns = list_columns(evaluation, targets)
    recommendations, rules = recommend(evaluation, targets)
    text = _load_template().render(
        tr=tr,
        title=" ".join(filter(None, (Path(table.truth.name).name, table.truth.version))),
        evaluation=evaluation,
        table=table,
        robustness=robustness,
        expected_order=None if expected_order is None else expected_order.tabulate(),
        made_at=made_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M"),
        program=program,
        columns=columns,
        target_cells=show_targets(columns, targets),
        rows=list_rows(evaluation.systems, columns, targets),
        checked=bool(targets),
        intervals=list(_list_intervals(evaluation)),
        groups=_list_groups(evaluation, columns, targets),
        failed=list_failed_queries(evaluation),
        failed_total=len({failure.query_id for failure in evaluation.failed_queries}),
        most_failed=MOST_FAILED,
        depth=FIRST_DEPTH,
        threshold=find_relevance_threshold(table.measures),
        recommendations=recommendations,
        rules=rules,
        most_named=MOST_NAMED,
        comparisons=_choose_comparisons(evaluation.comparisons),
        power=choose_power(evaluation.dataset.power)[:MOST_POWER],
        conventions=describe_conventions(evaluation.profile, table.measures),
        mean_over=MEAN_OVER[evaluation.profile.mean_over],
        show_p=lambda p: show_p(p).removeprefix("p = ").removeprefix("p "),
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


@cache
def _load_template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("annotator.evaluation.reports"),
        autoescape=True,  # so that what is escaped already is told from what is not
        finalize=_escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "markdown": _escape,
        "decimals": _mark_figure(lambda figure: show_number(figure, 3)),
        "interval": _mark_figure(lambda interval: show_interval(interval, between=" – ")),
        "percent": _mark_figure(lambda share: show_percent(share, 0)),
        "signed": _mark_figure(lambda figure: show_number(figure, 3, signed=True)),
        "thousands": _mark_figure(show_number),
    }
    return environment.get_template("report.md.jinja")


def _escape(value: object) -> "Markup":
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    if value is None or isinstance(value, float):
        raise TypeError(f"expected a text, found {value!r}")
    return Markup(_CUTOFF.sub("@", escape_markdown(str(value))))


def _mark_figure(show: Callable[..., str]) -> Callable[..., "Markup"]:
    """Return a filter whose figures are not escaped."""
    from markupsafe import Markup

    return lambda figure: Markup(show(figure))


def list_columns(evaluation: Evaluation, targets: Sequence[Target]) -> tuple[str, ...]:
    """Return the measures, and the latencies if a run or a target has them."""
    names = tuple(measure.name for measure in evaluation.table.measures)
    timed = any(system.latency_ms for system in evaluation.systems) or any(
        target.measure in LATENCIES for target in targets
    )
    return (*names, *LATENCIES) if timed else names


def list_rows(
    systems: Sequence[SystemSummary], columns: Sequence[str], targets: Sequence[Target]
) -> tuple[ReportedRow, ...]:
    """Return the figures of every system; the best figure of a column is marked, and what misses its target."""
    by_measure = {target.measure: target for target in targets}
    figures = {system.system: [_find_figure(system, column) for column in columns] for system in systems}
    best = [
        _find_best([row[index] for row in figures.values()], column) for index, column in enumerate(columns)
    ]
    return tuple(
        ReportedRow(
            system,
            tuple(
                ReportedCell(
                    _show_figure(figure, column),
                    len(figures) > 1 and figure is not None and figure == best[index],
                    _is_missed(figure, by_measure.get(column)),
                )
                for index, (figure, column) in enumerate(zip(row, columns, strict=True))
            ),
        )
        for system, row in figures.items()
    )


def _find_figure(system: SystemSummary, column: str) -> float | None:
    if column in LATENCIES:
        latency = system.latency_ms
        return None if latency is None else latency.p50 if column == LATENCIES[0] else latency.p95
    return system.measures[column].score.value


def _find_best(figures: Sequence[float | None], column: str) -> float | None:
    values = [figure for figure in figures if figure is not None]
    lower_is_better = column in LATENCIES or column in ("FirstRank", "TFFU")
    return (min if lower_is_better else max)(values, default=None)


def _show_figure(figure: float | None, column: str) -> str:
    return show_number(figure, 0 if column in (*LATENCIES, "TFFU") else 3)


def _is_missed(figure: float | None, target: Target | None) -> bool:
    if target is None:
        return False
    if figure is None:
        return True
    if target.maximum is not None:
        return figure > target.maximum + ROUNDING
    return target.minimum is not None and figure < target.minimum - ROUNDING


def show_targets(columns: Sequence[str], targets: Sequence[Target]) -> list[str]:
    """Return the target of each column, "" where it has none."""
    by_measure = {target.measure: target for target in targets}
    return [_show_target(by_measure.get(column), column) for column in columns]


def _show_target(target: Target | None, column: str) -> str:
    if target is None:
        return ""
    if target.maximum is not None:
        return f"≤ {show_figure(target.maximum, 6)}"
    return (
        f"≥ {show_number(target.minimum, 2) if column not in LATENCIES else show_figure(target.minimum, 6)}"
    )


def _list_intervals(evaluation: Evaluation) -> Iterator[tuple[str, str, MeasureSummary]]:
    for measure in evaluation.table.measures:
        for system in evaluation.systems:
            yield measure.name, system.system, system.measures[measure.name]


def _list_groups(
    evaluation: Evaluation, columns: Sequence[str], targets: Sequence[Target]
) -> dict[str, list[ReportedGroup]]:
    groups: dict[str, list[ReportedGroup]] = {}
    for group in evaluation.groups:
        systems = _sort_best_first(group)
        rows = list_rows(systems, columns, targets)
        groups.setdefault(group.field, []).append(
            ReportedGroup(group.value, group.queries, rows[:MOST_IN_GROUP], max(0, len(rows) - MOST_IN_GROUP))
        )
    return groups


def _sort_best_first(group: QueryGroup) -> list[SystemSummary]:
    if len(group.systems) <= MOST_IN_GROUP:
        return list(group.systems)
    first = next(iter(group.systems[0].measures))
    return sorted(group.systems, key=lambda system: -(system.measures[first].score.value or 0.0))


def list_failed_queries(evaluation: Evaluation) -> list[ReportedQuery]:
    """Return the MOST_FAILED failed queries on which most systems fail, with what each system found."""
    table = evaluation.table
    by_query: dict[str, list[FailedQuery]] = {}
    for failure in evaluation.failed_queries:
        by_query.setdefault(failure.query_id, []).append(failure)
    listed = sorted(by_query, key=lambda query_id: -len(by_query[query_id]))[:MOST_FAILED]
    threshold = find_relevance_threshold(table.measures)
    expected = list_expected_documents(table.truth.grades, listed, threshold)
    first_results = {
        run.system: (run, {query_id: index for index, query_id in enumerate(run.query_ids)})
        for run in evaluation.first_results
    }
    queries = []
    for query_id in listed:
        grades = table.truth.grades[query_id]
        failures = []
        for failure in by_query[query_id]:
            run, positions = first_results[failure.system]
            index = positions.get(query_id)
            doc_ids = [] if index is None else run.list_documents(index)[:MOST_DOCUMENTS]
            documents = expected.get(query_id, ())
            failures.append(
                ReportedFailure(
                    failure.system,
                    tuple(
                        ReportedDocument(doc_id, grades.get(doc_id), rank)
                        for rank, doc_id in enumerate(doc_ids, start=1)
                    ),
                    tuple(
                        ReportedDocument(doc_id, grades[doc_id], failure.late_ranks.get(doc_id))
                        for doc_id in documents[:MOST_DOCUMENTS]
                    ),
                    max(0, len(documents) - MOST_DOCUMENTS),
                )
            )
        queries.append(ReportedQuery(query_id, table.truth.texts.get(query_id, ""), tuple(failures)))
    return queries


def _choose_comparisons(comparisons: Sequence[SystemComparison]) -> Mapping[str, Any]:
    """Return the comparisons that the report lists: all, or those first that show a difference."""
    listed = list(comparisons)
    if len(listed) > MOST_COMPARED:
        listed.sort(key=lambda comparison: not comparison.significant)
    return {"listed": listed[:MOST_COMPARED], "total": len(comparisons)}
