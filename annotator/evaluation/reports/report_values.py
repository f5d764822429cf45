"""Choose and order what an evaluation report shows, and write it as Markdown; `templates/sections.jinja` holds its words.

To add a section, write a macro in that template, call it in `report.html.jinja` and `report.md.jinja`, and pass
the values that it needs in `render_report`. The same evaluation, time and language give the same text. Every text
is escaped for Markdown where it is printed.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotator.domain.figures import (
    show_figure,
    show_interval,
    show_number,
    show_p,
    show_percent,
    write_minus,
)
from annotator.evaluation.dataset_analysis.robustness import Robustness
from annotator.evaluation.differences.comparison import SystemComparison
from annotator.evaluation.evaluate import FIRST_DEPTH, Evaluation, QueryGroup, SystemSummary, choose_power
from annotator.evaluation.profiles import MEAN_OVER, Target, describe_conventions
from annotator.evaluation.reports.recommendations import recommend
from annotator.evaluation.reports.structure_report import list_figures
from annotator.evaluation.scores.summary import (
    NONE_OF_GROUP,
    FailedQuery,
    find_relevance_threshold,
    list_expected_documents,
)
from annotator.evaluation.targets import ROUNDING, TargetCheck, list_shown_targets
from annotator.formats.syntax.markdown import escape_markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from annotator.pooling.rounds.pool_records import SystemOrder


Translate = Callable[..., str]
"""Translates a sentence or a Message, and fills in its values: `tr` of the app."""

LATENCIES = {"latency P50": "P50 (ms)", "latency P95": "P95 (ms)"}
LOWER_IS_BETTER = frozenset((*LATENCIES, "FirstRank", "TFFU"))
MOST_FAILED = 20
MOST_DOCUMENTS = 5
MOST_IN_GROUP = 10


@dataclass(frozen=True, slots=True)
class ReportedCell:
    """A figure of a table. `best`: no system has a better one; `missed`: it does not reach its target."""

    text: str
    best: bool = False
    missed: bool = False
    interval: tuple[float, float] | None = None  # shown on the page


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """One system's figures, column by column."""

    system: str
    cells: tuple[ReportedCell, ...]


@dataclass(frozen=True, slots=True)
class ReportedDocument:
    """A document with its grade (None: unjudged) and its rank (None: not in the results)."""

    doc_id: str
    grade: int | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class ReportedFailure:
    """The first results of a system that fails on a query, and the expected documents with their ranks."""

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


def render_report(
    template: str,
    environment: "Environment",
    evaluation: Evaluation,
    *,
    tr: Translate,
    made_at: datetime,
    program: str,
    robustness: Robustness | None = None,
    checks: Sequence[TargetCheck] = (),
    most_compared: int,
    expected_order: "SystemOrder | None" = None,
    **values: Any,
) -> str:
    """Render a report. `values`: what only this template shows.

    `program`: name and version. `checks`: the targets that were checked; without any, the profile's targets
    are shown.
    """
    table = evaluation.table
    targets = list_shown_targets(table, evaluation.profile, checks)
    columns = _list_columns(evaluation, targets)
    recommendations, rules = recommend(evaluation, targets)
    return environment.get_template(template).render(
        tr=tr,
        evaluation=evaluation,
        table=table,
        robustness=robustness,
        order=None if expected_order is None else expected_order.tabulate(),
        sentences=[*evaluation.sentences, *(robustness.sentences if robustness else ())],
        made_at=made_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M"),
        program=program,
        columns=[LATENCIES.get(column, column) for column in columns],
        targets=_show_targets(columns, targets) if targets else [],
        rows=_list_rows(evaluation.systems, columns, targets),
        groups=_list_groups(evaluation, columns, targets),
        most_in_group=MOST_IN_GROUP,
        failed=_list_failed_queries(evaluation),
        failed_total=len({failure.query_id for failure in evaluation.failed_queries}),
        depth=FIRST_DEPTH,
        threshold=find_relevance_threshold(table.measures),
        recommendations=recommendations,
        rules=rules,
        comparisons=_choose_comparisons(evaluation.comparisons, most_compared),
        conventions=describe_conventions(evaluation.profile, table.measures),
        mean_over=MEAN_OVER[evaluation.profile.mean_over],
        **values,
    )


def make_environment(
    parts: str, *, finalize: Callable[[object], object], mark_figure: Callable[[str], str]
) -> "Environment":
    """Return an environment whose sections are made of the macros of `parts`.

    `finalize` prepares a value that is printed. `mark_figure` marks a figure that needs no escaping. Negative figures have a
    minus sign (−), as in the sentences.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    def mark(figure: str) -> str:
        return mark_figure(write_minus(figure))

    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("annotator.evaluation.reports"), PackageLoader("annotator.domain")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(parts=parts, on_page=parts == "parts.html.jinja")
    environment.filters |= {
        "decimals": lambda figure: mark(show_number(figure, 3)),
        "figures": list_figures,
        "interval": lambda interval: mark(show_interval(interval, between=" – ")),
        "numbers": lambda columns: [f"#{column}" for column in columns],  # the names of columns of numbers
        "p": partial(show_p, named=False),
        "percent": lambda share: mark(show_percent(share, 0)),
        "signed": lambda figure: mark(show_number(figure, 3, signed=True)),
        "thousands": lambda count: mark(show_number(count)),
    }
    return environment


def _list_columns(evaluation: Evaluation, targets: Sequence[Target]) -> tuple[str, ...]:
    """Return the measures, and the latencies if a run or a target has them."""
    names = tuple(measure.name for measure in evaluation.table.measures)
    timed = any(system.latency_ms for system in evaluation.systems) or any(
        target.measure in LATENCIES for target in targets
    )
    return (*names, *LATENCIES) if timed else names


def _list_rows(
    systems: Sequence[SystemSummary], columns: Sequence[str], targets: Sequence[Target]
) -> list[ReportedRow]:
    by_measure = {target.measure: target for target in targets}
    cells: dict[str, list[ReportedCell]] = {system.system: [] for system in systems}
    for column in columns:
        figures = [_find_figure(system, column) for system in systems]
        defined = [figure for figure in figures if figure is not None]
        best = (min if column in LOWER_IS_BETTER else max)(defined, default=None)
        for system, figure in zip(systems, figures, strict=True):
            summary = system.measures.get(column)
            cells[system.system].append(
                ReportedCell(
                    show_number(figure, 0 if column in (*LATENCIES, "TFFU") else 3),
                    len(systems) > 1 and figure is not None and figure == best,
                    (summary is None or summary.score.why != NONE_OF_GROUP)
                    and _is_missed(summary.for_targets if summary else figure, by_measure.get(column)),
                    None if summary is None else summary.ci95,
                )
            )
    return [ReportedRow(system, tuple(row)) for system, row in cells.items()]


def _find_figure(system: SystemSummary, column: str) -> float | None:
    if column in LATENCIES:
        latency = system.latency_ms
        return None if latency is None else latency.p50 if column == "latency P50" else latency.p95
    return system.measures[column].score.value


def _is_missed(figure: float | None, target: Target | None) -> bool:
    if target is None:
        return False
    if figure is None:
        return True
    if target.maximum is not None:
        return figure > target.maximum + ROUNDING
    return target.minimum is not None and figure < target.minimum - ROUNDING


def _show_targets(columns: Sequence[str], targets: Sequence[Target]) -> list[str]:
    """Return the target of each column, "" for a column without one."""
    by_measure = {target.measure: target for target in targets}
    return [_show_target(by_measure.get(column), column) for column in columns]


def _show_target(target: Target | None, column: str) -> str:
    if target is None:
        return ""
    if target.maximum is not None:
        return f"≤ {show_figure(target.maximum, 6)}"
    return f"≥ {show_figure(target.minimum, 6) if column in LATENCIES else show_number(target.minimum, 2)}"


def _list_groups(
    evaluation: Evaluation, columns: Sequence[str], targets: Sequence[Target]
) -> dict[str, list[tuple[QueryGroup, Sequence[ReportedRow]]]]:
    """Return each group with its systems by field: all of them, or the best MOST_IN_GROUP."""
    groups: dict[str, list[tuple[QueryGroup, Sequence[ReportedRow]]]] = {}
    first = columns[0]
    for group in evaluation.groups:
        systems = group.systems
        if len(systems) > MOST_IN_GROUP:
            systems = tuple(sorted(systems, key=lambda system: -(system.measures[first].score.value or 0.0)))
        rows = _list_rows(systems, columns, targets)[:MOST_IN_GROUP]
        groups.setdefault(group.field, []).append((group, rows))
    return groups


def _list_failed_queries(evaluation: Evaluation) -> list[ReportedQuery]:
    """Return at most MOST_FAILED failed queries, those of most systems first."""
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


def _choose_comparisons(comparisons: Sequence[SystemComparison], most: int) -> Sequence[SystemComparison]:
    """Return all comparisons, or `most` of them: first the comparisons that show a difference."""
    if len(comparisons) <= most:
        return comparisons
    return sorted(comparisons, key=lambda comparison: not comparison.significant)[:most]


MOST_COMPARED = 30
MOST_POWER = 5
# nDCG@10 cannot be read as a person's name or address.
_CUTOFF = re.compile(r"(?<=[\w)])\\@(?=[0-9]+(?![\w]|\.\w))", re.ASCII)


def render_markdown(evaluation: Evaluation, *, tr: Translate, **shown: Any) -> str:
    """Return the report. `shown`: `made_at`, `program` and more, see `render_report`."""
    truth = evaluation.table.truth
    text = render_report(
        "report.md.jinja",
        _make_environment(),
        evaluation,
        tr=tr,
        most_compared=MOST_COMPARED,
        title=" ".join(filter(None, (Path(truth.name).name, truth.version))),
        power=choose_power(evaluation.dataset.power)[:MOST_POWER],
        **shown,
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _make_environment() -> "Environment":
    from markupsafe import Markup

    return make_environment("parts.md.jinja", finalize=_escape, mark_figure=Markup)


def _escape(value: object) -> "Markup":
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    if value is None or isinstance(value, float):
        raise TypeError(f"expected a text, found {value!r}")
    return Markup(_CUTOFF.sub("@", escape_markdown(str(value))))
