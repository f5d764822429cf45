"""Chart an evaluation: scores with their intervals, differences between systems as a forest plot, scores by group as a heat map.

Among the scores a thick line is the 95 % interval, a thin one reaches from the lowest to the highest possible score.
In the forest plot a difference that chance does not explain is a filled diamond, any other a hollow circle. The cells of
the heat map carry their own ground and ink, and their number. Every chart has its words and a table.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.domain.figures import show_number
from annotator.evaluation.evaluate import Evaluation, QueryGroup
from annotator.web.evaluation.tables import list_comparisons, sort_systems
from annotator.web.kit.charts import APART, GREY, TEAL, shorten
from annotator.web.kit.heat_map import PALE, tint_cell, tint_neutral
from annotator.web.kit.messages import join_names, join_sentences, tr

if TYPE_CHECKING:
    import altair as alt

MOST_DRAWN, MOST_GROUPS, MOST_SYSTEMS = 30, 40, 12
ROW, CELL, AXIS, EDGE = 28, 34, 64, 110
LONGEST_NAME = 30
NOTHING = tint_neutral(0.08)


def list_score_points(evaluation: Evaluation, measure: str) -> list[dict[str, Any]]:
    """Return the score, interval and bounds of the best systems on the measure; without an interval its ends are the score."""
    points: list[dict[str, Any]] = []
    for system in sort_systems(evaluation, measure)[:MOST_DRAWN]:
        summary = system.measures[measure]
        if summary.score.value is None:
            continue
        low, high = summary.ci95 or (summary.score.value,) * 2
        least, most = summary.score.bounds or (summary.score.value,) * 2
        label = shorten(system.system)
        while any(point["label"] == label for point in points):
            label += APART
        points.append(
            {
                "label": label,
                "value": summary.score.value,
                "low": low,
                "high": high,
                "least": least,
                "most": most,
            }
        )
    return points


def chart_scores(evaluation: Evaluation, measure: str) -> "alt.LayerChart":
    """Return the systems' scores, best first, with their intervals and bounds."""
    import altair as alt

    points = list_score_points(evaluation, measure)
    y = alt.Y(
        "label:N",
        sort=[point["label"] for point in points],
        title=None,
        axis=alt.Axis(labelLimit=230, ticks=False, domain=False, labelOverlap=False, labelFlush=False),
    )
    scale = alt.Scale(zero=False, nice=True)
    base = alt.Chart(alt.InlineData(points)).encode(y=y)
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
    """Return the scores in words, best first."""
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
    """Return the largest differences with their intervals, verdicts and labels, no two labels alike."""
    points: list[dict[str, Any]] = []
    for comparison in list_comparisons(evaluation, measure)[:MOST_DRAWN]:
        low, high = comparison.ci95 or (comparison.difference, comparison.difference)
        label = f"{shorten(comparison.b)} − {shorten(comparison.a)}"
        while any(point["label"] == label for point in points):
            label += APART
        points.append(
            {
                "label": label,
                "value": comparison.difference,
                "low": low,
                "high": high,
                "shown": comparison.significant,
                "verdict": tr(comparison.verdict),
            }
        )
    return points


def chart_differences(evaluation: Evaluation, measure: str) -> "alt.LayerChart":
    """Return the forest plot; the dashed line is no difference."""
    import altair as alt

    points = list_difference_points(evaluation, measure)
    reach = max([0.01, *(abs(point[end]) for point in points for end in ("low", "high", "value"))])
    scale = alt.Scale(domain=[-reach * 1.05, reach * 1.05], nice=False)
    y = alt.Y(
        "label:N",
        sort=[point["label"] for point in points],
        title=None,
        axis=alt.Axis(labelLimit=230, ticks=False, domain=False, labelOverlap=False, labelFlush=False),
    )
    title = tr("difference of {measure}", measure=measure)
    x = alt.X("value:Q", scale=scale, title=title, axis=alt.Axis(tickCount=5, labelFlush=False))
    base = alt.Chart(alt.InlineData(points)).encode(y=y)
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
    """Return the forest plot in words."""
    return join_sentences(
        tr(comparison.verdict) for comparison in list_comparisons(evaluation, measure)[:MOST_DRAWN]
    )


def list_group_cells(evaluation: Evaluation, measure: str) -> list[dict[str, Any]]:
    """Return a cell for each drawn group and system: the score, its ground and the colour of its number."""
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
    """Return the groups that are drawn, in their order: of too many those with the most queries."""
    largest = sorted(evaluation.groups, key=lambda group: -group.queries)[:MOST_GROUPS]
    return [group for group in evaluation.groups if group in largest]


def label_groups(evaluation: Evaluation) -> list[str]:
    """Return the drawn groups' names with their number of queries, no two alike."""
    labels: list[str] = []
    for group in list_drawn_groups(evaluation):
        label = f"{shorten(group.value, LONGEST_NAME)} ({group.queries:,})"
        while label in labels:
            label += APART
        labels.append(label)
    return labels


def chart_groups(evaluation: Evaluation, measure: str) -> "alt.LayerChart":
    """Return the heat map: rows are groups, columns are systems."""
    import altair as alt

    groups = label_groups(evaluation)
    systems = [system.system for system in evaluation.systems[:MOST_SYSTEMS]]
    axis: dict[str, Any] = {"ticks": False, "domain": False, "labelOverlap": False, "labelFlush": False}
    base = alt.Chart(alt.InlineData(list_group_cells(evaluation, measure))).encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(labelLimit=200, **axis)),
        x=alt.X(
            "system:N",
            sort=systems,
            title=None,
            axis=alt.Axis(labelAngle=-40, orient="bottom", labelLimit=110, **axis),
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
    """Return the heat map in words: the best system of each group."""
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
