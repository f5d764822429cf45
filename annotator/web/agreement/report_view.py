"""Draw the agreement report: the verdict, the findings, and a tab for every kind of figure."""

from functools import partial
from html import escape

import streamlit as st

from annotator.agreement.records import AgreementReport, AgreementVerdict
from annotator.dataset.service import read_current_rubric
from annotator.domain.figures import show_figure, show_number
from annotator.domain.grades import list_local_names
from annotator.domain.messages import say
from annotator.web.agreement import annotators_tab, tabs, versions_tab
from annotator.web.agreement.links import draw_sentence
from annotator.web.kit.charts import show_value
from annotator.web.kit.controls import draw_url_tabs
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.page_context import PageContext

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
        (tr("target"), show_figure(verdict.target, 6)),
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
            say("Groups"): partial(tabs.draw_groups, report, fields),
            say("Annotators"): partial(annotators_tab.draw, report, names),
            say("Over time"): partial(tabs.draw_time, report),
            say("Guideline versions"): partial(versions_tab.draw, context, report),
            say("Grades"): partial(tabs.draw_grades, report, names),
            say("All figures"): partial(tabs.draw_coefficients, report),
            say("Excluded"): partial(tabs.draw_left_out, report),
        }
    )
