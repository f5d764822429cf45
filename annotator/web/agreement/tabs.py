"""Draw the tabs Groups, Over time, Grades, All figures and Excluded of the page Agreement."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, PairSelection
from annotator.domain.figures import show_number
from annotator.web.agreement import tables as rows
from annotator.web.agreement.charts import (
    MOST_BARS,
    MOST_GROUPS,
    chart_forest,
    chart_grades,
    describe_forest,
    describe_grades,
    list_drawn,
)
from annotator.web.agreement.downloads import make_figures_url, make_left_out_url
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import find_first_grouping, find_shown, go_to
from annotator.web.agreement.tables import TableRequest
from annotator.web.agreement.time_charts import (
    MOST_LINES,
    chart_drift,
    chart_leanings,
    describe_drift,
    describe_leanings,
    list_leaning_people,
)
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.messages import join_sentences, tr
from annotator.web.kit.page_parts import draw_note, draw_report_chart
from annotator.web.kit.tables import Link, draw_link_table
from annotator.web.kit.words import name_field


def draw_groups(report: AgreementReport, groupings: Sequence[str]) -> None:
    st.header(tr("By group"))
    apply_url_choice("by", groupings, name_field)
    first = find_first_grouping(report.dataset, groupings)
    index = groupings.index(first) if first is not None else 0
    st.selectbox(
        tr("Group by"), groupings, index=index, format_func=name_field, key="by", bind="query-params"
    )
    if not report.groups:
        st.text(tr("Choose a field to compare agreement between groups."))
        return
    by = report.groups[0].by
    if all(group.value is None for group in report.groups):
        st.text(tr("No query has the field {field}.", field=name_field(by)))
        return
    request = TableRequest("groups", by=by)
    draw_report_chart(
        "groups",
        chart_forest(report),
        describe_forest(report),
        caption=name_field(by),
        csv=make_figures_url(report.dataset, request),
        name=f"{report.dataset}-groups",
        pick=lambda cell: _pick_group(report, cell),
    )
    sentence = tr(
        "In brackets: number of pairs. Lines: 95\N{NO-BREAK SPACE}% confidence intervals. Hollow: too few pairs for a "
        "conclusion."
    )
    draw_note(join_sentences([sentence, tr("Click a point to show its pairs.")]))
    if len(report.groups) > MOST_GROUPS:
        draw_note(
            tr(
                "Showing the {n} largest of {all:,} groups; the file has all of them.",
                n=MOST_GROUPS,
                all=len(report.groups),
            )
        )
    for group in list_drawn(report):
        kappa = group.measured.cohen_kappa["unweighted"]
        if kappa.value is None:
            st.text(tr("{name}: undefined, {why}", name=rows.name_group(group), why=kappa.why))
    draw_figures(report, request, tr("Table by group"))


def _pick_group(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    index = cell.get("group")
    if index is None:
        return
    if int(index) < 0:
        go_to(PairSelection())
        return
    group = list_drawn(report)[int(index)]
    go_to(PairSelection(by=group.by, value=group.value))


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


def draw_grades(report: AgreementReport, grade_names: Sequence[str]) -> None:
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


def draw_coefficients(report: AgreementReport) -> None:
    """Draw every coefficient of the dataset, and what makes kappa hard to read."""
    st.header(tr("All coefficients"))
    draw_note(rows.describe_basis(report))
    draw_figures(report, TableRequest("coefficients"), tr("All coefficients"), at_once=True)
    paradox = report.measured.paradox
    if paradox is not None:
        st.text(
            tr(
                "Prevalence {prevalence:.2f}, bias {bias:.2f}, both from 0 to 1. κ is lower when prevalence "
                "is high (one grade dominates) or bias is low (annotators use each grade equally often); AC1 "
                "hardly changes.",
                prevalence=paradox.prevalence,
                bias=paradox.bias,
            )
        )


def draw_left_out(report: AgreementReport) -> None:
    st.header(tr("Excluded judgments"))
    if not report.left_out:
        st.text(tr("All judgments count."))
        return
    draw_note(
        tr("Agreement uses only current, independent grades of pairs judged by two or more annotators.")
    )
    draw_link_table(
        tr("Excluded judgments"),
        [tr("judgments"), tr("reason"), tr("list")],
        [
            [
                show_number(excluded.judgments),
                tr(excluded.why),
                Link(
                    tr("CSV file"),
                    make_left_out_url(report.dataset, excluded.kind),
                    f"{tr('CSV file')}: {tr(excluded.why)}",
                ),
            ]
            for excluded in report.left_out
        ],
    )
