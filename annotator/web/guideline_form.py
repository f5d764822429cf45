"""Where a lead writes the next version of the standard: a field for each part, with what it will look like beside it."""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.grades import GRADES
from annotator.web.guidance import draw_note
from annotator.web.guideline_draft import (
    FIELDS,
    Draft,
    read_fields,
    set_draft,
    to_rubric,
    widget_key,
)
from annotator.web.guideline_publish import draw_meanwhile, draw_publishing
from annotator.web.guideline_view import draw_grades, draw_guideline
from annotator.web.messages import tr

if TYPE_CHECKING:
    from annotator.standard.service import Version
    from annotator.web.page_context import PageContext


def draw_form(
    context: "PageContext", dataset: str, present: "Version", base: "Version", draft: Draft
) -> None:
    """The fields, the preview, and the way to publish."""
    with st.container():  # always there, so that the fields below keep their place, and the focus with it
        draw_meanwhile(dataset, present, base, draft)
        _fill(dataset, draft, base)
        _draw_head(dataset, draft)
    rubric = to_rubric(read_fields(draft, base))
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("The next version"))
        _draw_grades(dataset)
    with right:
        st.header(tr("What it will look like"))
        draw_grades(rubric)
    left, right = st.columns(2, gap="medium")
    with left:
        st.text_area(tr("Guideline, in Markdown"), key=widget_key(dataset, "guideline"), height=480)
    with right:
        draw_note(tr("Guideline"))
        draw_guideline(rubric.guideline)
    draw_publishing(context, dataset, base, draft)


def _fill(dataset: str, draft: Draft, base: "Version") -> None:
    """Give fields that were not on the screen what they hold."""
    known = read_fields(draft, base)
    for name in FIELDS:
        st.session_state.setdefault(widget_key(dataset, name), known[name])


def _draw_head(dataset: str, draft: Draft) -> None:
    if draft.restored:
        st.info(tr("This is your draft as you left it. It is not published yet."), icon=":material/history:")
    if draft.fields:
        st.button(
            tr("Throw the draft away"), key=f"discard {draft.nonce}", icon=":material/delete:",
            on_click=set_draft, args=(dataset, Draft(draft.base, {})),
        )  # fmt: skip


def _draw_grades(dataset: str) -> None:
    st.text_input(tr("Title"), key=widget_key(dataset, "title"))
    for grade in reversed(GRADES):
        with st.expander(tr("Grade {grade}", grade=grade), expanded=True):
            st.text_input(tr("Name"), key=widget_key(dataset, f"name{grade}"))
            st.text_area(tr("What it means"), key=widget_key(dataset, f"definition{grade}"), height="content")
            st.text_area(
                tr("Examples, one on each line"), key=widget_key(dataset, f"positive{grade}"), height="content",
                help=tr("A line that begins with two spaces belongs to the example above it."),
            )  # fmt: skip
            st.text_area(
                tr("Not this grade, one on each line"),
                key=widget_key(dataset, f"negative{grade}"),
                height="content",
            )
