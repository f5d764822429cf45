"""Draw the tab "Over time": agreement in each period of the work, and who graded higher than the others."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, PairSelection
from annotator.web.agreement.downloads import make_figures_url
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import go_to
from annotator.web.agreement.people import find_shown
from annotator.web.agreement.tables import TableRequest
from annotator.web.agreement.time_charts import (
    MOST_LINES,
    chart_drift,
    chart_leanings,
    describe_drift,
    describe_leanings,
    list_leaning_people,
)
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note


def draw(report: AgreementReport) -> None:
    """Draw agreement and leanings over time."""
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
