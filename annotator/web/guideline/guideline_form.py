"""Where a lead writes the next version of the standard: a field for each part, with what it will look like beside it."""

from typing import TYPE_CHECKING, TypedDict

import streamlit as st

from annotator.domain.grades import GRADES
from annotator.web.guideline.draft import Draft, read_fields, set_draft, to_rubric, widget_key
from annotator.web.guideline.publish import draw_meanwhile, draw_publishing
from annotator.web.guideline.reading import draw_grades, draw_guideline
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note

if TYPE_CHECKING:
    from annotator.guideline.service import Version
    from annotator.web.page_context import PageContext


class _Held(TypedDict):
    """What a field on the screen is, and the text it came there with."""

    key: str
    value: str


def draw_form(
    context: "PageContext", dataset: str, present: "Version", base: "Version", draft: Draft
) -> None:
    """The fields, the preview, and the way to publish."""
    with st.container():  # always there, so that the fields below keep their place, and the focus with it
        draw_meanwhile(dataset, present, base, draft)
        _draw_head(dataset, draft)
    rubric = to_rubric(read_fields(draft, base))
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("The next version"))
        _draw_grades(draft)
    with right:
        st.header(tr("What it will look like"))
        draw_grades(rubric)
    left, right = st.columns(2, gap="medium")
    with left:
        st.text_area(tr("Guideline, in Markdown"), height=480, **_hold(draft, "guideline"))
    with right:
        draw_note(tr("Guideline"))
        draw_guideline(rubric.guideline)
    draw_publishing(context, dataset, base, draft)


def _hold(draft: Draft, name: str) -> _Held:
    return {"key": widget_key(draft, name), "value": draft.shown[name]}


def _draw_head(dataset: str, draft: Draft) -> None:
    if draft.restored:
        st.info(tr("This is your draft as you left it. It is not published yet."), icon=":material/history:")
    if draft.fields:
        st.button(
            tr("Throw the draft away"), key=f"discard {draft.mark}", icon=":material/delete:",
            on_click=set_draft, args=(dataset, Draft(draft.base, {})),
        )  # fmt: skip


def _draw_grades(draft: Draft) -> None:
    st.text_input(tr("Title"), **_hold(draft, "title"))
    for grade in reversed(GRADES):
        with st.expander(tr("Grade {grade}", grade=grade), expanded=True):
            st.text_input(tr("Name"), **_hold(draft, f"name{grade}"))
            st.text_area(tr("What it means"), height="content", **_hold(draft, f"definition{grade}"))
            st.text_area(
                tr("Examples, one on each line"), height="content",
                help=tr("A line that begins with two spaces belongs to the example above it."),
                **_hold(draft, f"positive{grade}"),
            )  # fmt: skip
            st.text_area(
                tr("Not this grade, one on each line"), height="content", **_hold(draft, f"negative{grade}")
            )
