"""Draw the tab "Groups": the systems' scores by category, language or another field of the queries."""

import streamlit as st

from annotator.web.evaluation.charts import (
    MOST_GROUPS,
    MOST_SYSTEMS,
    chart_groups,
    describe_groups,
)
from annotator.web.evaluation.tabs.shown import ShownEvaluation
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.links import name_field
from annotator.web.kit.messages import join_names, tr
from annotator.web.kit.page_parts import draw_note


def draw(shown: ShownEvaluation) -> None:
    """Draw the heat map of the groups; without a field, say where one is chosen."""
    by = shown.choice.by
    if by is None:
        st.header(tr("By group"))
        fields = join_names(map(name_field, shown.choices.fields))
        if fields:
            st.text(
                tr(
                    "Choose a field under Group by to see the best system of each group: {fields}.",
                    fields=fields,
                )
            )
        else:
            st.text(tr("The queries have no category or other field to group them by."))
        return
    title = tr("{measure} by {field}", measure=shown.measure, field=name_field(by))
    st.header(title)
    draw_report_chart(
        "evaluation-groups",
        chart_groups(shown.evaluation, shown.measure),
        describe_groups(shown.evaluation, shown.measure),
        caption=title,
        csv=shown.make_file_url("groups"),
        name=f"{shown.dataset}-groups",
    )
    draw_note(tr("In brackets: number of queries. Groups with few queries are less reliable."))
    groups, systems = len(shown.evaluation.groups), len(shown.evaluation.systems)
    if groups > MOST_GROUPS or systems > MOST_SYSTEMS:
        draw_note(
            tr(
                "The chart shows at most {groups} groups and {systems} systems. The file has all.",
                groups=MOST_GROUPS,
                systems=MOST_SYSTEMS,
            )
        )
    shown.show_table("groups", tr("Table by group"), folded=True)
