"""What a checked sample of quality control shows beside what it proves: both readings, the chart, the deciding number."""

import streamlit as st

from annotator.quality.records import QualityStatus
from annotator.quality.service import project_bound
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note, draw_numbers
from annotator.web.page_context import PageContext
from annotator.web.quality import charts
from annotator.web.quality.downloads import list_address
from annotator.web.quality.quality_rule import draw_rule
from annotator.web.quality.quality_view import draw_readings, say_waiting


def draw_evidence(context: PageContext, status: QualityStatus) -> None:
    """Both readings with the rule, then the errors by kind beside what would decide it."""
    st.header(tr("What the sample shows and what it proves"))
    draw_readings(status)
    draw_rule(context, status)
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("Errors by kind"))
        draw_report_chart(
            "quality-kinds", charts.chart_rates(status.rates), charts.describe_rates(status.rates),
            caption=tr("Errors by kind"), csv=list_address(status.dataset, "kinds"), name=f"{status.dataset}-quality",
        )  # fmt: skip
        draw_note(tr("The line through the circle is the exact 95 % interval of the share in the sample."))
        draw_numbers(tr("Numbers by kind of error"), charts.list_rate_rows(status.rates))
    with right:
        _draw_further(status)


def _draw_further(status: QualityStatus) -> None:
    """What it takes to bring the bound below the limit, as long as it is not."""
    st.header(tr("What would decide it"))
    if status.further is None:
        st.text(tr(
            "No sample of these pairs can bring the bound below 5 % any more. Decide the errors, then begin a new round."
        ))  # fmt: skip
    elif not status.further:
        st.text(tr("Nothing more is needed: the bound is below 5 %."))
    else:
        points = project_bound(status)
        words = charts.describe_further(points, status.further)
        draw_report_chart(
            "quality-curve", charts.chart_further(points, status.further), words,
            caption=tr("What would decide it"), csv=list_address(status.dataset, "curve"),
            name=f"{status.dataset}-quality-curve",
        )  # fmt: skip
        draw_note(words + say_waiting(status))
        draw_numbers(tr("Numbers of this curve"), charts.list_further_rows(points))
