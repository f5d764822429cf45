"""Draw the tab "Differences": a forest plot of the differences between systems, their verdicts and tests."""

import streamlit as st

from annotator.web.evaluation.charts import MOST_DRAWN, chart_differences, describe_differences
from annotator.web.evaluation.tables import list_comparisons
from annotator.web.evaluation.tabs.shown import ShownEvaluation
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.tables import draw_table


def draw(shown: ShownEvaluation) -> None:
    """Draw the differences on the chosen measure, the largest first."""
    comparisons = list_comparisons(shown.evaluation, shown.measure)
    title = tr("Differences on {measure}", measure=shown.measure)
    st.header(title)
    if not comparisons:
        _say_why_not(shown)
        return
    draw_report_chart(
        "differences",
        chart_differences(shown.evaluation, shown.measure),
        describe_differences(shown.evaluation, shown.measure),
        caption=title,
        csv=shown.make_file_url("differences"),
        name=f"{shown.dataset}-differences",
    )
    draw_note(
        tr(
            "Lines: 95 % intervals. Filled diamond: a difference that chance does not explain (p below "
            ".05 after Holm). Hollow circle: no difference shown."
        )
    )
    if len(comparisons) > MOST_DRAWN:
        draw_note(
            tr(
                "The chart shows the {n} largest of {all:,} differences. The file has all.",
                n=MOST_DRAWN,
                all=len(comparisons),
            )
        )
    shown.show_table("differences", tr("Differences as a table"), folded=True)
    st.header(tr("Queries won"))
    wins = shown.evaluation.dataset.wins.get(shown.measure, {})
    draw_table(
        tr("Queries won"),
        [tr("system"), tr("queries on which it scores highest")],
        [[system, count] for system, count in sorted(wins.items(), key=lambda item: -item[1])],
    )


def _say_why_not(shown: ShownEvaluation) -> None:
    if len(shown.evaluation.systems) < 2:
        st.text(tr("There is only one system. To compare, import a run of another system."))
        draw_link(shown.context, "import")
    else:
        st.text(tr("This measure cannot compare systems. Choose another."))
