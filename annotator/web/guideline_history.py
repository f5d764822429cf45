"""Every version of the standard with what it changed; and, for leads, whose answers are still to be confirmed."""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.standard.service import count_outdated
from annotator.web.guidance import draw_note
from annotator.web.guideline_view import say_version
from annotator.web.html_table import draw_table
from annotator.web.line_diff import draw_comparison
from annotator.web.messages import tr
from annotator.web.plain_text import escape_markdown, show_as

if TYPE_CHECKING:
    from annotator.standard.service import Version
    from annotator.web.page_context import PageContext

SHOWN = 30


def draw_history(versions: "list[Version]") -> None:
    """The newest first, each against the one before it."""
    from annotator.standard.service import compare_draft

    for place, version in enumerate(versions[:SHOWN]):
        kind = tr("semantic") if version.change == "semantic" else tr("minor")
        name = say_version(version) if version.version == 1 else f"{say_version(version)} · {kind}"
        with st.expander(escape_markdown(name), expanded=place == 0):
            if version.why:
                st.html(show_as("narrative", version.why))
            if place + 1 < len(versions):
                draw_comparison(compare_draft(versions[place + 1].rubric, version.rubric))
            else:
                draw_note(tr("The first version."))
    if len(versions) > SHOWN:
        draw_note(tr("Older versions: annotator rubric list DATASET"))


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
