"""A forest plot: the dataset and each of its groups with their intervals, against the target.

Groups of which little can be said are drawn hollow; so many that nobody could read them are cut to the largest, and the
table beside has all.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.records import AgreementReport, GroupAgreement
from annotator.web.agreement.agreement_rows import name_group
from annotator.web.kit.chart_labels import label_counts
from annotator.web.kit.charts import AMBER, TEAL, show_value
from annotator.web.kit.messages import tr

if TYPE_CHECKING:
    import altair as alt

MOST = 40
ROW, AXIS = 26, 64


def list_drawn(groups: Sequence[GroupAgreement]) -> list[GroupAgreement]:
    """The groups that are drawn, in their order: of more than MOST those with the most pairs."""
    largest = sorted(groups, key=lambda group: -group.measured.pairs)[:MOST]
    kept = {id(group) for group in largest}
    return [group for group in groups if id(group) in kept]


def list_points(report: AgreementReport) -> list[dict[str, Any]]:
    """The dataset, then each group whose kappa is defined. `group`: its place among those drawn, -1 the dataset."""
    found = report.measured
    told = [
        (-1, tr("the dataset"), found.pairs, found.cohen_kappa["unweighted"], None),
        *(
            (place, name_group(one), one.measured.pairs, one.measured.cohen_kappa["unweighted"], one.warning)
            for place, one in enumerate(list_drawn(report.groups))
        ),
    ]
    labels = label_counts([name for _, name, *_ in told], [pairs for _, _, pairs, *_ in told])
    return [
        {
            "group": place, "label": label, "name": name, "pairs": pairs, "value": value.value,
            "low": (value.ci95 or (value.value, value.value))[0], "high": (value.ci95 or (value.value, value.value))[1],
            "little": bool(warning), "warning": tr(warning) if warning else "", "whole": place < 0,
        }
        for label, (place, name, pairs, value, warning) in zip(labels, told, strict=True)
        if value.value is not None
    ]  # fmt: skip


def chart_forest(report: AgreementReport) -> "alt.LayerChart":
    """The points with their intervals; a click on one picks its group (parameter `cell`: group)."""
    import altair as alt

    rows, target = list_points(report), report.kappa_target
    low = min([0.0, target, *(row["low"] for row in rows)])
    scale = alt.Scale(domain=[max(low, -1.0), 1.0], nice=False, clamp=True)
    y = alt.Y(
        "label:N", sort=[row["label"] for row in rows], title=None,
        axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False, labelFlush=False),
    )  # fmt: skip
    x = alt.X(
        "value:Q", scale=scale, title=tr("κ (dashed: the target)"),
        axis=alt.Axis(tickCount=5, format=".1f", labelFlush=False),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title=" "), alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"), alt.Tooltip("value:Q", title="κ", format=".3f"),
        alt.Tooltip("low:Q", title=tr("from"), format=".3f"), alt.Tooltip("high:Q", title=tr("to"), format=".3f"),
        alt.Tooltip("warning:N", title=tr("warning")),
    ]  # fmt: skip
    base = alt.Chart(alt.InlineData(rows)).encode(y=y)
    goal = alt.Chart(alt.InlineData([{"target": target}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=2, color=AMBER
    )
    picked = alt.selection_point(name="cell", fields=["group"], on="click", clear=False)
    return alt.layer(
        goal.encode(x=alt.X("target:Q", scale=scale)),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(
            size=130, stroke=TEAL, strokeWidth=2.5, opacity=1, fillOpacity=1, cursor="pointer"
        ).encode(
            x=x,
            fill=alt.condition("datum.little", alt.value("transparent"), alt.value(TEAL)),
            shape=alt.condition("datum.whole", alt.value("diamond"), alt.value("circle")),
            tooltip=tooltip,
        ).add_params(picked),
    ).properties(height=len(rows) * ROW + AXIS)  # fmt: skip


def describe_forest(report: AgreementReport) -> str:
    """The same in words, undefined values with their reason."""
    found = report.measured
    said = [f"{tr('the dataset')} {show_value(found.cohen_kappa['unweighted'])}"]
    said += [
        f"{name_group(one)} {show_value(one.measured.cohen_kappa['unweighted'])}"
        for one in list_drawn(report.groups)
    ]
    return tr(
        "Cohen's kappa, target {target:g}: {values}.", target=report.kappa_target, values="; ".join(said)
    )
