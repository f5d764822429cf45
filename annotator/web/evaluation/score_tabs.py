"""Draw the tabs with charts: "Scores", "Differences" between systems with their tests, and "Groups" of queries.

In the chart of scores a thick line is the 95 % interval, and a thin line reaches from the lowest to the
highest possible score. In the forest plot a difference that chance does not explain is a filled diamond, any
other a hollow circle. For each chart there is also a description in words (`describe_…`) and a table.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import sqrt
from typing import Any

import altair as alt
import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.domain.figures import show_number
from annotator.evaluation.evaluate import Evaluation, QueryGroup
from annotator.evaluation.profiles import MEAN_OVER
from annotator.web.evaluation.page import ShownEvaluation
from annotator.web.evaluation.tables import find_digits, list_comparisons, sort_systems
from annotator.web.kit.charts import (
    CELL_AXIS,
    GREY,
    PALE,
    TEAL,
    make_unique_label,
    tint_cell,
    tint_neutral,
    turn_labels,
)
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_report_chart
from annotator.web.kit.tables import draw_link_table, draw_table
from annotator.web.kit.text import shorten
from annotator.web.kit.words import name_field

MOST_LEFT_OUT = 20


def draw_scores(shown: ShownEvaluation) -> None:
    measure, evaluation = shown.measure, shown.evaluation
    if shown.result.expected_order is not None:
        from annotator.web.pooling.round_preview import draw_expected_order

        st.header(tr(shown.result.expected_order.tabulate().title))
        draw_expected_order(shown.result.expected_order)
    st.header(measure)
    draw_report_chart(
        "scores",
        chart_scores(evaluation, measure),
        describe_scores(evaluation, measure),
        caption=tr("{measure} by system", measure=measure),
        csv=shown.make_file_url("scores"),
        name=f"{shown.dataset}-scores",
    )
    shown.show_table("scores", tr("{measure} by system", measure=measure))
    _draw_latency(shown)
    _draw_conventions(shown)


def _explain(shown: ShownEvaluation) -> str:
    table = shown.evaluation.table
    return join_sentences(
        [
            tr_n(
                "Means over {n:,} query. Thick lines (from, to): 95 % intervals from resampled queries. Thin "
                "lines: lowest and highest possible score.",
                "Means over {n:,} queries. Thick lines (from, to): 95 % intervals from resampled queries. "
                "Thin lines: lowest and highest possible score.",
                len(table.query_ids),
            ),
            tr(
                "Judged: share of judged documents among those that count for the measure. Unjudged "
                "documents count as not relevant in the score. Condensed: the score without unjudged "
                "documents. Lowest and highest possible: the score if unjudged documents had the worst or "
                "the best grades."
            ),
        ]
    )


def _draw_latency(shown: ShownEvaluation) -> None:
    rows = [
        [system.system, *(show_number(figure) for figure in (latency.p50, latency.p95, latency.p99))]
        for system in shown.evaluation.systems
        if (latency := system.latency_ms) is not None
    ]
    if rows:
        st.header(tr("Latency in milliseconds"))
        draw_link_table(tr("Latency in milliseconds"), [tr("system"), "P50", "P95", "P99"], rows)


def _draw_conventions(shown: ShownEvaluation) -> None:
    evaluation = shown.evaluation
    with st.expander(tr("How each measure is computed"), key="formulas"):
        for measure in evaluation.table.measures:
            st.html(
                f'<p class="annotator-note"><strong>{escape(measure.name)}</strong> {escape(tr(measure.formula))}</p>'
            )
        draw_note(_explain(shown))
        draw_note(tr(MEAN_OVER[evaluation.profile.mean_over]))
        for query_id, why in list(evaluation.table.left_out.items())[:MOST_LEFT_OUT]:
            draw_note(f"{query_id}: {tr(why)}")


def draw_differences(shown: ShownEvaluation) -> None:
    comparisons = list_comparisons(shown.evaluation, shown.measure)
    title = tr("Differences on {measure}", measure=shown.measure)
    st.header(title)
    if not comparisons:
        _say_why_not(shown)
        return
    draw_report_chart(
        "differences",
        chart_differences(shown.evaluation, shown.measure),
        describe_differences(shown.evaluation, shown.measure),
        caption=title,
        csv=shown.make_file_url("differences"),
        name=f"{shown.dataset}-differences",
    )
    draw_note(
        tr(
            "Lines: 95 % intervals. Filled diamond: a difference that chance does not explain (p below "
            ".05 after Holm). Hollow circle: no difference shown."
        )
    )
    if len(comparisons) > MOST_DRAWN:
        draw_note(
            tr(
                "The chart shows the {n} largest of {all:,} differences. The file has all.",
                n=MOST_DRAWN,
                all=len(comparisons),
            )
        )
    shown.show_table("differences", tr("Differences as a table"), folded=True)
    title = tr("Wins, ties and losses by query")
    st.header(title)
    draw_table(
        title,
        [tr("system"), tr("compared with"), tr("wins"), tr("ties"), tr("losses")],
        [
            [one.b, one.a, *map(show_number, (one.wins, one.ties, one.losses))]
            for one in comparisons[:MOST_DRAWN]
        ],
    )


def _say_why_not(shown: ShownEvaluation) -> None:
    if len(shown.evaluation.systems) < 2:
        st.text(tr("There is only one system. To compare, import a run of another system."))
        draw_link(shown.context, "import")
    else:
        st.text(tr("This measure cannot compare systems. Choose another."))


def draw_groups(shown: ShownEvaluation) -> None:
    by = shown.choice.by
    if by is None:
        st.header(tr("By group"))
        fields = join_names(map(name_field, shown.choices.fields))
        if fields:
            st.text(
                tr(
                    "Choose a field under Group by to see the best system of each group: {fields}.",
                    fields=fields,
                )
            )
        else:
            st.text(tr("The queries have no category or other field to group them by."))
        return
    title = tr("{measure} by {field}", measure=shown.measure, field=name_field(by))
    st.header(title)
    draw_report_chart(
        "evaluation-groups",
        chart_groups(shown.evaluation, shown.measure),
        describe_groups(shown.evaluation, shown.measure),
        caption=title,
        csv=shown.make_file_url("groups"),
        name=f"{shown.dataset}-groups",
    )
    draw_note(tr("In brackets: number of queries. Groups with few queries are less reliable."))
    groups, systems = len(shown.evaluation.groups), len(shown.evaluation.systems)
    if groups > MOST_GROUPS or systems > MOST_SYSTEMS:
        draw_note(
            tr(
                "The chart shows at most {groups} groups and {systems} systems. The file has all.",
                groups=MOST_GROUPS,
                systems=MOST_SYSTEMS,
            )
        )
    shown.show_table("groups", tr("Table by group"), folded=True)


MOST_DRAWN, MOST_GROUPS, MOST_SYSTEMS = 30, 40, 12
ROW, CELL, AXIS, EDGE = 28, 34, 64, 110
LONGEST_NAME = 30
NOTHING = tint_neutral(0.08)


def list_score_points(evaluation: Evaluation, measure: str) -> list[dict[str, Any]]:
    """Return the points of the best systems: score, interval and bounds.

    Where a system has no interval or no bounds, the score stands in for both ends.
    """
    points: list[dict[str, Any]] = []
    for system in sort_systems(evaluation, measure)[:MOST_DRAWN]:
        summary = system.measures[measure]
        if summary.score.value is None:
            continue
        low, high = summary.ci95 or (summary.score.value,) * 2
        least, most = summary.score.bounds or (summary.score.value,) * 2
        points.append(
            {
                "label": make_unique_label(shorten(system.system), [point["label"] for point in points]),
                "value": summary.score.value,
                "low": low,
                "high": high,
                "least": least,
                "most": most,
            }
        )
    return points


def _chart_points(points: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart with the labels of the points from top to bottom, and no mark yet."""
    labels = alt.Y(
        "label:N",
        sort=[point["label"] for point in points],
        title=None,
        axis=alt.Axis(labelLimit=230, **CELL_AXIS),
    )
    return alt.Chart(alt.InlineData(points)).encode(y=labels)


def chart_scores(evaluation: Evaluation, measure: str) -> alt.LayerChart:
    """Return the systems' scores, best first, with their intervals and bounds."""
    points, digits = list_score_points(evaluation, measure), find_digits(evaluation, measure)
    scale = alt.Scale(zero=False, nice=True)
    base = _chart_points(points)
    names = {
        "value": tr("score"),
        "low": tr("from"),
        "high": tr("to"),
        "least": tr("lowest possible"),
        "most": tr("highest possible"),
    }
    return alt.layer(
        base.mark_rule(strokeWidth=1.5, color=GREY).encode(x=alt.X("least:Q", scale=scale), x2="most:Q"),
        base.mark_rule(strokeWidth=5, color=TEAL, opacity=0.55).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q"
        ),
        base.mark_point(size=110, shape="circle", filled=True, color=TEAL, opacity=1).encode(
            x=alt.X("value:Q", scale=scale, title=measure, axis=alt.Axis(tickCount=6, labelFlush=False)),
            tooltip=[
                alt.Tooltip(f"{name}:Q", title=title, format=f".{digits}f") for name, title in names.items()
            ],
        ),
    ).properties(height=len(points) * ROW + AXIS)


def describe_scores(evaluation: Evaluation, measure: str) -> str:
    digits = find_digits(evaluation, measure)
    return "; ".join(
        tr(
            "{system}: {score} [{low}, {high}]",
            system=point["label"],
            score=show_number(point["value"], digits),
            low=show_number(point["low"], digits),
            high=show_number(point["high"], digits),
        )
        for point in list_score_points(evaluation, measure)
    )


def list_difference_points(evaluation: Evaluation, measure: str) -> list[dict[str, Any]]:
    """Return the points of the largest differences, with intervals, verdicts and unique labels."""
    points: list[dict[str, Any]] = []
    for comparison in list_comparisons(evaluation, measure)[:MOST_DRAWN]:
        low, high = comparison.ci95 or (comparison.difference, comparison.difference)
        label = f"{shorten(comparison.b)} − {shorten(comparison.a)}"
        points.append(
            {
                "label": make_unique_label(label, [point["label"] for point in points]),
                "value": comparison.difference,
                "low": low,
                "high": high,
                "shown": comparison.significant,
                "verdict": tr(comparison.verdict),
            }
        )
    return points


def chart_differences(evaluation: Evaluation, measure: str) -> alt.LayerChart:
    """Return the forest plot. The dashed line marks no difference."""
    points, digits = list_difference_points(evaluation, measure), find_digits(evaluation, measure)
    reach = max([0.01, *(abs(point[end]) for point in points for end in ("low", "high", "value"))])
    scale = alt.Scale(domain=[-reach * 1.05, reach * 1.05], nice=False)
    title = tr("difference of {measure}", measure=measure)
    x = alt.X("value:Q", scale=scale, title=title, axis=alt.Axis(tickCount=5, labelFlush=False))
    base = _chart_points(points)
    nothing = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=1.5, color=GREY
    )
    return alt.layer(
        nothing.encode(x=alt.X("zero:Q", scale=scale)),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(size=130, stroke=TEAL, strokeWidth=2.5, opacity=1, fillOpacity=1).encode(
            x=x,
            fill=alt.condition("datum.shown", alt.value(TEAL), alt.value("transparent")),
            shape=alt.condition("datum.shown", alt.value("diamond"), alt.value("circle")),
            tooltip=[
                alt.Tooltip("verdict:N", title=" "),
                alt.Tooltip("value:Q", title=tr("difference"), format=f"+.{digits}f"),
                alt.Tooltip("low:Q", title=tr("from"), format=f"+.{digits}f"),
                alt.Tooltip("high:Q", title=tr("to"), format=f"+.{digits}f"),
            ],
        ),
    ).properties(height=len(points) * ROW + AXIS)


def describe_differences(evaluation: Evaluation, measure: str) -> str:
    return join_sentences(
        tr(comparison.verdict) for comparison in list_comparisons(evaluation, measure)[:MOST_DRAWN]
    )


def list_group_cells(evaluation: Evaluation, measure: str) -> list[dict[str, Any]]:
    """Return a cell for each drawn group and system: the score, its background and the colour of its number."""
    cells = []
    for group, label in zip(list_drawn_groups(evaluation), label_groups(evaluation), strict=True):
        for system in group.systems[:MOST_SYSTEMS]:
            value = system.measures[measure].score.value
            share = None if value is None else sqrt(min(max(value, 0), 1))
            fill, ink = (NOTHING, PALE) if share is None else tint_cell(share, same=True)
            cells.append(
                {
                    "group": label,
                    "name": group.value,
                    "system": system.system,
                    "queries": group.queries,
                    "shown": "–" if value is None else show_number(value, 2),
                    "fill": fill,
                    "ink": ink,
                }
            )
    return cells


def list_drawn_groups(evaluation: Evaluation) -> list[QueryGroup]:
    """Return the MOST_GROUPS groups with the most queries, in the order of the evaluation."""
    largest = sorted(evaluation.groups, key=lambda group: -group.queries)[:MOST_GROUPS]
    return [group for group in evaluation.groups if group in largest]


def label_groups(evaluation: Evaluation) -> list[str]:
    """Return unique labels of the drawn groups: the name and the number of queries."""
    labels: list[str] = []
    for group in list_drawn_groups(evaluation):
        labels.append(make_unique_label(f"{shorten(group.value, LONGEST_NAME)} ({group.queries:,})", labels))
    return labels


def chart_groups(evaluation: Evaluation, measure: str) -> alt.LayerChart:
    """Return the heat map: rows are groups, columns are systems."""
    groups = label_groups(evaluation)
    systems = [system.system for system in evaluation.systems[:MOST_SYSTEMS]]
    base = alt.Chart(alt.InlineData(list_group_cells(evaluation, measure))).encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(labelLimit=200, **CELL_AXIS)),
        x=alt.X(
            "system:N",
            sort=systems,
            title=None,
            axis=alt.Axis(orient="bottom", **turn_labels(systems, 110), **CELL_AXIS),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("system:N", title=tr("system")),
            alt.Tooltip("shown:N", title=measure),
            alt.Tooltip("queries:Q", title=tr("queries"), format=",d"),
        ],
    )
    return alt.layer(
        base.mark_rect(aria=False).encode(color=alt.Color("fill:N", scale=None)),
        base.mark_text(fontSize=12, aria=False).encode(text="shown:N", color=alt.Color("ink:N", scale=None)),
    ).properties(height=len(groups) * CELL + EDGE)


def describe_groups(evaluation: Evaluation, measure: str) -> str:
    """Return the heat map in words: the best systems of each group with their score."""
    best = [
        tr(
            "{group}: {systems} {score}",
            group=group.value,
            systems=join_names(winners),
            score=show_number(top, 2),
        )
        for group in list_drawn_groups(evaluation)
        if (winners := group.best.get(measure))
        and (
            top := next(
                (
                    system.measures[measure].score.value
                    for system in group.systems
                    if system.system == winners[0]
                ),
                None,
            )
        )
        is not None
    ]
    return tr("{measure} by group; the best systems: {list}.", measure=measure, list="; ".join(best) or "–")
