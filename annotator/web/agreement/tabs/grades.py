"""Draw the tab "Grades": how often each annotator gave each grade, and how much higher each grades."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, PairSelection
from annotator.web.agreement.charts import (
    MOST_BARS,
    chart_grades,
    describe_grades,
)
from annotator.web.agreement.downloads import make_figures_url
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import go_to
from annotator.web.agreement.tables import TableRequest
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note


def draw(report: AgreementReport, grade_names: Sequence[str]) -> None:
    """Draw how often each annotator gave each grade, and how much higher each grades than the others."""
    st.header(tr("Grades by annotator"))
    counts = report.measured.grades_by_annotator
    if counts:
        draw_note(
            tr(
                "Shares of all pairs that each annotator judged (number in brackets). Annotators with other "
                "queries may have other shares."
            )
            + " "
            + tr("Click a part of a bar to show its pairs.")
        )
        draw_report_chart(
            "grades",
            chart_grades(counts, grade_names),
            describe_grades(counts, grade_names),
            caption=tr("Grades by annotator"),
            csv=make_figures_url(report.dataset, TableRequest("grades")),
            name=f"{report.dataset}-grades",
            pick=_pick_grade,
        )
        if len(counts) > MOST_BARS:
            draw_note(
                tr(
                    "Showing the {n} of {all:,} annotators with the most judgments; the file has all of them.",
                    n=MOST_BARS,
                    all=len(counts),
                )
            )
        draw_figures(report, TableRequest("grades"), tr("Table of grades"), grade_names)
    if report.measured.leanings:
        st.header(tr("Leniency by annotator"))
        draw_note(
            tr(
                "Mean difference from the grades of the others on the same pairs, with 95\N{NO-BREAK SPACE}% confidence "
                "intervals. Above 0: higher grades than the others."
            )
        )
        draw_figures(report, TableRequest("leanings"), tr("Table of leniency"), at_once=True)


def _pick_grade(cell: Mapping[str, Any]) -> None:
    if cell.get("place") is not None:
        who = (str(cell["whose"]),) if cell["whose"] else ()
        go_to(PairSelection("given", who, grade=int(cell["place"])))
