"""Draw the agreement report: the verdict, the findings, and a tab for every kind of figure.

The tabs Groups, Grades, All figures and Excluded are here, the others in files of their own.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, AgreementVerdict, PairSelection
from annotator.dataset.service import read_current_rubric
from annotator.domain.figures import show_figure, show_number
from annotator.domain.grades import list_local_names
from annotator.domain.messages import say
from annotator.web.agreement import annotators_tab, time_tabs
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
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import draw_sentence, find_first_grouping, go_to
from annotator.web.agreement.tables import TableRequest, make_figures_url
from annotator.web.kit.charts import show_value
from annotator.web.kit.controls import apply_url_choice, draw_url_tabs
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_method, draw_note, draw_report_chart
from annotator.web.kit.tables import Link, draw_link_table
from annotator.web.kit.words import name_field
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext


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
    draw_note(tr("Click a point to show its pairs."))
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
    draw_method(
        "groups",
        tr(
            "In brackets: number of pairs. Lines: 95\N{NO-BREAK SPACE}% confidence intervals. Hollow: too few pairs "
            "for a conclusion."
        ),
    )


def _pick_group(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    index = cell.get("group")
    if index is None:
        return
    if int(index) < 0:
        go_to(PairSelection())
        return
    group = list_drawn(report)[int(index)]
    go_to(PairSelection(by=group.by, value=group.value))


def draw_grades(report: AgreementReport, grade_names: Sequence[str]) -> None:
    """Draw how often each annotator gave each grade, and how much higher each grades than the others."""
    st.header(tr("Grades by annotator"))
    counts = report.measured.grades_by_annotator
    if counts:
        draw_note(tr("Click a part of a bar to show its pairs."))
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
        draw_figures(report, TableRequest("leanings"), tr("Table of leniency"), at_once=True)
    draw_method(
        "grades",
        tr(
            "Shares of all pairs that each annotator judged (number in brackets). Annotators with other "
            "queries may have other shares."
        ),
        tr(
            "Mean difference from the grades of the others on the same pairs, with 95\N{NO-BREAK SPACE}% confidence "
            "intervals. Above 0: higher grades than the others."
        ),
    )


def _pick_grade(cell: Mapping[str, Any]) -> None:
    if cell.get("place") is not None:
        who = (str(cell["whose"]),) if cell["whose"] else ()
        go_to(PairSelection("given", who, grade=int(cell["place"])))


def draw_coefficients(report: AgreementReport) -> None:
    st.header(tr("All coefficients"))
    draw_figures(report, TableRequest("coefficients"), tr("All coefficients"), at_once=True)
    paradox = report.measured.paradox
    sentences = [rows.describe_basis(report)]
    if paradox is not None:
        sentences.append(
            tr(
                "Prevalence {prevalence:.2f}, bias {bias:.2f}, both from 0 to 1. κ is lower when prevalence "
                "is high (one grade dominates) or bias is low (annotators use each grade equally often); AC1 "
                "hardly changes.",
                prevalence=paradox.prevalence,
                bias=paradox.bias,
            )
        )
    draw_method("coefficients", *sentences)


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
                    make_url("/api/agreement/left-out", dataset=report.dataset, kind=excluded.kind),
                    f"{tr('CSV file')}: {tr(excluded.why)}",
                ),
            ]
            for excluded in report.left_out
        ],
    )


STATES = {"met": say("met"), "not met": say("not met"), "unknown": say("unknown yet")}
FIRST = 6


def draw_verdict(report: AgreementReport) -> None:
    """Draw the verdict with its figures and, where kappa is undefined, why."""
    verdict = report.verdict
    if verdict is None:
        return
    is_defined = verdict.kappa.value is not None
    state = "met" if verdict.state == "met" else "unmet"
    counts = [
        (
            tr("Cohen's κ (95\N{NO-BREAK SPACE}% confidence interval)"),
            show_value(verdict.kappa) if is_defined else "",
        ),
        (tr("target"), max(show_number(verdict.target, 2), show_figure(verdict.target, 6), key=len)),
        (tr("pairs judged by two or more"), show_number(report.measured.pairs)),
        (tr("more such pairs needed to decide"), _describe_further(verdict)),
    ]
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in counts if value
    )
    with st.container(border=True):
        badge = f'<span class="annotator-state annotator-{state}">{escape(tr(STATES[verdict.state]))}</span>'
        st.html(
            f'<p class="annotator-step">{badge} {escape(tr(verdict.sentence))}</p>'
            f'<dl class="annotator-counts" style="margin-top: 0.875rem">{listed}</dl>'
        )
        if not is_defined:
            draw_note(tr("{name}: undefined, {why}", name="κ", why=verdict.kappa.why))


def draw_findings(report: AgreementReport) -> None:
    """Draw the findings, most important first; those after the first FIRST in an expander."""
    verdict = report.verdict
    findings = [
        finding for finding in report.findings if verdict is None or finding.sentence != verdict.sentence
    ]
    if findings:
        st.header(tr("Findings"))
    for shown in findings[:FIRST]:
        draw_sentence(report.dataset, tr(shown.sentence), shown.pairs)
    if len(findings) > FIRST:
        more = len(findings) - FIRST
        with st.expander(tr_n("{n:,} further finding", "{n:,} further findings", more), key="findings"):
            for shown in findings[FIRST:]:
                draw_sentence(report.dataset, tr(shown.sentence), shown.pairs)


def _describe_further(verdict: AgreementVerdict) -> str:
    if verdict.state != "unknown":
        return ""
    return (
        tr("cannot be estimated")
        if verdict.further is None
        else tr("about {n}", n=show_number(verdict.further))
    )


def draw_report(context: PageContext, report: AgreementReport, fields: list[str]) -> None:
    """Draw the whole report. `fields`: those for grouping."""
    draw_verdict(report)
    draw_findings(report)
    if not report.measured.pairs:
        draw_link(context, "overview")
        return
    _version, rubric = context.call(read_current_rubric, report.dataset)
    names = [tr(name) for name in list_local_names(rubric)]
    draw_url_tabs(
        {
            say("Groups"): partial(draw_groups, report, fields),
            say("Annotators"): partial(annotators_tab.draw, report, names),
            say("Over time"): partial(time_tabs.draw_time, report),
            say("Guideline versions"): partial(time_tabs.draw_versions, context, report),
            say("Grades"): partial(draw_grades, report, names),
            say("All figures"): partial(draw_coefficients, report),
            say("Excluded"): partial(draw_left_out, report),
        }
    )
