"""The queue of disagreements, and the one on the screen: read it, decide it, and the next one comes."""

import streamlit as st

from annotator.adjudication.service import show_case
from annotator.disputes.service import find_disagreements
from annotator.web.case_choice import choose_case, filter_queue
from annotator.web.case_view import draw_judgments, draw_pair, scroll_to
from annotator.web.decision_form import draw_form
from annotator.web.guidance import draw_link, find_language_of, require_dataset
from annotator.web.messages import tr
from annotator.web.page_context import PageContext
from annotator.web.queue_table import draw_filters, draw_queue, find_sort


def draw_queue_page(context: PageContext) -> None:
    """The page as long as no pair is asked for by its address."""
    st.title(tr("Disagreements"))
    dataset, sort = require_dataset(context), find_sort()
    queue = find_disagreements(context.database, context.actor, dataset, sort=sort, now=context.now)
    said = st.session_state.pop("decided", None)
    if said:
        st.toast(said, icon=":material/check:")
    if not queue:
        st.text(
            tr("No pair was graded differently so far. Pairs come here as soon as two annotators differ.")
        )
        draw_link(context, "overview")
        return
    shown = draw_filters()
    chosen = choose_case(queue, st.query_params.get("pair"))
    draw_queue(filter_queue(queue, shown), chosen, statuses=shown == "all")
    if chosen is None:
        st.text(tr("Every disagreement is decided. Choose one to look at it again, or go on:"))
        draw_link(context, "overview")
        return
    st.query_params["pair"] = chosen  # what is on the screen stays there, whatever others decide meanwhile
    case = show_case(context.database, context.actor, dataset, chosen, now=context.now)
    left, right = st.columns([11, 9], gap="medium")
    with left:
        draw_pair(case, language=find_language_of(context))
    with right:
        draw_judgments(case)
        draw_form(case, sort)
    scroll_to(chosen if said else None)
