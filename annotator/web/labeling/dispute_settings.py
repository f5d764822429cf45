"""What comes before a lead's decision: whether annotators discuss first, and whether two leads decide. Leads change it here."""

import streamlit as st

from annotator.dataset.service import Dataset, change_settings, write_setting
from annotator.domain.errors import AnnotatorError
from annotator.domain.overlap import DISTANCES
from annotator.web.kit.messages import join_sentences, show_refusal, tr
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext


def draw_dispute_settings(context: PageContext, dataset: str) -> None:
    """How it is, in words, and the form that changes it."""
    settings = next(item for item in context.datasets if item.name == dataset)
    st.text(_say(settings))
    with st.expander(tr("Change what comes before a decision")), st.form("disputes", border=False):
        choices = (None, *DISTANCES)
        distance = st.selectbox(
            tr("Annotators discuss first when their grades differ by at least"), choices,
            index=choices.index(settings.discuss_from),
            format_func=lambda choice: tr("never") if choice is None else str(choice),
            help=tr("They see each other's notes without names and may each stand or revise once. A lead can ask for it on any dispute, and decide at any time."),
        )  # fmt: skip
        second = st.checkbox(
            tr("Where grades differ by 3, two leads must decide the same"), settings.second_adjudicator
        )
        pressed = st.form_submit_button(tr("Change"))
    chosen = {"discuss_from": distance, "second_adjudicator": second}
    changes = {
        name: write_setting(name, value) for name, value in chosen.items() if value != getattr(settings, name)
    }
    if not pressed or not changes:
        return
    try:
        change_settings(context.database, context.actor, dataset, changes, now=context.now)
    except AnnotatorError as error:
        st.error(escape_markdown(show_refusal(error)))
        return
    st.rerun()


def _say(settings: Dataset) -> str:
    discussed = (
        tr("Annotators discuss a dispute only where a lead asks for it.") if settings.discuss_from is None
        else tr("Annotators discuss a dispute first when their grades differ by {distance} or more.", distance=settings.discuss_from)
    )  # fmt: skip
    decided = (
        tr("Where grades differ by 3, two leads must decide the same.") if settings.second_adjudicator
        else tr("One lead decides.")
    )  # fmt: skip
    return join_sentences((discussed, decided))
