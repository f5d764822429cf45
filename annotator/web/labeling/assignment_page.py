"""Who judges what: by how many each pair is judged, what people know, what they were given, and who waits on whom."""

import streamlit as st

from annotator.labeling.assignment_service import Standing, show_assignment
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, require_dataset
from annotator.web.labeling.assignment_forms import draw_people, give_dialog
from annotator.web.labeling.dispute_settings import draw_dispute_settings
from annotator.web.labeling.overlap_form import draw_overlap
from annotator.web.labeling.waiting_table import draw_waiting
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("Assignment"))
    dataset = require_dataset(context)
    found = show_assignment(context.database, context.actor, dataset, now=context.now)
    if not found.all_queries:
        st.text(tr("There is no query yet. What is to be judged comes first."))
        draw_link(context, "overview")
        return
    _warn(found)
    st.header(tr("By how many a pair is judged"))
    draw_overlap(context, dataset, found)
    st.header(tr("Before a lead decides"))
    draw_dispute_settings(context, dataset)
    st.header(tr("People"))
    _draw_people(context, found)
    st.header(tr("Who waits on whom"))
    draw_waiting(found)


def _warn(found: Standing) -> None:
    if not found.stuck:
        return
    st.warning(
        tr_n(
            "{n:,} pair lacks more judgments than there are people who may give them.",
            "{n:,} pairs lack more judgments than there are people who may give them.",
            found.stuck,
        )
        + " "
        + tr(
            "Add people, widen what they judge, give the queries to more of them, or ask for fewer judgments."
        ),
        icon=":material/warning:",
    )


def _draw_people(context: PageContext, found: Standing) -> None:
    if not found.people:
        st.text(tr("Nobody labels here yet."))
        draw_link(context, "people")
        return
    draw_note(
        tr(
            "Queries go to everybody who judges their category and language, until they are given to somebody."
        )
    )
    if st.button(tr("Give queries to people"), type="primary", icon=":material/assignment_ind:"):
        give_dialog()
    draw_people(found)
