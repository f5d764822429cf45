"""Brings the impact of disputes up to date before the queue is read, where many are due: with a bar that says how far it is."""

import streamlit as st

from annotator.adjudication.impact_service import bring_up_to_date
from annotator.web.kit.messages import tr
from annotator.web.page_context import PageContext

FEW = 200
"""Queries: so many the queue itself computes in passing."""


def finish_impacts(context: PageContext, dataset: str, due: int) -> None:
    """Compute what is due, if it is much; the page waits for it, rather than show figures that are no longer true."""
    if due <= FEW:
        return
    words = tr("The impact of the disputes is being computed, since grades or runs have changed …")
    bar = st.progress(0.0, words)

    def tell(done: int, total: int) -> None:
        bar.progress(min(1.0, done / max(total, 1)), words)

    bring_up_to_date(context.database, dataset, tell=tell)
    bar.empty()
