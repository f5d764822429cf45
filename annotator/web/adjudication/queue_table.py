"""Draw the queue as a table, and as charts by grades and by category.

Each row links to its pair. Grades are sorted and without names, so that their position does not show who gave
them. A click on a cell or bar filters the queue; the tables of the charts have links for the keyboard.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import sqrt
from typing import Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.adjudication.queue.queue_records import Disagreement, QueueFilter, QueuePage, QueueSummary
from annotator.dataset.service import read_current_rubric
from annotator.domain.figures import show_number
from annotator.domain.grades import list_local_names
from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.settling import QueueReason
from annotator.web.adjudication.queue_filters import name_decided, name_reasons
from annotator.web.adjudication.queue_url import TAB, QueueAddress, go, list_parameters
from annotator.web.kit.charts import (
    AMBER,
    BAR,
    CELL_AXIS,
    PALE,
    find_height,
    layer_counts,
    pick_cell,
    tint_cell,
    tint_neutral,
)
from annotator.web.kit.components import draw_rows
from annotator.web.kit.figures import show_day
from annotator.web.kit.lists import draw_pager
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_clickable, draw_note
from annotator.web.kit.tables import Link, draw_link_table
from annotator.web.kit.text import name_document, shorten
from annotator.web.kit.words import name_grades
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext

SIZE = 25
LIST_KEY = "queue-list"
LONGEST = 60  # narrow letters of a query that say which one it is


def draw_table(page: QueuePage, here: QueueAddress, *, decided: bool, now: datetime) -> None:
    """Draw the disagreements of the page. `decided`: whether some can be decided."""
    columns = [
        tr("query"),
        tr("document"),
        tr("grades"),
        tr("gap"),
        tr("impact"),
        tr("why"),
        tr("category"),
        tr("since"),
    ]
    if decided:
        columns.insert(3, tr("settled grade"))
    if page.blind_pairs:
        draw_note(tr(describe_blind_pairs(page.blind_pairs)))
    with st.container(key=LIST_KEY):
        draw_rows(
            "queue rows",
            tr("Disagreements. Choose one to decide it."),
            columns,
            [(item.pair, _describe(item, decided=decided, now=now)) for item in page.items],
            chosen=None,
            on_choose=lambda pair: go(here, pair=pair),
            links=[
                make_url("/disagreements", **list_parameters(here, pair=item.pair)) for item in page.items
            ],
            tall=True,
        )
    draw_pager(
        page.offset,
        len(page.items),
        page.total,
        size=SIZE,
        go=lambda start: go(here, start=start, container=LIST_KEY),
        key=LIST_KEY,
    )


def _describe(item: Disagreement, *, decided: bool, now: datetime) -> list[str]:
    cells = [
        " ".join(dict.fromkeys([item.query_id, shorten(" ".join(item.query.split()), LONGEST)])).strip(),
        "\n".join(name_document(item.doc_id, item.title)),
        show_grades(item),
        str(item.distance),
        show_number(item.impact, 2),
        "; ".join([name_reasons(item.waiting or item.reasons), *_list_notes(item)]),
        item.category or "",
        show_day(item.since, now=now),
    ]
    if decided:
        cells.insert(3, name_decided(item.decided))
    return cells


def show_grades(item: Disagreement) -> str:
    """Return the grades in ascending order, and a dash for each annotator who could not rate the pair."""
    return " ".join([*map(str, sorted(item.grades.values())), *("–" for _ in item.unrateable)])


def _list_notes(item: Disagreement) -> list[str]:
    flips = item.flips or 0
    notes = (
        (
            flips,
            tr_n(
                "could change the ranking of {n:,} system pair",
                "could change the ranking of {n:,} system pairs",
                flips,
            ),
        ),
        (item.held_by, tr("open by {name}", name=item.held_by)),
        (item.assigned_to, tr("assigned to {name}", name=item.assigned_to)),
        (item.put_off, tr("set to later by you")),
        (item.yours, tr("judged by you")),
        (item.taste, tr("one grade apart, same relevance")),
        (item.simulated, tr("simulated")),
        (QueueReason.QUALITY in item.reasons and not item.waiting, tr("reopened")),
    )
    return [note for holds, note in notes if holds]


MOST_CATEGORIES = 12
LOW, HIGH = (0, 1, 2), (1, 2, 3)
HEIGHT = 250
EMPTY = tint_neutral(0.08)
Row = dict[str, Any]
Chart = Any
"""A chart of Altair."""


def draw_charts(context: PageContext, summary: QueueSummary, here: QueueAddress) -> None:
    _version, rubric = context.call(read_current_rubric, context.dataset or "")
    names = name_grades([tr(name) for name in list_local_names(rubric)])
    categories = list_categories(summary)
    if summary.by_grades:
        st.header(tr("Confused grades"))
        _draw(
            "queue-grades",
            chart_grades(summary, names),
            describe_grades(summary),
            lambda cell: go(_only(here, grades=(int(cell["low"]), int(cell["high"]))), elsewhere=True),
        )
        with st.expander(tr("Table by grades")):
            rows = [
                (f"{names[low]} – {names[high]}", _only(here, grades=(low, high)), n)
                for (low, high), n in sorted(summary.by_grades.items())
            ]
            _draw_numbers(tr("Table by grades"), tr("grades"), rows)
    if len(summary.by_category) > 1:
        st.header(tr("By category"))
        _draw(
            "queue-categories",
            chart_categories(categories),
            describe_categories(categories),
            lambda cell: go(_only(here, category=str(cell["category"])), elsewhere=True),
        )
        with st.expander(tr("Table by category")):
            category_rows = [(name or tr("(none)"), _only(here, category=name), n) for name, n in categories]
            _draw_numbers(tr("Table by category"), tr("category"), category_rows)


def list_categories(summary: QueueSummary) -> list[tuple[str, int]]:
    """Return each category ("" for queries without one) with its number of disagreements, most first."""
    categories = ((name or "", n) for name, n in summary.by_category.items())
    return sorted(categories, key=lambda category: (-category[1], category[0]))


def list_cells(by_grades: Mapping[tuple[int, int], int], names: Sequence[str]) -> list[Row]:
    """Return each cell with its grades, its count, its background and the colour of its number."""
    most = max(by_grades.values(), default=0) or 1
    cells = []
    for low in LOW:
        for high in HIGH:
            if low < high:
                n = by_grades.get((low, high), 0)
                fill, ink = tint_cell(sqrt(n / most), same=False) if n else (EMPTY, PALE)
                cells.append(
                    {
                        "low": low,
                        "high": high,
                        "lower": names[low],
                        "higher": names[high],
                        "disputes": n,
                        "fill": fill,
                        "ink": ink,
                    }
                )
    return cells


def chart_grades(summary: QueueSummary, names: Sequence[str]) -> Chart:
    """Return the heat map: lower grades in rows, higher in columns.

    A click selects a cell (parameter `cell`: low, high).
    """
    import altair as alt

    axis = {"labelLimit": 150, **CELL_AXIS}
    base = alt.Chart(alt.InlineData(list_cells(summary.by_grades, names))).encode(
        y=alt.Y("lower:N", sort=list(names), title=tr("lower grade"), axis=alt.Axis(**axis)),
        x=alt.X(
            "higher:N",
            sort=list(names),
            title=tr("higher grade"),
            axis=alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')", **axis),
        ),
        tooltip=[
            alt.Tooltip("lower:N", title=tr("lower grade")),
            alt.Tooltip("higher:N", title=tr("higher grade")),
            alt.Tooltip("disputes:Q", title=tr("open"), format=",d"),
        ],
    )
    return layer_counts(base, "disputes", "low", "high", size=15).properties(height=HEIGHT)


def describe_grades(summary: QueueSummary) -> str:
    ordered = sorted(summary.by_grades.items(), key=lambda cell: (-cell[1], cell[0]))
    counts = [
        tr("{low} against {high}: {n}", low=low, high=high, n=show_number(n)) for (low, high), n in ordered
    ]
    return tr("Open disagreements by lowest and highest grade: {counts}.", counts="; ".join(counts))


def chart_categories(categories: Sequence[tuple[str, int]]) -> Chart:
    """Return a bar chart of the largest categories. A click selects one (parameter `cell`: category)."""
    import altair as alt

    rows = [
        {"category": name, "name": name or tr("(none)"), "disputes": n}
        for name, n in categories[:MOST_CATEGORIES]
    ]
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=180, ticks=False, domain=False)),
        x=alt.X("disputes:Q", title=tr("open disagreements"), axis=alt.Axis(tickMinStep=1, format=",d")),
        tooltip=[
            alt.Tooltip("name:N", title=tr("category")),
            alt.Tooltip("disputes:Q", title=tr("open"), format=",d"),
        ],
    )
    bars = base.mark_bar(color=AMBER, size=BAR, cursor="pointer").add_params(pick_cell("category"))
    return alt.layer(bars).properties(height=find_height(rows))


def describe_categories(categories: Sequence[tuple[str, int]]) -> str:
    counts = [f"{name or tr('(none)')} {show_number(n)}" for name, n in categories[:MOST_CATEGORIES]]
    return tr("Open disagreements by category: {counts}.", counts="; ".join(counts))


def _only(here: QueueAddress, **conditions: Any) -> QueueAddress:
    """Return the address with only these conditions: the charts count all open pairs."""
    return replace(here, wanted=QueueFilter(**conditions))


def _draw(key: str, chart: Chart, words: str, pick: Callable[[Mapping[str, Any]], None]) -> None:
    ink = {"labelColor": "currentcolor", "titleColor": "currentcolor"}
    drawn = chart.configure_axis(**ink).properties(padding={"left": 0, "top": 4, "right": 6, "bottom": 8})
    draw_clickable(key, drawn, words, pick)


def _draw_numbers(caption: str, column: str, rows: Sequence[tuple[str, QueueAddress, int]]) -> None:
    draw_link_table(
        caption,
        (column, tr("open")),
        [
            (
                name,
                Link(
                    show_number(n),
                    make_url("/disagreements", **{**list_parameters(address), TAB: None}),
                    f"{name}: {n}",
                ),
            )
            for name, address, n in rows
        ],
        tall=True,
    )
