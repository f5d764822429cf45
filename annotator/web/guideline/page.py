"""Draw the page Guideline: the current version, and every version with its changes.

Leads also write the next version here, and see which annotators must still confirm answers.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.messages import say
from annotator.guideline.feedback_service import list_decisions_behind
from annotator.guideline.records import DecisionExample
from annotator.guideline.service import GuidelineVersion, count_outdated, list_versions
from annotator.web.guideline.draft import (
    GuidelineDraft,
    bring_to_screen,
    draw_keeper,
    find_draft,
    note_typed,
    read_typed,
)
from annotator.web.guideline.feedback import DraftDesk, describe_judgments, draw_worklist
from annotator.web.guideline.publish import READ, TABS, draw_form, draw_published
from annotator.web.guideline.reading import describe_version, draw_comparison, draw_rubric
from annotator.web.kit.controls import apply_url_tab, keep_focus
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, require_dataset
from annotator.web.kit.tables import Cell, Link, draw_link_table, draw_table
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.page_context import PageContext

SHOWN, DECISIONS = 30, 50


def draw_history(context: "PageContext", dataset: str, versions: "list[GuidelineVersion]") -> None:
    """Draw all versions, newest first, each with its changes and the decisions that led to it."""
    from annotator.guideline.service import compare_draft

    behind = context.call(list_decisions_behind, dataset, now=context.now)
    shown = versions[:SHOWN]
    if len(versions) > SHOWN and st.toggle(tr("Show all ({n:,})", n=len(versions)), key="all versions"):
        shown = versions
    for index, version in enumerate(shown):
        kind = tr("semantic") if version.change == "semantic" else tr("minor")
        name = describe_version(version) if version.version == 1 else f"{describe_version(version)} · {kind}"
        with st.expander(escape_markdown(name), expanded=index == 0):
            if version.why:
                st.html(show_as("narrative", version.why))
            if index + 1 < len(versions):
                draw_comparison(compare_draft(versions[index + 1].rubric, version.rubric))
                _draw_behind(dataset, behind.get(version.version, ()))
            else:
                draw_note(tr("The first version."))


def _draw_behind(dataset: str, decisions: Sequence[DecisionExample]) -> None:
    if not decisions:
        return
    label = tr_n("Based on {n:,} decision", "Based on {n:,} decisions", len(decisions))
    rows: list[Sequence[Cell]] = [
        [decision.query, _link(dataset, decision), describe_judgments(decision), decision.rationale]
        for decision in decisions[:DECISIONS]
    ]
    st.html(f'<p class="annotator-step">{escape(label)}</p>')
    draw_link_table(label, [tr("Query"), tr("Document"), tr("Grades"), tr("Rationale")], rows, roomy=True)
    if len(decisions) > DECISIONS:
        draw_note(tr_n("{n:,} more", "{n:,} more", len(decisions) - DECISIONS))


def _link(dataset: str, decision: DecisionExample) -> Link:
    return Link(
        decision.title or decision.doc_id,
        "/disagreements?" + urlencode({"dataset": dataset, "pair": decision.pair}),
    )


def draw_outdated(context: "PageContext", dataset: str) -> None:
    """Draw the number of answers that each annotator must confirm or change."""
    counts = context.call(count_outdated, dataset)
    if not counts:
        draw_note(tr("All judgments use the current guideline and texts."))
        return
    st.header(tr("Judgments to confirm"))
    columns = (tr("Annotator"), tr("Judgments"), tr("Older guideline"), tr("Older text"))
    rows = [
        (
            item.name or item.annotator,
            *(f"{n:,}" for n in (item.answers, item.older_guideline, item.older_text)),
        )
        for item in counts
    ]
    draw_table(tr("Judgments to confirm"), columns, rows)


LEARN, WRITE, VERSIONS = (
    say("Lessons from disagreements"),
    say("Next version"),
    say("Versions"),
)


def draw(context: PageContext) -> None:
    st.title(tr("Guideline"))
    dataset = require_dataset(context)
    versions = context.call(list_versions, dataset)
    if context.role not in ("lead", "admin"):
        with st.container(width=760):
            draw_rubric(versions[0])
        return
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
    names = (READ, LEARN, WRITE, VERSIONS)
    apply_url_tab(TABS, names)
    reading, learning, writing, looking_back = st.tabs(
        [tr(name) for name in names], key=TABS, bind="query-params"
    )
    if writing.open:
        bring_to_screen(draft, base)
    draw_keeper(context, dataset, draft, base)
    if reading.open:
        with reading, st.container(width=760):
            draw_published()
            if draft.fields:
                st.info(
                    tr("You have an unpublished draft on the tab Next version."), icon=":material/edit_note:"
                )
            draw_rubric(versions[0])
    if learning.open:
        with learning, st.container(width=760):
            draw_worklist(context, DraftDesk(dataset, base))
    if writing.open:
        with writing:
            draw_form(context, dataset, versions[0], base, draft)
    if looking_back.open:
        with looking_back, st.container(width=760):
            draw_outdated(context, dataset)
            draw_history(context, dataset, versions)
