"""Help: what this is, the keys, the grades, what is recorded, and what others see. Short, on one page."""

import streamlit as st

from annotator.dataset.service import read_current_rubric
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.web import help_text as words
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_link
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("Help"))
    with st.container(width=760):
        st.markdown(words.say_what())
        st.header(tr("The keys"))
        st.html(words.say_keys())
        st.header(tr("How far you are"))
        st.markdown(words.say_progress())
        st.header(tr("The grades"))
        _draw_grades(_find_rubric(context))
        if context.dataset is not None and context.role is not None:
            draw_link(context, "guideline")
        st.header(tr("When answers differ"))
        st.markdown(words.say_disputes())
        if context.role in ("lead", "admin"):
            st.header(tr("The queue"))
            st.markdown(words.say_queue())
            st.header(tr("The keys for deciding"))
            st.html(words.say_deciding_keys())
            st.header(tr("Before people label"))
            st.markdown(words.say_preparing())
            st.header(tr("What becomes of a pair"))
            st.markdown(words.say_statuses())
            st.header(tr("Quality control"))
            st.markdown(words.say_quality())
            st.header(tr("Releases"))
            st.markdown(words.say_releases())
        st.header(tr("What is recorded"))
        st.markdown(words.say_recorded())
        st.header(tr("What others see"))
        st.markdown(words.say_seen())


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
