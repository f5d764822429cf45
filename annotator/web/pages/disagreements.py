"""The disputes of a dataset: the queue, or, with `?pair=` in the address, one dispute after the other to be decided.

`pair=next` is the head of the queue as the other words of the address ask for it (`web/queue_address.py`).
"""

import streamlit as st

from annotator.web.deciding.deciding import draw_deciding
from annotator.web.guidance import require_dataset
from annotator.web.page_context import PageContext
from annotator.web.queue_page import draw_queue_page
from annotator.web.trail_table import draw_trail


def draw(context: PageContext) -> None:
    if st.query_params.get("pair"):
        draw_deciding(context)
    else:
        draw_queue_page(context)
        draw_trail(context, require_dataset(context))
