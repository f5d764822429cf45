"""Every version of the standard with what it changed; and, for leads, whose answers are still to be confirmed."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from annotator.guideline.feedback_service import list_decisions_behind
from annotator.guideline.service import count_outdated
from annotator.web.guideline.feedback import say_apart
from annotator.web.guideline.reading import say_version
from annotator.web.kit.line_diff import draw_comparison
from annotator.web.kit.link_table import Cell, Link, draw_link_table
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import escape_markdown, show_as

if TYPE_CHECKING:
    from annotator.guideline.records import Taught
    from annotator.guideline.service import Version
    from annotator.web.page_context import PageContext

SHOWN, DECISIONS = 30, 50


def draw_history(context: "PageContext", dataset: str, versions: "list[Version]") -> None:
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


def _draw_behind(dataset: str, cases: "Sequence[Taught]") -> None:
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


def _link(dataset: str, case: "Taught") -> Link:
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
