"""The parts of the agreement page about time, about the grades themselves, and about what does not count."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, Selection
from annotator.web.agreement.downloads import list_figures_address, list_left_out_address
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.grade_chart import MOST, chart_grades, describe_grades
from annotator.web.agreement.links import go_to
from annotator.web.agreement.tables import Asked
from annotator.web.agreement.time_charts import (
    MOST_PEOPLE,
    chart_drift,
    chart_leanings,
    describe_drift,
    describe_leanings,
    list_leaning_people,
)
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.figures import show_number
from annotator.web.kit.link_table import Link, draw_link_table
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note


def draw_time(report: AgreementReport) -> None:
    """Agreement and leanings over time."""
    st.header(tr("Agreement over time"))
    if len(report.periods) < 2:
        st.text(
            tr("The judgments do not span enough time, or are too few, to compare one period with another.")
        )
        return
    csv = list_figures_address(report.dataset, Asked("periods"))
    if any(one.kappa.value is not None for one in report.periods):
        draw_report_chart(
            "drift", chart_drift(report.periods, report.kappa_target), describe_drift(report.periods, report.kappa_target),
            caption=tr("Agreement over time"), csv=csv, name=f"{report.dataset}-drift", pick=lambda cell: _pick_period(report, cell),
        )  # fmt: skip
    people = list_leaning_people(report.periods)
    if people:
        st.header(tr("Leanings over time"))
        draw_report_chart(
            "leanings", chart_leanings(report.periods), describe_leanings(report.periods),
            caption=tr("Leanings over time"), csv=csv, name=f"{report.dataset}-leanings",
            pick=lambda cell: _pick_period(report, cell),
        )  # fmt: skip
        known = {one.annotator for period in report.periods for one in period.leanings}
        if len(known) > len(people):
            draw_note(tr("Drawn are the {n} annotators of {all:,} who leaned the furthest; the file has all.", n=MOST_PEOPLE, all=len(known)))  # fmt: skip
    draw_note(tr("A click on a point shows its pairs."))
    draw_figures(report, Asked("periods"), tr("The periods as a table"))


def draw_grades(report: AgreementReport, grade_names: Sequence[str]) -> None:
    """How each annotator spreads the grades, and how each leans."""
    st.header(tr("Grades by annotator"))
    counts = report.measured.grades_by_annotator
    if counts:
        draw_note(
            tr(
                "Over all that each of them judged (in brackets): who judged other queries may rightly differ."
            )
            + " "
            + tr("A click on a part of a bar shows its pairs.")
        )
        draw_report_chart(
            "grades", chart_grades(counts, grade_names), describe_grades(counts, grade_names),
            caption=tr("Grades by annotator"), csv=list_figures_address(report.dataset, Asked("grades")),
            name=f"{report.dataset}-grades", pick=_pick_grade,
        )  # fmt: skip
        if len(counts) > MOST:
            draw_note(tr("Drawn are the {n} annotators of {all:,} who judged the most; the file has all.", n=MOST, all=len(counts)))  # fmt: skip
        draw_figures(report, Asked("grades"), tr("The grades as a table"), grade_names)
    if report.measured.leanings:
        st.header(tr("How annotators lean"))
        draw_note(
            tr("How much higher somebody grades than the others on the same pairs, with 95 % intervals.")
        )
        draw_figures(report, Asked("leanings"), tr("The leanings as a table"), at_once=True)


def draw_left_out(report: AgreementReport) -> None:
    """What does not count, and why."""
    st.header(tr("What does not count"))
    if not report.left_out:
        st.text(tr("Every judgment counts."))
        return
    draw_note(tr("Only current independent grades of pairs that two or more judged enter agreement."))
    draw_link_table(
        tr("What does not count"),
        [tr("judgments"), tr("reason"), tr("list")],
        [
            [
                show_number(one.judgments), tr(one.why),
                Link(tr("as a CSV file"), list_left_out_address(report.dataset, one.kind), f"{tr('as a CSV file')}: {tr(one.why)}"),
            ]
            for one in report.left_out
        ],
    )  # fmt: skip


def _pick_period(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    """A period of the dataset, or of the one annotator whose point it is."""
    place = cell.get("at")
    span = None if place is None else report.periods[int(place)].span
    if span is not None:
        go_to(Selection(annotators=(str(cell["name"]),) if "name" in cell else (), span=span))


def _pick_grade(cell: Mapping[str, Any]) -> None:
    if cell.get("place") is not None:
        who = (str(cell["whose"]),) if cell["whose"] else ()
        go_to(Selection("given", who, grade=int(cell["place"])))
