"""Help: what this is, the keys, the grades, what is recorded, and what others see. Short, on one page."""

import streamlit as st

from annotator.datasets.service import read_current_rubric
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.web.help_text import KEYS, RECORDED, RELEASES, SEEN, STATUSES, WHAT
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title("Help")
    with st.container(width=760):
        st.markdown(WHAT)
        st.header("The keys")
        st.html(KEYS)
        st.header("The grades")
        _draw_grades(_find_rubric(context))
        if context.role in ("lead", "admin"):
            st.header("What becomes of a pair")
            st.markdown(STATUSES)
            st.header("Releases")
            st.markdown(RELEASES)
        st.header("What is recorded")
        st.markdown(RECORDED)
        st.header("What others see")
        st.markdown(SEEN)


def _find_rubric(context: PageContext) -> Rubric:
    if context.dataset is None:
        return DEFAULT_RUBRIC
    _version, rubric = read_current_rubric(context.database, context.actor, context.dataset)
    return rubric


def _draw_grades(rubric: Rubric) -> None:
    """As plain text: a definition may hold any characters."""
    for definition in rubric.grades:
        with st.container(border=True, gap="xxsmall"):
            st.text(f"{definition.grade} · {definition.name}")
            st.text(definition.definition)
