"""The disputes of a dataset: the queue, or, with `?pair=` in the address, one dispute after the other to be decided.

`pair=next` is the head of the queue as the other words of the address ask for it (`web/adjudication/queue_url.py`).
"""

import streamlit as st

from annotator.web.adjudication.history import draw_trail
from annotator.web.adjudication.panel.component import draw_deciding
from annotator.web.adjudication.web_queue_page import draw_queue_page
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    if st.query_params.get("pair"):
        draw_deciding(context)
    else:
        draw_queue_page(context)
        draw_trail(context, require_dataset(context))
