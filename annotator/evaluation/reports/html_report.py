"""Write the evaluation as one self-contained HTML page, to send, print and keep.

This file chooses and orders what the page shows; `templates/report.html.jinja` holds its words, which `tr` translates, and
its HTML. The same evaluation, time and language give the same bytes. Jinja escapes every value. Every chart has its
numbers in a table that opens below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from annotator.domain.figures import show_interval, show_number, show_p, show_percent
from annotator.domain.svg import clean, colour_share
from annotator.evaluation.dataset_analysis.robustness import LENIENT, STRICT, Robustness
from annotator.evaluation.differences.comparison import SystemComparison
from annotator.evaluation.evaluate import FIRST_DEPTH, NOT_COMPARED, Evaluation
from annotator.evaluation.failed_queries import find_relevance_threshold
from annotator.evaluation.profiles.profile import MEAN_OVER, describe_conventions
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
)
from annotator.evaluation.reports.html_sweeps import draw_sweeps
from annotator.evaluation.reports.markdown_report import (
    NOTHING,
    Translate,
    list_columns,
    list_failed_queries,
    list_rows,
    show_targets,
)
from annotator.evaluation.reports.recommendations import recommend
from annotator.evaluation.reports.structure_report import list_figures
from annotator.evaluation.scores.curves import RECALL_LEVELS, list_precision_and_recall, measure_depth_curve
from annotator.evaluation.scores.grade_grid import GradeLookup
from annotator.evaluation.targets import TargetCheck, list_shown_targets

if TYPE_CHECKING:
    from jinja2 import Environment

    from annotator.pooling.rounds.pool_records import SystemOrder

MOST_MEASURES_DRAWN = 4  # with a forest plot each
MOST_DIFFERENCES = 40
MOST_COMPARED = 200
MOST_QUERIES = 500
MOST_HOLES = 50
MOST_POWER = 50
MOST_POWER_DRAWN = 20
MOST_COLUMNS = 7
"""Scores beside each other; more of them stand below each other, where the systems are fewer."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell whose background says how high its figure is."""

    text: str
    background: str = ""  # #rrggbb
    color: str = ""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row of a heat map. `number` is empty; the macro that draws matrices knows it."""

    name: str
    cells: tuple[HeatCell, ...]
    number: str = ""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The systems by groups of queries."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[HeatRow, ...]


@dataclass(frozen=True, slots=True)
class DrawnDifferences:
    """The forest plot of a measure. `drawn` of `total` comparisons are in it."""

    measure: str
    chart: Markup
    drawn: int
    total: int


def render_html(
    evaluation: Evaluation,
    *,
    tr: Translate,
    language: str,
    made_at: datetime,
    program: str,
    robustness: Robustness | None = None,
    checks: Sequence[TargetCheck] = (),
    expected_order: "SystemOrder | None" = None,
) -> str:
    """Return the page. `program`: name and version; `checks`: the targets that were checked, else the profile's are shown."""
    table = evaluation.table
    targets = list_shown_targets(table, evaluation.profile, checks)
    columns = list_columns(evaluation, targets)
    recommendations, rules = recommend(evaluation, targets)
    main = next(
        (measure for measure in table.measures if measure.kind not in NOT_COMPARED), table.measures[0]
    )
    ranked = _rank_systems(evaluation, main)
    holes = evaluation.dataset.holes
    return (
        _make_environment()
        .get_template("report.html.jinja")
        .render(
            tr=tr,
            language=language,
            evaluation=evaluation,
            table=table,
            robustness=robustness,
            expected_order=None if expected_order is None else expected_order.tabulate(),
            title=" ".join(filter(None, (table.truth.name.rsplit("/", 1)[-1], table.truth.version))),
            made_at=made_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M"),
            program=program,
            main=main,
            columns=columns,
            turned=len(columns) > MOST_COLUMNS and len(columns) > len(evaluation.systems),
            target_cells=show_targets(columns, targets),
            rows=list_rows(evaluation.systems, columns, targets),
            checked=bool(targets),
            depth=FIRST_DEPTH,
            threshold=find_relevance_threshold(table.measures),
            recommendations=recommendations,
            rules=rules,
            failed=list_failed_queries(evaluation),
            failed_total=len({failure.query_id for failure in evaluation.failed_queries}),
            differences=_draw_differences(evaluation, tr),
            comparisons=_choose_comparisons(evaluation.comparisons, MOST_COMPARED),
            **_draw_curves(evaluation, ranked, tr),
            heat_maps=_make_heat_maps(evaluation, main, tr),
            **_draw_queries(evaluation, ranked, main, tr),
            sweeps=draw_sweeps(evaluation.sweeps, tr),
            structure=[
                (structure.system, figure)
                for structure in evaluation.structure
                for figure in list_figures(structure)
            ],
            saturation_chart=_draw_saturation(evaluation, tr),
            power_chart=_draw_power(evaluation, main, tr),
            variant_names={
                LENIENT: tr("the highest grade for every disagreement"),
                STRICT: tr("the lowest grade for every disagreement"),
            },
            power=evaluation.dataset.power[:MOST_POWER],
            holes=holes,
            holes_chart=Markup()
            if holes is None or not holes.holes
            else Markup(
                draw_counts(
                    tr("Unjudged in the top {depth}", depth=holes.cutoff),
                    dict(sorted(holes.by_system.items(), key=lambda item: -item[1])[:MOST_DIFFERENCES]),
                    name="holes-",
                )
            ),
            most_holes=MOST_HOLES,
            conventions=describe_conventions(evaluation.profile, table.measures),
            mean_over=MEAN_OVER[evaluation.profile.mean_over],
            most_lines=MOST_LINES,
            most_bars=MOST_BARS,
        )
    )


@cache
def _make_environment() -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("annotator.evaluation.reports"), PackageLoader("annotator.domain")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean_value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "decimals": lambda figure: show_number(figure, 3),
        "interval": lambda pair: show_interval(pair, between=" – "),
        "percent": lambda share: show_percent(share, 0),
        "signed": lambda figure: show_number(figure, 3, signed=True),
        "thousands": show_number,
        "p": partial(show_p, named=False),
    }
    return environment


def _clean_value(value: object) -> object:
    """Remove what XML refuses, and what turns the writing direction around it."""
    return value if hasattr(value, "__html__") else clean(str(value))


def _rank_systems(evaluation: Evaluation, main: Measure) -> list[str]:
    """Return the systems, the best by the main measure first."""
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
                show_number(comparison.difference, 3, signed=True)
                + (f" [{show_interval(comparison.ci95)}]" if comparison.ci95 else "")
                + (" *" if comparison.significant else ""),
            )
            for comparison in shown
        ]
        title = tr("Differences on {measure}", measure=measure)
        chart = Markup(draw_differences(title, rows, name=f"differences-{number}-"))
        drawn.append(DrawnDifferences(measure, chart, len(shown), len(comparisons)))
    return drawn


def _choose_comparisons(comparisons: Sequence[SystemComparison], most: int) -> Sequence[SystemComparison]:
    if len(comparisons) <= most:
        return comparisons
    return sorted(comparisons, key=lambda comparison: not comparison.significant)[:most]


def _draw_curves(evaluation: Evaluation, ranked: Sequence[str], tr: Translate) -> dict[str, Any]:
    """Return the precision–recall curve and nDCG over its depth, drawn for the best systems, with all their numbers."""
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
        "precision_chart": Markup(
            draw_lines(
                tr("Precision and recall"),
                precision_lines,
                x_label=tr("Recall"),
                y_label=tr("Precision"),
                x_range=(0.0, 1.0),
                x_ticks=RECALL_LEVELS[::2],
                name="precision-",
            )
        )
        if precision_lines
        else Markup(),
        "depth_curves": {system: depth_curves[system] for system in ranked},
        "depth_chart": Markup(
            draw_lines(
                tr("nDCG@K over K"),
                depth_lines,
                x_label="K",
                y_label="nDCG@K",
                x_range=(1.0, float(depth)),
                x_ticks=[float(rank) for rank in range(1, depth + 1)],
                name="depth-",
            )
        ),
        "exponential": gain == "exponential",
    }


def _make_heat_maps(evaluation: Evaluation, main: Measure, tr: Translate) -> list[HeatMap]:
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
            HeatRow(system.system, tuple(_make_cell(group[system.system], low, high) for group in scores))
            for system in evaluation.systems
        )
        caption = tr("{measure} by {field}", measure=main.name, field=field)
        maps.append(HeatMap(caption, tuple(f"{group.value} ({group.queries:,})" for group in groups), rows))
    return maps


def _make_cell(value: float | None, low: float, high: float) -> HeatCell:
    if value is None:
        return HeatCell(NOTHING)
    share = (value - low) / (high - low) if high > low else 0.5
    background, black = colour_share(min(1.0, max(0.0, share)), same=True)
    return HeatCell(show_number(value, 3), background, "#000" if black else "#fff")


def _draw_queries(
    evaluation: Evaluation, ranked: Sequence[str], main: Measure, tr: Translate
) -> dict[str, Any]:
    """Return the bars of the main measure for each query, and a table of them; queries with the lowest mean first."""
    table = evaluation.table
    by_system: Mapping[str, Any] = {system.system: system.values[main.name] for system in table.systems}
    means = [
        sum(values) / len(values)
        if (values := [float(scores[row]) for scores in by_system.values() if scores[row] == scores[row]])
        else 0.0
        for row in range(len(table.query_ids))
    ]
    order = sorted(range(len(means)), key=means.__getitem__)[:MOST_QUERIES]
    scores = {system: [float(by_system[system][row]) for row in order] for system in ranked}
    return {
        "query_rows": [
            (
                table.query_ids[row],
                table.truth.texts.get(table.query_ids[row], ""),
                [_show_score(scores[system][index]) for system in ranked],
            )
            for index, row in enumerate(order)
        ],
        "ranked": ranked,
        "queries_chart": Markup(
            draw_query_bars(
                tr("{measure} by query", measure=main.name),
                scores,
                query_ids=[table.query_ids[row] for row in order],
                name="queries-",
            )
        ),
    }


def _draw_saturation(evaluation: Evaluation, tr: Translate) -> Markup:
    """Return, for each measure, on how many queries it tells systems apart; nothing to draw for one system."""
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
        return Markup()
    names = (tr("Scores differ"), tr("Same for all systems"), tr("1.0 for all systems"))
    return Markup(draw_parts(tr("Which measures can rank these systems"), rows, names, name="saturation-"))


def _draw_power(evaluation: Evaluation, main: Measure, tr: Translate) -> Markup:
    """Return the differences on the main measure beside the smallest ones that the queries can show."""
    powers = [power for power in evaluation.dataset.power if power.measure == main.name]
    largest = sorted(powers, key=lambda power: -abs(power.difference))[:MOST_POWER_DRAWN]
    rows = [
        DrawnInterval(
            f"{power.b} − {power.a}",
            power.difference,
            (-power.detectable, power.detectable),
            f"{show_number(power.difference, 3, signed=True)}; ±{show_number(power.detectable, 3)}",
        )
        for power in largest
        if power.detectable is not None
    ]
    if not rows:
        return Markup()
    return Markup(
        draw_differences(tr("Smallest difference that these queries can detect"), rows, name="power-")
    )


def _show_score(value: float) -> str:
    return show_number(value, 3)
