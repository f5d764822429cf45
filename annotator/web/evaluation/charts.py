"""Chart an evaluation: scores with intervals, a forest plot of differences, a heat map of scores by group.

In the chart of scores a thick line is the 95 % interval, and a thin line reaches from the lowest to the
highest possible score. In the forest plot a difference that chance does not explain is a filled diamond, any
other a hollow circle. For each chart there is also a description in words (`describe_…`) and a table.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import altair as alt
import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.domain.figures import show_number
from annotator.evaluation.evaluate import Evaluation, QueryGroup
from annotator.web.evaluation.tables import list_comparisons, sort_systems
from annotator.web.kit.charts import (
    CELL_AXIS,
    GREY,
    PALE,
    TEAL,
    make_unique_label,
    shorten,
    tint_cell,
    tint_neutral,
)
from annotator.web.kit.messages import join_names, join_sentences, tr

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
    points = list_score_points(evaluation, measure)
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
            tooltip=[alt.Tooltip(f"{name}:Q", title=title, format=".3f") for name, title in names.items()],
        ),
    ).properties(height=len(points) * ROW + AXIS)


def describe_scores(evaluation: Evaluation, measure: str) -> str:
    return "; ".join(
        tr(
            "{system}: {score} [{low}, {high}]",
            system=point["label"],
            score=show_number(point["value"], 3),
            low=show_number(point["low"], 3),
            high=show_number(point["high"], 3),
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
    points = list_difference_points(evaluation, measure)
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
                alt.Tooltip("value:Q", title=tr("difference"), format="+.3f"),
                alt.Tooltip("low:Q", title=tr("from"), format="+.3f"),
                alt.Tooltip("high:Q", title=tr("to"), format="+.3f"),
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
                    "exact": "–" if value is None else show_number(value, 4),
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
            axis=alt.Axis(labelAngle=-40, orient="bottom", labelLimit=110, **CELL_AXIS),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("system:N", title=tr("system")),
            alt.Tooltip("exact:N", title=measure),
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
            score=show_number(top, 3),
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
