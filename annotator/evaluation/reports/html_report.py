"""Write an evaluation as one self-contained HTML page, to send, print and keep.

This module draws the charts; the sections of the page are in `templates/sections.jinja`. The same evaluation,
time and language give the same bytes. Jinja escapes every value. Every chart has its numbers in a table that
opens below it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from annotator.domain.figures import NOTHING, show_interval, show_number, write_minus
from annotator.domain.svg import ColouredMatrix, MatrixCell, MatrixRow, clean_value, colour_share, colour_text
from annotator.evaluation.dataset_analysis.holes import JudgingNeed
from annotator.evaluation.differences.comparison import SystemComparison
from annotator.evaluation.evaluate import FIRST_DEPTH, NOT_COMPARED, Evaluation
from annotator.evaluation.records import Gain, Measure
from annotator.evaluation.reports.html_charts import (
    MOST_BARS,
    MOST_LINES,
    DrawnInterval,
    DrawnLine,
    DrawnParts,
    draw_counts,
    draw_differences,
    draw_lines,
    draw_parts,
    draw_query_bars,
    draw_sweeps,
)
from annotator.evaluation.reports.report_values import (
    ReportedCell,
    ReportedRow,
    Translate,
    make_environment,
    render_report,
)
from annotator.evaluation.scores.formulas import RECALL_LEVELS, list_precision_and_recall, measure_depth_curve
from annotator.evaluation.scores.ranking import GradeLookup
from annotator.evaluation.scores.summary import find_relevance_threshold

if TYPE_CHECKING:
    from jinja2 import Environment


MOST_MEASURES_DRAWN = 4  # with a forest plot each
MOST_DIFFERENCES = 40
MOST_COMPARED = 200
MOST_QUERIES = 500
MOST_HOLES = 50
MOST_POWER = 50
MOST_POWER_DRAWN = 20
MOST_COLUMNS = 7
"""Scores that fit side by side; if there are more of them, and fewer systems, each score gets a row."""


@dataclass(frozen=True, slots=True)
class DrawnDifferences:
    """A measure's forest plot, which shows `drawn` of `total` comparisons."""

    measure: str
    chart: str
    drawn: int
    total: int


def render_html(evaluation: Evaluation, *, tr: Translate, language: str, **shown: Any) -> str:
    """Return the page. `shown`: `made_at`, `program` and more, see `render_report`."""
    table, truth = evaluation.table, evaluation.table.truth
    main = next(
        (measure for measure in table.measures if measure.kind not in NOT_COMPARED), table.measures[0]
    )
    ranked = _rank_systems(evaluation, main)
    return render_report(
        "report.html.jinja",
        _make_environment(),
        evaluation,
        tr=tr,
        most_compared=MOST_COMPARED,
        language=language,
        title=" ".join(filter(None, (truth.name.rsplit("/", 1)[-1], truth.version))),
        main=main,
        ranked=ranked,
        most_columns=MOST_COLUMNS,
        wins=_list_wins(evaluation, ranked),
        differences=_draw_differences(evaluation, tr),
        **_draw_curves(evaluation, ranked, tr),
        heat_maps=_make_heat_maps(evaluation, main, tr),
        **_draw_queries(evaluation, ranked, main, tr),
        families=draw_sweeps(evaluation.sweeps, tr),
        saturation_chart=_draw_saturation(evaluation, tr),
        power_chart=_draw_power(evaluation, main, tr),
        power=evaluation.dataset.power[:MOST_POWER],
        holes_chart=_draw_holes(evaluation.dataset.holes, tr),
        most_holes=MOST_HOLES,
        most_lines=MOST_LINES,
        most_bars=MOST_BARS,
        **shown,
    )


@cache
def _make_environment() -> "Environment":
    return make_environment("parts.html.jinja", finalize=clean_value, mark_figure=str)


def _rank_systems(evaluation: Evaluation, main: Measure) -> list[str]:
    """Return the names of the systems, best first by the main measure."""
    return [
        system.system
        for system in sorted(
            evaluation.systems, key=lambda system: -(system.measures[main.name].score.value or 0.0)
        )
    ]


def _draw_differences(evaluation: Evaluation, tr: Translate) -> list[DrawnDifferences]:
    by_measure: dict[str, list[SystemComparison]] = {}
    for comparison in evaluation.comparisons:
        if comparison.queries:
            by_measure.setdefault(comparison.measure, []).append(comparison)
    drawn = []
    for number, (measure, comparisons) in enumerate(list(by_measure.items())[:MOST_MEASURES_DRAWN]):
        order = evaluation.dataset.order.get(measure)
        shown = comparisons
        if len(comparisons) > MOST_DIFFERENCES and order is not None:
            shown = [
                comparison for comparison in comparisons if order.systems[0] in (comparison.a, comparison.b)
            ] or comparisons
        shown = sorted(shown, key=lambda comparison: -comparison.difference)[:MOST_DIFFERENCES]
        rows = [
            DrawnInterval(
                f"{comparison.b} − {comparison.a}",
                comparison.difference,
                comparison.ci95,
                write_minus(
                    show_number(comparison.difference, 3, signed=True)
                    + (f" [{show_interval(comparison.ci95)}]" if comparison.ci95 else "")
                    + (" *" if comparison.significant else "")
                ),
            )
            for comparison in shown
        ]
        title = tr("Differences on {measure}", measure=measure)
        chart = draw_differences(title, rows, name=f"differences-{number}-")
        drawn.append(DrawnDifferences(measure, chart, len(shown), len(comparisons)))
    return drawn


def _list_wins(evaluation: Evaluation, ranked: Sequence[str]) -> list[ReportedRow]:
    wins = evaluation.dataset.wins.values()
    return [
        ReportedRow(system, tuple(ReportedCell(show_number(by_system.get(system, 0))) for by_system in wins))
        for system in ranked
    ]


def _draw_curves(evaluation: Evaluation, ranked: Sequence[str], tr: Translate) -> dict[str, Any]:
    """Return the template's values for two charts: precision over recall, and nDCG@K over K.

    The charts show the best systems; the curves hold all.
    """
    table, depth = evaluation.table, FIRST_DEPTH
    gain: Gain = next((measure.gain for measure in table.measures if measure.kind == "nDCG"), "grade")
    threshold = find_relevance_threshold(table.measures)
    grades = evaluation.profile.choose_grades(table.truth)
    lookup = GradeLookup.build(grades, table.query_ids)
    depth_curves: dict[str, list[float]] = {}
    cloud: list[tuple[float, float]] = []
    for run in evaluation.first_results:
        grid = lookup.build_grid(lookup.find(run), 0, len(table.query_ids))
        depth_curves[run.system] = measure_depth_curve(grid, depth, gain)
        if run.system == ranked[0]:
            cloud = list_precision_and_recall(grid, depth, threshold)
    precision_lines = [
        DrawnLine(system, list(zip(RECALL_LEVELS, curve, strict=True)), cloud if system == ranked[0] else ())
        for system in ranked[:MOST_LINES]
        if (curve := evaluation.precision_curves[system]) is not None
    ]
    depth_lines = [
        DrawnLine(system, [(float(rank), value) for rank, value in enumerate(depth_curves[system], 1)])
        for system in ranked[:MOST_LINES]
    ]
    return {
        "recall_levels": RECALL_LEVELS,
        "precision_curves": {system: evaluation.precision_curves[system] for system in ranked},
        "precision_chart": draw_lines(
            tr("Precision and recall"),
            precision_lines,
            x_label=tr("Recall"),
            y_label=tr("Precision"),
            x_range=(0.0, 1.0),
            x_ticks=RECALL_LEVELS[::2],
            name="precision-",
        )
        if precision_lines
        else "",
        "depth_curves": {system: depth_curves[system] for system in ranked},
        "depth_chart": draw_lines(
            tr("nDCG@K over K"),
            depth_lines,
            x_label="K",
            y_label="nDCG@K",
            x_range=(1.0, float(depth)),
            x_ticks=[float(rank) for rank in range(1, depth + 1)],
            name="depth-",
        ),
        "exponential": gain == "exponential",
    }


def _make_heat_maps(evaluation: Evaluation, main: Measure, tr: Translate) -> list[ColouredMatrix]:
    maps = []
    for field in dict.fromkeys(group.field for group in evaluation.groups):
        groups = [group for group in evaluation.groups if group.field == field]
        scores = [
            {system.system: system.measures[main.name].score.value for system in group.systems}
            for group in groups
        ]
        values = [value for group in scores for value in group.values() if value is not None]
        low, high = min(values, default=0.0), max(values, default=1.0)
        rows = tuple(
            MatrixRow(
                "", system.system, tuple(_make_cell(group[system.system], low, high) for group in scores)
            )
            for system in evaluation.systems
        )
        caption = tr("{measure} by {field}", measure=main.name, field=field)
        maps.append(
            ColouredMatrix(caption, tuple(f"{group.value} ({group.queries:,})" for group in groups), rows)
        )
    return maps


def _make_cell(value: float | None, low: float, high: float) -> MatrixCell:
    if value is None:
        return MatrixCell(NOTHING)
    share = (value - low) / (high - low) if high > low else 0.5
    return colour_text(show_number(value, 3), *colour_share(min(1.0, max(0.0, share)), same=True))


def _draw_queries(
    evaluation: Evaluation, ranked: Sequence[str], main: Measure, tr: Translate
) -> dict[str, Any]:
    """Return the template's values for the scores by query: a chart and the rows of its table.

    Scores are of the main measure. The query with the lowest mean over systems comes first.
    """
    table = evaluation.table
    by_system = {system.system: system.values[main.name].tolist() for system in table.systems}
    means = []
    for scores in zip(*by_system.values(), strict=True):
        defined = [score for score in scores if score == score]
        means.append(sum(defined) / len(defined) if defined else 0.0)
    order = sorted(range(len(means)), key=means.__getitem__)[:MOST_QUERIES]
    query_ids = [table.query_ids[row] for row in order]
    return {
        "query_rows": [
            (query_id, table.truth.texts.get(query_id, ""), [by_system[system][row] for system in ranked])
            for row, query_id in zip(order, query_ids, strict=True)
        ],
        "queries_chart": draw_query_bars(
            tr("{measure} by query", measure=main.name),
            {system: [by_system[system][row] for row in order] for system in ranked},
            query_ids=query_ids,
            name="queries-",
        ),
    }


def _draw_saturation(evaluation: Evaluation, tr: Translate) -> str:
    """Draw for each measure on how many queries scores differ. Return "" with fewer than two systems."""
    rows = [
        DrawnParts(
            saturation.measure,
            (
                saturation.queries - saturation.equal_queries,
                saturation.equal_queries - saturation.perfect_queries,
                saturation.perfect_queries,
            ),
        )
        for saturation in evaluation.dataset.saturation[:MOST_DIFFERENCES]
        if saturation.queries
    ]
    if len(evaluation.systems) < 2 or not rows:
        return ""
    names = (tr("Scores differ"), tr("Same for all systems"), tr("1.0 for all systems"))
    return draw_parts(tr("Which measures can rank these systems"), rows, names, name="saturation-")


def _draw_power(evaluation: Evaluation, main: Measure, tr: Translate) -> str:
    """Draw the largest differences on the main measure with the smallest detectable differences."""
    powers = [power for power in evaluation.dataset.power if power.measure == main.name]
    largest = sorted(powers, key=lambda power: -abs(power.difference))[:MOST_POWER_DRAWN]
    rows = [
        DrawnInterval(
            f"{power.b} − {power.a}",
            power.difference,
            (-power.detectable, power.detectable),
            write_minus(
                f"{show_number(power.difference, 3, signed=True)}; ±{show_number(power.detectable, 3)}"
            ),
        )
        for power in largest
        if power.detectable is not None
    ]
    if not rows:
        return ""
    return draw_differences(tr("Smallest difference that these queries can detect"), rows, name="power-")


def _draw_holes(need: JudgingNeed | None, tr: Translate) -> str:
    if need is None or not need.holes:
        return ""
    most_first = sorted(need.by_system.items(), key=lambda item: -item[1])
    title = tr("Unjudged in the top {depth}", depth=need.cutoff)
    return draw_counts(title, dict(most_first[:MOST_DIFFERENCES]), name="holes-")
