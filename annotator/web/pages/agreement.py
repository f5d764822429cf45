"""How well the annotators agree: what it means in sentences first, then the figures, by annotator pair and by group."""

import streamlit as st

from annotator.agreement.service import GROUP_FIELDS, compute_agreement
from annotator.datasets.service import read_current_rubric
from annotator.domain.agreement import AgreementReport, Value
from annotator.web import agreement_rows as rows
from annotator.web.charts import chart_kappas, describe_kappas
from annotator.web.choices import find_asked, heed_address
from annotator.web.guidance import draw_chart, draw_link, draw_note, draw_numbers, require_dataset
from annotator.web.heat_map import chart_confusion, describe_confusion
from annotator.web.messages import tr
from annotator.web.names import name_word
from annotator.web.page_context import PageContext

NONE = "nothing"
GROUPINGS = (NONE, *GROUP_FIELDS, "annotator")


def draw(context: PageContext) -> None:
    st.title(tr("Agreement"))
    dataset = require_dataset(context)
    chosen = find_asked("by", GROUPINGS)
    by = chosen if chosen in GROUPINGS[1:] else None
    report = compute_agreement(context.database, context.actor, dataset, by=by)
    for sentence in report.diagnosis:
        st.text(tr(sentence))
    if not report.measured.pairs:
        draw_link(context, "overview")
        return
    _draw_dataset(report)
    _version, rubric = read_current_rubric(context.database, context.actor, dataset)
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_annotator_pairs(report, [definition.name for definition in rubric.grades])
    with right:
        _draw_groups(report)


def _draw_dataset(report: AgreementReport) -> None:
    found = report.measured
    st.header(tr("The dataset"))
    _draw_kappas(rows.list_kappas(found.cohen_kappa), report.kappa_target)
    draw_note(rows.say_basis(report))
    draw_numbers(tr("All coefficients"), rows.list_coefficients(found))


def _draw_annotator_pairs(report: AgreementReport, grade_names: list[str]) -> None:
    st.header(tr("Two annotators"))
    pairs = {rows.name_pair(pair): pair for pair in report.measured.annotator_pairs}
    pair = pairs[st.selectbox(tr("Annotators"), list(pairs), key="annotators", bind="query-params")]
    draw_chart(chart_confusion(pair, grade_names), describe_confusion(pair))
    st.text(describe_confusion(pair))
    draw_numbers(tr("This matrix as a table"), rows.list_confusion_rows(pair, grade_names))
    draw_numbers(tr("Every two annotators"), rows.list_pair_rows(report))


def _draw_groups(report: AgreementReport) -> None:
    st.header(tr("By group"))
    heed_address("by", GROUPINGS)
    st.selectbox(tr("Group the queries by"), GROUPINGS, format_func=name_word, key="by", bind="query-params")
    if not report.groups:
        st.text(tr("Choose a field to see where agreement is high and where it is low."))
    elif all(group.value is None for group in report.groups):
        st.text(tr("No query has a {field}.", field=name_word(report.groups[0].by)))
    else:
        _draw_kappas(rows.list_group_kappas(report), report.kappa_target)
        draw_numbers(tr("Numbers by group"), rows.list_group_rows(report))


def _draw_kappas(named: list[tuple[str, Value]], target: float) -> None:
    """The chart of those that are defined, and in words why the others are not."""
    if any(value.value is not None for _, value in named):
        draw_chart(chart_kappas(named, target), describe_kappas(named, target))
    for name, value in named:
        if value.value is None:
            st.text(tr("{name}: undefined, {why}", name=name, why=value.why))
