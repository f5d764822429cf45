"""Draw the evaluation of the systems: key results first, then a tab for each kind of figure."""

from html import escape
from importlib import import_module

import streamlit as st

from annotator.domain.messages import Message, say
from annotator.evaluation.service import EvaluationChoices, EvaluationResult
from annotator.web.evaluation.choice import EvaluationChoice
from annotator.web.evaluation.downloads import make_report_url, make_scores_url
from annotator.web.evaluation.tabs.shown import ShownEvaluation
from annotator.web.kit.controls import apply_url_tab
from annotator.web.kit.links import draw_file_link
from annotator.web.kit.messages import tr, tr_n
from annotator.web.page_context import PageContext

FIRST = 6
TABS = {
    say("Scores"): "scores",
    say("Differences"): "differences",
    say("Groups"): "groups",
    say("Reliability"): "abilities",
    say("Query by query"): "queries",
    say("Two releases"): "releases",
}
"""The tabs and their modules in tabs/. A module is imported when its tab opens: charts take half a second."""


def draw_report(
    context: PageContext,
    dataset: str,
    choice: EvaluationChoice,
    choices: EvaluationChoices,
    result: EvaluationResult,
) -> None:
    """Draw the key results, the choice of a measure, the tabs and the links to files."""
    sentences = [*result.evaluation.sentences]
    if result.robustness is not None:
        sentences += result.robustness.sentences
    _draw_sentences(sentences)
    names = [measure.name for measure in result.evaluation.table.measures]
    measure = st.selectbox(tr("Measure"), names, key="measure", bind="query-params", width=260)
    shown = ShownEvaluation(context, dataset, choice, choices, result, measure or names[0])
    apply_url_tab("tab", tuple(TABS))
    drawn = st.tabs([tr(name) for name in TABS], key="tab", bind="query-params")
    for tab, name in zip(drawn, TABS.values(), strict=True):
        if tab.open:
            with tab:
                import_module(f"annotator.web.evaluation.tabs.{name}").draw(shown)
    draw_file_link(tr("All scores as CSV"), make_scores_url(dataset, choice))
    draw_file_link(tr("Full report as JSON"), make_report_url(dataset, choice))


def _draw_sentences(sentences: list[Message]) -> None:
    st.header(tr("Key results"))
    for sentence in sentences[:FIRST]:
        st.html(f'<p class="annotator-step">{escape(tr(sentence))}</p>')
    if len(sentences) > FIRST:
        more = len(sentences) - FIRST
        with st.expander(tr_n("{n:,} further finding", "{n:,} further findings", more), key="sentences"):
            for sentence in sentences[FIRST:]:
                st.html(f'<p class="annotator-step">{escape(tr(sentence))}</p>')
