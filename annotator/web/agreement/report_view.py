"""The agreement page once its report is there: verdict, findings, and a tab for every kind of figure."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from annotator.agreement.records import AgreementReport
from annotator.dataset.service import read_current_rubric
from annotator.domain.messages import say
from annotator.web.agreement.agreement_since import draw_since
from annotator.web.agreement.agreement_trends import draw_grades, draw_left_out, draw_time
from annotator.web.agreement.agreement_verdict import draw_findings, draw_verdict
from annotator.web.agreement.tabs import draw_annotators, draw_dataset, draw_groups
from annotator.web.kit.controls import heed_tab
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_link
from annotator.web.page_context import PageContext

TABS = (
    say("Annotators"), say("Groups"), say("Over time"), say("Guideline versions"), say("Grades"), say("All figures"),
    say("Left out"),
)  # fmt: skip


def draw_report(context: PageContext, report: AgreementReport, fields: list[str]) -> None:
    """The whole report. `fields`: by what it can be grouped."""
    draw_verdict(report)
    draw_findings(report)
    if not report.measured.pairs:
        draw_link(context, "overview")
        return
    _draw_tabs(context, report, fields)


def _draw_tabs(context: PageContext, report: AgreementReport, fields: list[str]) -> None:
    """Only the tab that is open is drawn; which one stands in the address."""
    heed_tab("tab", TABS)
    drawn = st.tabs([tr(name) for name in TABS], key="tab", bind="query-params")
    for tab, draw_part in zip(drawn, _list_parts(context, report, fields), strict=True):
        if tab.open:
            with tab:
                draw_part()


def _list_parts(context: PageContext, report: AgreementReport, fields: list[str]) -> list[Callable[[], None]]:
    """What draws each tab, in their order."""
    _version, rubric = read_current_rubric(context.database, context.actor, report.dataset)
    names = [definition.name for definition in rubric.grades]
    return [
        partial(draw_annotators, report, names),
        partial(draw_groups, report, fields),
        partial(draw_time, report),
        partial(draw_since, context, report),
        partial(draw_grades, report, names),
        partial(draw_dataset, report),
        partial(draw_left_out, report),
    ]
