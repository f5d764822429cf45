"""The standard: annotators read what each grade means and the guideline; leads write the next version of it."""

import streamlit as st

from annotator.domain.messages import say
from annotator.guideline.service import Version, list_versions
from annotator.web.guideline.draft import (
    Draft,
    bring_to_screen,
    draw_keeper,
    find_draft,
    note_typed,
    read_typed,
)
from annotator.web.guideline.feedback import draw_lessons
from annotator.web.guideline.guideline_choice import Desk
from annotator.web.guideline.guideline_form import draw_form
from annotator.web.guideline.guideline_history import draw_history, draw_outdated
from annotator.web.guideline.reading import draw_standard
from annotator.web.kit.controls import heed_tab
from annotator.web.kit.focus import keep_focus
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext

READ, LEARN, WRITE, VERSIONS = (
    say("In force"),
    say("What disputes teach"),
    say("Next version"),
    say("Versions"),
)


def draw(context: PageContext) -> None:
    st.title(tr("Guideline"))
    dataset = require_dataset(context)
    versions = list_versions(context.database, context.actor, dataset)
    if context.role not in ("lead", "admin"):
        with st.container(width=760):
            draw_standard(versions[0])
        return
    said = st.session_state.pop("guideline said", None)
    if said:
        st.toast(said, icon=":material/check:")
    draft = find_draft(dataset, versions[0])
    base = next((item for item in versions if item.version == draft.base), versions[0])
    draft.base = base.version
    note_typed(draft, base, read_typed(draft, base))
    _draw_tabs(context, dataset, versions, base, draft)
    keep_focus()


def _draw_tabs(
    context: PageContext, dataset: str, versions: list[Version], base: Version, draft: Draft
) -> None:
    """Only the tab that is open is worked out; which one stands in the address."""
    names = (READ, LEARN, WRITE, VERSIONS)
    heed_tab("standard", names)
    reading, learning, writing, looking_back = st.tabs(
        [tr(name) for name in names], key="standard", bind="query-params"
    )
    if writing.open:
        bring_to_screen(draft, base)
    draw_keeper(context, dataset, draft, base)
    if reading.open:
        with reading, st.container(width=760):
            if draft.fields:
                st.info(tr("You have an unpublished draft: see Next version."), icon=":material/edit_note:")
            draw_standard(versions[0])
    if learning.open:
        with learning, st.container(width=760):
            draw_lessons(context, Desk(dataset, base))
    if writing.open:
        with writing:
            draw_form(context, dataset, versions[0], base, draft)
    if looking_back.open:
        with looking_back, st.container(width=760):
            draw_outdated(context, dataset)
            draw_history(context, dataset, versions)
