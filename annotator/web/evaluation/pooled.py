"""Show how many pairs the button "Request judgments" has added to the pool."""

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.pooling.service import PooledResults
from annotator.web.kit.messages import join_sentences, show_refusal, tr, tr_n

KEY = "pooled results"


def note_pooled(outcome: PooledResults | AnnotatorError) -> None:
    """Keep the outcome for the next drawing of the page."""
    st.session_state[KEY] = outcome


def draw_pooled() -> None:
    """Draw the outcome once."""
    outcome = st.session_state.pop(KEY, None)
    with st.container(key="pooled"):
        if isinstance(outcome, PooledResults):
            st.success(describe_pooled(outcome), icon=":material/playlist_add_check:")
        elif outcome is not None:
            st.error(show_refusal(outcome), icon=":material/block:")


def describe_pooled(outcome: PooledResults) -> str:
    """Return in sentences how many pairs are new and how many were already in the pool."""
    sentences = [
        tr_n("{n:,} pair was added to the pool.", "{n:,} pairs were added to the pool.", outcome.new)
    ]
    if outcome.already_there:
        sentences.append(
            tr_n("{n:,} was already in the pool.", "{n:,} were already in the pool.", outcome.already_there)
        )
    if outcome.new:
        sentences.append(
            tr("Annotators get these pairs like any other pair and see nothing about the systems.")
        )
    return join_sentences(sentences)
