"""The queue of disagreements as a table whose chosen row is the case on the screen; and its two filters.

The chosen pair stands in the address (`?pair=`), so that a case can be sent to somebody.
"""

from hashlib import sha256
from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.case_choice import SHOWN
from annotator.web.choices import find_asked, heed_address
from annotator.web.guidance import draw_note
from annotator.web.messages import tr
from annotator.web.names import name_word
from annotator.web.times import show_time

if TYPE_CHECKING:
    from annotator.domain.queue import Disagreement

SORTS = ("distance", "impact", "age")
ROWS, ROW_HEIGHT = 5, 35
DOCUMENT_WIDTH = 262  # so that an id of any length leaves the columns up to the marks in view at 1280


def find_sort() -> str:
    """The order that is chosen, before its control is drawn."""
    return find_asked("sort", SORTS) or SORTS[0]


def draw_filters() -> str:
    """What comes first, and which part of the queue is shown; returns the latter."""
    with st.container(horizontal=True):
        meaning = tr(
            "distance: the furthest apart first. impact: first what could move its query's score most. "
            "age: the longest open first."
        )
        _choose(tr("Sort by"), SORTS, "sort", meaning)
        return _choose(tr("Show"), SHOWN, "show")


def _choose(label: str, options: tuple[str, ...], key: str, meaning: str | None = None) -> str:
    heeded = heed_address(key, options)
    chosen: str | None = st.segmented_control(
        label,
        options,
        default=options[0] if not heeded else None,
        format_func=name_word,
        required=True,
        key=key,
        bind="query-params",
        wrap=True,
        help=meaning,
    )
    return chosen or options[0]


def draw_queue(queue: "list[Disagreement]", chosen: str | None, *, statuses: bool) -> None:
    """The table. Its key follows its content, so that a row never stands for another pair. `statuses`: whether rows of
    several are shown, so that each has to say which is its own."""
    if not queue:
        draw_note(tr("There is none of this kind."))
        return
    pairs = [item.pair for item in queue]
    key = f"queue {sha256(repr(pairs).encode()).hexdigest()[:12]}"
    st.dataframe(
        [_describe(item, status=statuses) for item in queue],
        hide_index=True,
        height=(min(len(queue), ROWS) + 1) * ROW_HEIGHT + 2,
        column_config={tr("document"): st.column_config.TextColumn(width=DOCUMENT_WIDTH)},
        key=key,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [pairs.index(chosen)] if chosen in pairs else []}},
        on_select=lambda: _follow(key, pairs),
        alt=tr("The disagreements. Choose a row to see its case below."),
    )


def _follow(key: str, pairs: list[str]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        st.query_params["pair"] = pairs[rows[0]]


def _describe(item: "Disagreement", *, status: bool) -> dict[str, object]:
    """A row. Grades are sorted, so that a place says nothing about who gave one."""
    marks = [
        word
        for word, holds in (
            (name_word("reopened"), item.reopened),
            (tr("simulated"), item.simulated),
            (tr("judged by you"), item.yours),
        )
        if holds
    ]
    return {
        tr("query"): item.query_id,
        tr("grades"): " ".join(str(grade) for grade in sorted(item.grades.values())),
        tr("document"): item.doc_id,
        tr("apart"): item.distance,
        tr("impact"): round(item.impact, 2),
        **({tr("status"): name_word(item.status)} if status else {}),
        tr("since"): show_time(item.since),
        tr("marks"): ", ".join(marks),
        tr("category"): item.category or "",
    }
