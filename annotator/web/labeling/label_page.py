"""Draw the labeling page: nothing but the panel, with as much room as the window has."""

import streamlit as st

from annotator.dataset.service import read_current_rubric
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import require_dataset
from annotator.web.labeling.panel.component import draw_panel
from annotator.web.page_context import PageContext

ROOM = """<style>
.stMainBlockContainer { padding-top: 4rem; padding-bottom: 0; }
@media (min-width: 821px) { .stMainBlockContainer { padding-top: 3.25rem; padding-left: 2.25rem; padding-right: 2.25rem; } }
.stApp.stApp::after { display: none; }
</style>"""  # the panel says by itself when the server cannot be reached


def draw(context: PageContext) -> None:
    dataset = next((item for item in context.datasets if item.name == context.dataset), None)
    if dataset is None:
        st.title(tr("Label"))
        require_dataset(context)
        return
    st.html(ROOM)
    version, rubric = read_current_rubric(context.database, context.actor, dataset.name)
    draw_panel(context.actor, dataset, version, rubric, pair=st.query_params.get("pair"))
