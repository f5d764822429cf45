"""Draw the tabs Over time and Guideline versions of the page Agreement, with their charts.

The first two charts use the same periods. The third draws two points with their intervals for each part. Agreement before
and since a version is measured when the tab is opened, and kept in the session while nothing changes.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import altair as alt
import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.agreement.records import (
    AgreementPeriod,
    AgreementReport,
    PairSelection,
    VersionComparison,
    VersionComparisonPart,
)
from annotator.agreement.service import compare_version, read_stamp
from annotator.domain.errors import NotFound
from annotator.web.agreement.charts import list_kappa_tooltips, place_kappa, scale_kappa
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import find_shown, go_to
from annotator.web.agreement.tables import (
    TableRequest,
    list_since_rows,
    make_figures_url,
    name_part,
    show_cell,
)
from annotator.web.kit.charts import (
    AMBER,
    CELL_AXIS,
    GREY,
    RED,
    TEAL,
    VIOLET,
    draw_limit,
    make_unique_label,
    pick_cell,
    show_value,
    turn_labels,
)
from annotator.web.kit.figures import show_date, show_difference
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_report_chart
from annotator.web.kit.tables import draw_file_link, draw_link_table
from annotator.web.kit.text import shorten
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext

MOST_LINES = 6
BLUE = "#3f7fd0"
COLOURS = (TEAL, AMBER, VIOLET, RED, BLUE, GREY)
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
HEIGHT = 320  # with the dates below: the title of the axis must have room


def chart_drift(periods: Sequence[AgreementPeriod], target: float) -> alt.LayerChart:
    """Chart the kappa of each period with its interval; a period without one leaves a gap.

    A click on a point picks its period (parameter `cell`: at, the index of the period).
    """
    rows = [
        {
            "at": at,
            "period": show_date(period.first),
            "last": show_date(period.last),
            "pairs": period.pairs,
            "value": period.kappa.value,
            "low": (period.kappa.ci95 or (period.kappa.value,) * 2)[0],
            "high": (period.kappa.ci95 or (period.kappa.value,) * 2)[1],
        }
        for at, period in enumerate(periods)
    ]
    defined = [row for row in rows if row["value"] is not None]
    low = min([0.0, target, *(float(str(row["low"])) for row in defined)])
    scale = alt.Scale(domain=[low, 1.0], nice=False)
    x = _place_periods(periods)
    tooltip = [
        alt.Tooltip("period:N", title=tr("first day")),
        alt.Tooltip("last:N", title=tr("last day")),
        alt.Tooltip("value:Q", title="κ", format=".2f"),
        alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
    ]
    base = alt.Chart(alt.InlineData(defined)).encode(x=x)
    y = alt.Y(
        "value:Q", scale=scale, title=tr("κ (dashed: the target)"), axis=alt.Axis(tickCount=5, format=".1f")
    )
    return alt.layer(
        draw_limit(target, scale, "y"),
        base.mark_line(color=TEAL, strokeWidth=1.5).encode(y=y),
        base.mark_rule(color=TEAL, strokeWidth=2.5).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_point(filled=True, size=100, color=TEAL, opacity=1, cursor="pointer")
        .encode(y=y, tooltip=tooltip)
        .add_params(pick_cell("at")),
    ).properties(height=HEIGHT)


def describe_drift(periods: Sequence[AgreementPeriod], target: float) -> str:
    numbers = "; ".join(f"{show_date(period.first)} {show_value(period.kappa)}" for period in periods)
    return tr("Cohen's kappa over time, target {target:g}: {values}.", target=target, values=numbers)


def list_leaning_people(periods: Sequence[AgreementPeriod]) -> list[str]:
    """Return the annotators with a line, by name: at most MOST_LINES, those who leaned furthest."""
    furthest: dict[str, float] = {}
    for period in periods:
        for leaning in period.leanings:
            furthest[leaning.annotator] = max(furthest.get(leaning.annotator, 0.0), abs(leaning.mean))
    return sorted(sorted(furthest, key=lambda name: (-furthest[name], name))[:MOST_LINES])


def chart_leanings(periods: Sequence[AgreementPeriod]) -> alt.LayerChart:
    """Chart how much higher each annotator graded than the others in each period.

    Each annotator has a colour and a shape. A click on a point picks its period and annotator (parameter
    `cell`: at, name).
    """
    people = list_leaning_people(periods)
    rows = [
        {
            "at": at,
            "period": show_date(period.first),
            "name": leaning.annotator,
            "mean": leaning.mean,
            "comparisons": leaning.comparisons,
            "low": leaning.ci95[0] if leaning.ci95 else None,
            "high": leaning.ci95[1] if leaning.ci95 else None,
        }
        for at, period in enumerate(periods)
        for leaning in period.leanings
        if leaning.annotator in people
    ]
    legend = alt.Legend(
        orient="top",
        title=None,
        columns=2,
        labelLimit=150,
        symbolFillColor="transparent",
        symbolStrokeWidth=2,
    )
    scale = alt.Scale(domain=people, range=list(COLOURS[: len(people)]))
    forms = alt.Scale(domain=people, range=list(SHAPES[: len(people)]))
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=_place_periods(periods),
        y=alt.Y(
            "mean:Q",
            title=tr("difference from the others in grades"),
            axis=alt.Axis(tickCount=5, format="+.1f"),
        ),
        color=alt.Color("name:N", scale=scale, legend=legend),
    )
    level = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY, strokeWidth=1.5)
    tooltip = [
        alt.Tooltip("name:N", title=" "),
        alt.Tooltip("period:N", title=tr("first day")),
        alt.Tooltip("mean:Q", title=tr("difference from the others in grades"), format="+.2f"),
        alt.Tooltip("comparisons:Q", title=tr("comparisons"), format=",d"),
    ]
    return alt.layer(
        level.encode(y="zero:Q"),
        base.mark_line(strokeWidth=1.5),
        base.mark_point(size=90, strokeWidth=2, opacity=1, cursor="pointer")
        .encode(shape=alt.Shape("name:N", scale=forms, legend=legend), tooltip=tooltip)
        .add_params(pick_cell("at", "name")),
    ).properties(height=HEIGHT + 24 * (-(-len(people) // 2)))


def describe_leanings(periods: Sequence[AgreementPeriod]) -> str:
    """Return the chart of leanings in words: each annotator in the first and in the last period."""
    sentences = []
    for name in list_leaning_people(periods):
        means = [
            leaning.mean for period in periods for leaning in period.leanings if leaning.annotator == name
        ]
        first, last = (show_difference(mean, signed=True) for mean in (means[0], means[-1]))
        sentences.append(tr("{name} from {first} to {last}", name=name, first=first, last=last))
    return tr("Difference from the others, first and last period: {list}.", list="; ".join(sentences))


def _place_periods(periods: Sequence[AgreementPeriod]) -> alt.X:
    days = [show_date(period.first) for period in periods]
    axis = alt.Axis(**turn_labels(days, 130), labelOverlap="greedy")
    return alt.X("period:N", sort=days, title=tr("start of period"), axis=axis)


ROW, AXIS, LEGEND = 48, 64, 56


def list_points(comparison: VersionComparison) -> list[dict[str, Any]]:
    """Return the two sides of each part as points, where kappa is defined."""
    points = []
    labels: list[str] = []
    for part in comparison.parts:
        label = make_unique_label(shorten(name_part(part)), labels)
        labels.append(label)
        for name, side in ((tr("before"), part.before), (tr("since then"), part.since)):
            value = side.kappa.value
            if value is None:
                continue
            low, high = side.kappa.ci95 or (value, value)
            points.append(
                {
                    "label": label,
                    "name": name_part(part),
                    "side": name,
                    "value": value,
                    "low": low,
                    "high": high,
                    "pairs": side.pairs,
                    "little": bool(side.warning),
                    "warning": tr(side.warning) if side.warning else "",
                }
            )
    return points


def chart_since(comparison: VersionComparison, target: float) -> alt.LayerChart:
    """Chart each side's kappa with its interval against the target; hollow where there are too few pairs."""
    rows, sides = list_points(comparison), [tr("before"), tr("since then")]
    scale = scale_kappa([row["low"] for row in rows], target)
    labels = list(dict.fromkeys(row["label"] for row in rows))
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y(
            "label:N",
            sort=labels,
            title=None,
            axis=alt.Axis(labelLimit=190, **CELL_AXIS),
        ),
        yOffset=alt.YOffset(
            "side:N", sort=sides, scale=alt.Scale(domain=sides, paddingInner=0.4, paddingOuter=0.3)
        ),
        color=alt.Color(
            "side:N",
            scale=alt.Scale(domain=sides, range=[GREY, TEAL]),
            legend=alt.Legend(orient="top", title=None),
        ),
    )
    return alt.layer(
        draw_limit(target, scale),
        base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(size=110, strokeWidth=2.5, opacity=1, fillOpacity=1).encode(
            x=place_kappa(scale),
            shape=alt.Shape(
                "side:N", scale=alt.Scale(domain=sides, range=["circle", "diamond"]), legend=None
            ),
            fill=alt.condition(
                "datum.little",
                alt.value("transparent"),
                alt.Color("side:N", scale=alt.Scale(domain=sides, range=[GREY, TEAL]), legend=None),
            ),
            tooltip=list_kappa_tooltips("side:N"),
        ),
    ).properties(height=len(labels) * ROW + AXIS + LEGEND)


def describe_since(comparison: VersionComparison) -> str:
    sentences = [
        tr(
            "{name}: before {before}, since {since}",
            name=name_part(part),
            before=show_value(part.before.kappa),
            since=show_value(part.since.kappa),
        )
        for part in comparison.parts
    ]
    return tr(
        "Cohen's kappa before and since version {version}: {values}.",
        version=comparison.version,
        values="; ".join(sentences),
    )


KEY, KEPT = "since", "since version"


def draw_versions(context: PageContext, report: AgreementReport) -> None:
    """Draw how agreement changed with a guideline version: a sentence, a chart and a table."""
    st.header(tr("Before and since a guideline version"))
    placeholder = st.empty()
    placeholder.html(f'<p class="annotator-note" role="status">{escape(tr("Calculating agreement …"))}</p>')
    comparison = _find(context, report.dataset)
    placeholder.empty()
    if comparison is None:
        st.text(tr("The guideline has only one version, so there is nothing to compare yet."))
        draw_link(context, "guideline")
        return
    _draw_choice(comparison)
    for part in comparison.parts:
        _draw_part(part)
    _draw_notes(comparison)
    if list_points(comparison):
        draw_report_chart(
            "since-version",
            chart_since(comparison, report.kappa_target),
            describe_since(comparison),
            caption=tr("Before and since version {version}", version=comparison.version),
            csv=_make_file_url(comparison),
            name=f"{comparison.dataset}-since-{comparison.version}",
        )
    _draw_table(comparison)


def _draw_part(part: VersionComparisonPart) -> None:
    few = [
        tr("{side}: {warning}", side=name, warning=tr(side.warning))
        for name, side in ((tr("before"), part.before), (tr("since then"), part.since))
        if side.warning and side.pairs
    ]
    note = f'<p class="annotator-note">{escape("; ".join(few))}</p>' if few else ""
    st.html(f'<p class="annotator-step">{escape(tr(part.sentence))}</p>{note}')


def _find(context: PageContext, dataset: str) -> VersionComparison | None:
    """Return the comparison, from the last run if nothing has changed; None with one version only."""
    parameter = str(st.session_state.get(KEY) or st.query_params.get(KEY, ""))
    version = int(parameter) if parameter.isdecimal() and len(parameter) < 9 else None
    stamp = (context.call(read_stamp, dataset), version)
    cached = st.session_state.get(KEPT)
    if cached is not None and cached[0] == stamp:
        kept: VersionComparison | None = cached[1]
        return kept
    try:
        comparison = context.call(compare_version, dataset, version)
    except NotFound:
        comparison = context.call(compare_version, dataset)
    st.session_state[KEPT] = (stamp, comparison)
    return comparison


def _draw_choice(comparison: VersionComparison) -> None:
    versions = [str(version) for version, _ in reversed(comparison.versions)]
    st.selectbox(
        tr("Guideline version"),
        versions,
        index=versions.index(str(comparison.version)),
        key=KEY,
        bind="query-params",
        width=260,
    )


def _make_file_url(comparison: VersionComparison) -> str:
    return make_url("/api/agreement/since", dataset=comparison.dataset, version=comparison.version)


def _draw_notes(comparison: VersionComparison) -> None:
    led = dict(comparison.versions)[comparison.version]
    sentences = [
        tr_n(
            "Based on {n:,} decision about disagreements.",
            "Based on {n:,} decisions about disagreements.",
            led,
        )
        if led
        else tr("No decisions are linked to this version."),
        tr(
            "Before: pairs judged only under earlier versions. Since: pairs judged only under this or "
            "later versions."
        ),
    ]
    if comparison.between:
        sentences.append(
            tr_n(
                "{n:,} pair judged partly before and partly since is not counted.",
                "{n:,} pairs judged partly before and partly since are not counted.",
                comparison.between,
            )
        )
    if comparison.unknown:
        sentences.append(
            tr_n(
                "{n:,} pair with an imported judgment is not counted, because its guideline version is "
                "unknown.",
                "{n:,} pairs with imported judgments are not counted, because their guideline version is "
                "unknown.",
                comparison.unknown,
            )
        )
    sentences.append(
        tr(
            "The two sides contain different pairs, so a difference may also come from easier or harder "
            "pairs. Lines: 95\N{NO-BREAK SPACE}% confidence intervals. Hollow: too few pairs for a conclusion."
        )
    )
    if comparison.simulated:
        sentences.append(tr("Simulated judgments are included."))
    draw_note(join_sentences(sentences))


def _draw_table(comparison: VersionComparison) -> None:
    label = tr("Table before and since")
    shown = st.expander(label, key="table-since", on_change="rerun")
    if shown.open:
        with shown:
            rows = list_since_rows(comparison)
            columns = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
            draw_link_table(
                label, columns, [[show_cell(name, row[name]) for name in columns] for row in rows], roomy=True
            )
    if not list_points(comparison):  # otherwise it stands below the chart
        draw_file_link(tr("Numbers as CSV"), _make_file_url(comparison))


def draw_time(report: AgreementReport) -> None:
    st.header(tr("Agreement over time"))
    if len(report.periods) < 2:
        st.text(tr("There are too few judgments, or they cover too short a time, to compare periods."))
        return
    csv = make_figures_url(report.dataset, TableRequest("periods"))
    if any(period.kappa.value is not None for period in report.periods):
        draw_report_chart(
            "drift",
            chart_drift(report.periods, report.kappa_target),
            describe_drift(report.periods, report.kappa_target),
            caption=tr("Agreement over time"),
            csv=csv,
            name=f"{report.dataset}-drift",
            pick=lambda cell: _pick_period(report, cell),
        )
    people = list_leaning_people(report.periods)
    if people:
        st.header(tr("Leniency over time"))
        draw_report_chart(
            "leanings",
            chart_leanings(report.periods),
            describe_leanings(report.periods),
            caption=tr("Leniency over time"),
            csv=csv,
            name=f"{report.dataset}-leanings",
            pick=lambda cell: _pick_period(report, cell),
        )
        annotators = {leaning.annotator for period in report.periods for leaning in period.leanings}
        if len(annotators) > len(people):
            draw_note(
                tr(
                    "Showing the {n} of {all:,} annotators with the largest differences; the file has all of "
                    "them.",
                    n=MOST_LINES,
                    all=len(annotators),
                )
            )
    draw_note(tr("Click a point to show its pairs."))
    draw_figures(report, TableRequest("periods"), tr("Table by period"))


def _pick_period(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    """Show the pairs of a period, or those of one annotator in it if the point is an annotator's."""
    index = cell.get("at")
    span = None if index is None else report.periods[int(index)].span
    if span is not None:
        who = (find_shown(report, cell["name"]),) if "name" in cell else ()
        go_to(PairSelection(annotators=who, span=span))
