"""The queue of disputes: how many wait and why, how long they last, and a page of them; the way into deciding and out to a release.

What is shown stands in the address. Of fifty thousand disputes the page reads fifty and the counts.
"""

from html import escape

import streamlit as st

from annotator.adjudication.queue_records import QueuePage
from annotator.adjudication.queue_service import compute_queue_pace, list_queue, summarize_queue
from annotator.domain.people import includes
from annotator.labeling.my_work_service import list_work_categories
from annotator.people.service import list_people
from annotator.web.adjudication.queue_due import finish_impacts
from annotator.web.adjudication.queue_duration import describe_pace
from annotator.web.adjudication.queue_empty import draw_nothing_disputed
from annotator.web.adjudication.queue_filters import Choices, draw_filters
from annotator.web.adjudication.queue_going import DATASET, NEXT, find_start, go, read_here
from annotator.web.adjudication.queue_parts import draw_parts
from annotator.web.adjudication.queue_table import SIZE
from annotator.web.adjudication.queue_url import QueueAddress
from annotator.web.kit.figures import find_zone
from annotator.web.kit.focus import keep_focus
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import require_dataset
from annotator.web.kit.text import show_as
from annotator.web.page_context import PageContext


def draw_queue_page(context: PageContext) -> None:
    """The page as long as no pair is asked for by its address."""
    st.title(tr("Disagreements"))
    dataset = st.session_state[DATASET] = require_dataset(context)
    choices = _find_choices(context, dataset)
    here = read_here(categories=choices.categories, people=(*choices.annotators, *choices.leads))
    finish_impacts(context, dataset, choices.summary.due)
    found = list_queue(
        context.database, context.actor, dataset, here.wanted, sort=here.sort, offset=find_start(), limit=SIZE, now=context.now,
    )  # fmt: skip
    if not found.open and not found.decided:
        draw_nothing_disputed(context, dataset, decided=0)
        return
    if found.open:
        _draw_head(context, dataset, found, here)
    else:
        draw_nothing_disputed(context, dataset, decided=found.decided)
    st.header(tr("The queue"))
    draw_filters(here, choices)
    draw_parts(context, found, here, choices)
    keep_focus()


def _find_choices(context: PageContext, dataset: str) -> Choices:
    database, actor = context.database, context.actor
    people = list_people(database, actor, dataset=dataset)
    leads = [
        one.username
        for one in people
        if any(includes(held.role, "lead") for held in one.memberships) and not one.disabled
    ]
    return Choices(
        summary=summarize_queue(database, actor, dataset),
        categories=list_work_categories(database, actor, dataset),
        annotators=[one.username for one in people],
        leads=sorted(leads, key=lambda name: name != actor.username),
        reader=actor.username,
    )


def _draw_head(context: PageContext, dataset: str, found: QueuePage, here: QueueAddress) -> None:
    """How much there is to decide, how long that lasts, and the way to begin."""
    waiting = tr_n("{n:,} pair waits for a decision", "{n:,} pairs wait for a decision", found.open)
    st.html(show_as("verdict", waiting, place="h2"))
    said = []
    if not found.ungraded:
        said.append(
            tr_n(
                "It has a settled grade that something speaks against.",
                "All of them have a settled grade that something speaks against.",
                found.open,
            )
        )
    elif found.ungraded < found.open:
        said.append(
            tr_n(
                "{n:,} of them has no settled grade until then; the others have one that something speaks against.",
                "{n:,} of them have no settled grade until then; the others have one that something speaks against.",
                found.ungraded,
            )
        )
    now = context.now.astimezone(find_zone())
    pace = compute_queue_pace(context.database, context.actor, dataset, now=now)
    st.html(f'<p class="annotator-step">{escape(join_sentences([*said, *describe_pace(pace)]))}</p>')
    st.button(
        tr("Decide the next one"),
        type="primary",
        icon=":material/gavel:",
        on_click=go,
        args=(here,),
        kwargs={"pair": NEXT},
    )
