"""A page of the queue as a table, each row a link to its case; and the ways to the pages before and after it.

Grades stand sorted and without names, so that a place says nothing about who gave one.
"""

from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.disputes import Reason
from annotator.web.adjudication.queue_going import go, list_words
from annotator.web.adjudication.queue_url import QueueAddress
from annotator.web.adjudication.queue_words import name_decided, name_reasons
from annotator.web.kit.figures import show_day, show_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.row_table import draw_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    from annotator.adjudication.queue_records import Disagreement, QueuePage

SIZE = 50
LONGEST = 60  # characters of a query or a title that say which one it is


def draw_table(
    found: "QueuePage",
    here: QueueAddress,
    *,
    due: "Collection[str]" = (),
    decided: bool,
    now: datetime,
) -> None:
    """The rows. `due`: the queries whose impact is still to be computed; `decided`: whether rows may be decided ones."""
    columns = [
        tr("query"), tr("document"), tr("grades"), tr("apart"), tr("impact"), tr("why"), tr("category"), tr("since"),
    ]  # fmt: skip
    if decided:
        columns.insert(3, tr("settled as"))
    told = [item for item in found.items if not item.hidden]
    if len(told) < len(found.items):
        draw_note(tr("Of a pair that you have still to judge yourself nothing is shown."))
    draw_rows(
        "queue rows",
        tr("The disputes. Choose one to decide it."),
        columns,
        [(item.pair, _describe(item, due=item.query_id in due, decided=decided, now=now)) for item in told],
        chosen=None,
        on_choose=lambda pair: go(here, pair=pair),
        links=["/disagreements?" + urlencode(list_words(here, pair=item.pair)) for item in told],
        tall=True,
    )
    _draw_ways(found, here)


def _describe(item: "Disagreement", *, due: bool, decided: bool, now: datetime) -> list[str]:
    cells = [
        _name(item.query_id, item.query),
        _name(item.doc_id, item.title),
        show_grades(item),
        str(item.distance),
        "…" if due else show_number(item.impact, 2),
        "; ".join([name_reasons(item.waiting or item.reasons), *_list_marks(item)]),
        item.category or "",
        show_day(item.since, now=now),
    ]
    if decided:
        cells.insert(3, name_decided(item.decided))
    return cells


def show_grades(item: "Disagreement") -> str:
    """Sorted; a dash for each who could not rate the pair."""
    return " ".join([*map(str, sorted(item.grades.values())), *("–" for _ in item.unrateable)])


def _name(one_id: str, text: str) -> str:
    """The id, and the words that it stands for as far as there is room."""
    words = " ".join(text.split())
    if not words or words == one_id:
        return one_id
    return f"{one_id} {words if len(words) <= LONGEST else words[: LONGEST - 1] + '…'}"


def _list_marks(item: "Disagreement") -> list[str]:
    """What else there is to know of a pair before one opens it."""
    flips = item.flips or 0
    marks = (
        (flips, tr_n("order of {n:,} pair of systems", "order of {n:,} pairs of systems", flips)),
        (item.held_by, tr("taken by {name}", name=item.held_by)),
        (item.assigned_to, tr("given to {name}", name=item.assigned_to)),
        (item.put_off, tr("put off by you")),
        (item.yours, tr("judged by you")),
        (item.taste, tr("only taste")),
        (item.simulated, tr("simulated")),
        (Reason.QUALITY in item.reasons and not item.waiting, tr("was reopened")),
    )
    return [said for holds, said in marks if holds]


def _draw_ways(found: "QueuePage", here: QueueAddress) -> None:
    """Where one is in the list, and the way on."""
    if found.total <= SIZE:
        return
    first, last = found.offset + 1, found.offset + len(found.items)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            tr("Earlier ones"),
            on_click=go,
            args=(here,),
            kwargs={"start": max(0, found.offset - SIZE), "elsewhere": True},
            disabled=not found.offset,
        )
        st.button(
            tr("Further ones"),
            on_click=go,
            args=(here,),
            kwargs={"start": found.offset + SIZE, "elsewhere": True},
            disabled=last >= found.total,
        )
        st.text(tr("{first:,} to {last:,} of {total:,}", first=first, last=last, total=found.total))
