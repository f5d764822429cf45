"""Quality control: whether the settled grades can be trusted, by a third expert's blind check of a sample. For leads.

The verdict first, then both readings of the sample, what would decide it, the draws and the errors found.
"""

import streamlit as st

from annotator.domain.quality import QualityStatus
from annotator.quality.service import project_bound, show_quality
from annotator.web import quality_chart as charts
from annotator.web.focus import keep_focus
from annotator.web.guidance import draw_chart, draw_note, draw_numbers, require_dataset
from annotator.web.messages import tr
from annotator.web.page_context import PageContext
from annotator.web.quality_errors import draw_errors
from annotator.web.quality_form import draw_done, draw_form, draw_more
from annotator.web.quality_rule import draw_rule
from annotator.web.quality_view import draw_counts, draw_draws, draw_readings, draw_verdict, say_waiting


def draw(context: PageContext) -> None:
    st.title(tr("Quality control"))
    dataset = require_dataset(context)
    draw_done()
    status = show_quality(context.database, context.actor, dataset)
    draw_verdict(status, context.actor.username)
    if status.checked:
        _draw_evidence(context, status)
    if status.round:
        st.header(tr("The sample"))
        draw_counts(status)
        st.header(tr("Draw more"))
        draw_more(context, dataset, status)
        st.header(tr("Draws so far"))
        draw_draws(dataset, status.draws)
        st.header(tr("Errors found"))
        draw_errors(dataset, status.errors)
    else:
        st.header(tr("Draw a sample"))
        draw_form(context, dataset, status)
    keep_focus()


def _draw_evidence(context: PageContext, status: QualityStatus) -> None:
    st.header(tr("What the sample shows and what it proves"))
    draw_readings(status)
    draw_rule(context, status)
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("Errors by kind"))
        draw_chart(charts.chart_rates(status.rates), charts.describe_rates(status.rates))
        draw_note(tr("The line through the circle is the exact 95 % interval of the share in the sample."))
        draw_numbers(tr("Numbers by kind of error"), charts.list_rate_rows(status.rates))
    with right:
        _draw_further(status)


def _draw_further(status: QualityStatus) -> None:
    """What it takes to bring the bound below the limit, as long as it is not."""
    st.header(tr("What would decide it"))
    if status.further is None:
        st.text(
            tr(
                "No sample of these pairs can bring the bound below 5 % any more. Decide the errors, then begin a new round."
            )
        )
    elif not status.further:
        st.text(tr("Nothing more is needed: the bound is below 5 %."))
    else:
        points = project_bound(status)
        words = charts.describe_further(points, status.further)
        draw_chart(charts.chart_further(points, status.further), words)
        draw_note(words + say_waiting(status))
        draw_numbers(tr("Numbers of this curve"), charts.list_further_rows(points))
