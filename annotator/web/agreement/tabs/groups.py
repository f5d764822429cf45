"""Draw the tab "Groups": the dataset and its groups against the target."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, PairSelection
from annotator.web.agreement import tables as rows
from annotator.web.agreement.charts import (
    MOST_GROUPS,
    chart_forest,
    describe_forest,
    list_drawn,
)
from annotator.web.agreement.downloads import make_figures_url
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import find_first_grouping, go_to
from annotator.web.agreement.tables import TableRequest
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.links import name_field
from annotator.web.kit.messages import join_sentences, tr
from annotator.web.kit.page_parts import draw_note


def draw(report: AgreementReport, groupings: Sequence[str]) -> None:
    """Draw the dataset and its groups against the target."""
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
