"""What the queue's filter lets through: as a list, as charts, to be settled in bulk, and as a file. Only the open part is drawn."""

from html import escape

import streamlit as st

from annotator.adjudication.queue_records import QueuePage
from annotator.domain.messages import say
from annotator.web.adjudication.bulk import draw_policies
from annotator.web.adjudication.queue_files import draw_files
from annotator.web.adjudication.queue_filters import Choices, clear
from annotator.web.adjudication.queue_going import LIST, PART
from annotator.web.adjudication.queue_table import draw_table
from annotator.web.adjudication.queue_url import QueueAddress
from annotator.web.adjudication.queue_words import describe_filter
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.page_context import PageContext

CHARTS, POLICIES, FILES = say("Where they lie"), say("Settle in bulk"), say("File for a meeting")


def draw_parts(context: PageContext, found: QueuePage, here: QueueAddress, choices: Choices) -> None:
    """The filter in words, and its parts as tabs."""
    _draw_filter(found, here)
    names = [LIST, *([CHARTS] if found.open else []), POLICIES, FILES]
    parts = st.tabs([tr(name) for name in names], key=PART, on_change="rerun")
    for name, part in zip(names, parts, strict=True):
        if part.open:
            with part:
                _draw_part(name, context, found, here, choices)


def _draw_part(
    name: str, context: PageContext, found: QueuePage, here: QueueAddress, choices: Choices
) -> None:
    if name == CHARTS:
        from annotator.web.adjudication.queue_charts import (
            draw_charts,  # Altair: only for who looks at charts
        )

        draw_charts(context, choices.summary, here)
        return
    if name == POLICIES:
        draw_policies(context, context.dataset or "", here)
        return
    if name == FILES:
        draw_files(context, context.dataset or "", here)
        return
    if not found.items:
        asked = describe_filter(here.wanted)
        draw_note(tr("This filter lets nothing through.") if asked else tr("Nothing waits for a decision."))
        return
    draw_table(found, here, decided=here.wanted.shown != "open", now=context.now)


def _draw_filter(found: QueuePage, here: QueueAddress) -> None:
    """How many it lets through, and the way back to all. Its place is there without a filter too."""
    place = st.container(horizontal=True, vertical_alignment="center")
    conditions = describe_filter(here.wanted)
    if not conditions:
        return
    every = found.open + (found.decided if here.wanted.shown != "open" else 0)
    shown = tr(
        "{n} of {all}: {conditions}.",
        n=show_number(found.total),
        all=show_number(every),
        conditions="; ".join(conditions),
    )
    with place:
        st.html(f'<p class="annotator-note" dir="auto">{escape(shown)}</p>', width="content")
        st.button(tr("Clear the filters"), on_click=clear, type="tertiary", icon=":material/filter_alt_off:")
