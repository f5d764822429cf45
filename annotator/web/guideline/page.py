"""Draw the page Guideline: the version in force, and every version with what it changed.

Leads also write the next version here, and see whose answers are still to be confirmed.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.messages import say
from annotator.guideline.feedback_service import list_decisions_behind
from annotator.guideline.service import GuidelineVersion, count_outdated, list_versions
from annotator.web.guideline.draft import (
    GuidelineDraft,
    bring_to_screen,
    draw_keeper,
    find_draft,
    note_typed,
    read_typed,
)
from annotator.web.guideline.feedback import DraftDesk, draw_lessons, say_apart
from annotator.web.guideline.publish import draw_form
from annotator.web.guideline.reading import draw_standard, say_version
from annotator.web.kit.controls import heed_tab, keep_focus
from annotator.web.kit.line_diff import draw_comparison
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, require_dataset
from annotator.web.kit.tables import Cell, Link, draw_link_table, draw_table
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.page_context import PageContext

if TYPE_CHECKING:
    from annotator.guideline.records import DecisionExample


SHOWN, DECISIONS = 30, 50


def draw_history(context: "PageContext", dataset: str, versions: "list[GuidelineVersion]") -> None:
    """The newest first, each against the one before it, with the decisions that led to it."""
    from annotator.guideline.service import compare_draft

    behind = list_decisions_behind(context.database, context.actor, dataset, now=context.now)
    for place, version in enumerate(versions[:SHOWN]):
        kind = tr("semantic") if version.change == "semantic" else tr("minor")
        name = say_version(version) if version.version == 1 else f"{say_version(version)} · {kind}"
        with st.expander(escape_markdown(name), expanded=place == 0):
            if version.why:
                st.html(show_as("narrative", version.why))
            if place + 1 < len(versions):
                draw_comparison(compare_draft(versions[place + 1].rubric, version.rubric))
                _draw_behind(dataset, behind.get(version.version, ()))
            else:
                draw_note(tr("The first version."))
    if len(versions) > SHOWN:
        draw_note(tr("Older versions: annotator rubric list DATASET"))


def _draw_behind(dataset: str, cases: "Sequence[DecisionExample]") -> None:
    """The decisions on disputes that led to a version, each with the way to its pair."""
    if not cases:
        return
    said = tr_n("{n:,} decision led to it", "{n:,} decisions led to it", len(cases))
    rows: list[Sequence[Cell]] = [
        [case.query, _link(dataset, case), say_apart(case), case.rationale] for case in cases[:DECISIONS]
    ]
    st.html(f'<p class="annotator-step">{escape(said)}</p>')
    draw_link_table(said, [tr("Query"), tr("Document"), tr("Grades"), tr("Rationale")], rows, roomy=True)
    if len(cases) > DECISIONS:
        draw_note(tr_n("{n:,} more", "{n:,} more", len(cases) - DECISIONS))


def _link(dataset: str, case: "DecisionExample") -> Link:
    return Link(
        case.title or case.doc_id, "/disagreements?" + urlencode({"dataset": dataset, "pair": case.pair})
    )


def draw_outdated(context: "PageContext", dataset: str) -> None:
    """How many answers each annotator is asked to confirm or change."""
    found = count_outdated(context.database, context.actor, dataset)
    if not found:
        draw_note(tr("No judgment rests on an older standard or an older text."))
        return
    st.header(tr("To be confirmed or changed"))
    columns = (tr("Annotator"), tr("Judgments"), tr("Older standard"), tr("Older text"))
    rows = [
        (
            item.name or item.annotator,
            *(f"{n:,}" for n in (item.answers, item.older_standard, item.older_text)),
        )
        for item in found
    ]
    draw_table(tr("To be confirmed or changed"), columns, rows)


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
    context: PageContext,
    dataset: str,
    versions: list[GuidelineVersion],
    base: GuidelineVersion,
    draft: GuidelineDraft,
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
            draw_lessons(context, DraftDesk(dataset, base))
    if writing.open:
        with writing:
            draw_form(context, dataset, versions[0], base, draft)
    if looking_back.open:
        with looking_back, st.container(width=760):
            draw_outdated(context, dataset)
            draw_history(context, dataset, versions)
