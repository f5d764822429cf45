"""Quality control: whether the settled grades can be trusted, by a third expert's blind check of a sample. For leads.

The verdict first, then both readings of the sample, what would decide it, the draws and the errors found.
"""

import streamlit as st

from annotator.quality.service import show_quality
from annotator.web.kit.focus import keep_focus
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext
from annotator.web.quality.errors import draw_errors
from annotator.web.quality.form import draw_done, draw_form, draw_more
from annotator.web.quality.quality_evidence import draw_evidence
from annotator.web.quality.quality_view import draw_counts, draw_draws, draw_verdict


def draw(context: PageContext) -> None:
    st.title(tr("Quality control"))
    dataset = require_dataset(context)
    draw_done()
    status = show_quality(context.database, context.actor, dataset, now=context.now)
    draw_verdict(status, context.actor.username)
    if status.checked:
        draw_evidence(context, status)
    if status.round:
        st.header(tr("The sample"))
        draw_counts(status)
        st.header(tr("Draw more"))
        draw_more(context, dataset, status)
        st.header(tr("Draws so far"))
        draw_draws(dataset, status.draws)
        st.header(tr("Errors found"))
        draw_errors(status)
    else:
        st.header(tr("Draw a sample"))
        draw_form(context, dataset, status)
    keep_focus()
