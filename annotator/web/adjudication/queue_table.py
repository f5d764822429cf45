"""Show the queue as a table and as charts by grades and by category, each part a link into it.

Each row links to its case. Grades are sorted and without names, so their position does not tell who gave one.
A click on a cell or bar filters the queue; the tables beside the charts offer the same by keyboard.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.adjudication.queue_records import QueueFilter, QueueSummary
from annotator.dataset.service import read_current_rubric
from annotator.domain.settling import QueueReason
from annotator.domain.svg import colour_cell
from annotator.web.adjudication.queue_filters import name_decided, name_reasons
from annotator.web.adjudication.queue_url import QueueAddress, go, list_parameters
from annotator.web.kit.charts import AMBER
from annotator.web.kit.figures import show_day, show_number
from annotator.web.kit.heat_map import DARK, LIGHT, name_grades
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.row_table import draw_rows
from annotator.web.kit.tables import Link, draw_link_table
from annotator.web.page_context import PageContext

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
        tr("query"),
        tr("document"),
        tr("grades"),
        tr("apart"),
        tr("impact"),
        tr("why"),
        tr("category"),
        tr("since"),
    ]
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
        links=["/disagreements?" + urlencode(list_parameters(here, pair=item.pair)) for item in told],
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
        (QueueReason.QUALITY in item.reasons and not item.waiting, tr("was reopened")),
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


MOST_CATEGORIES = 12
LOW, HIGH = (0, 1, 2), (1, 2, 3)
BAR, ROW, AXIS = 16, 30, 64
HEIGHT = 250
EMPTY = "#f4f5f4"
Row = dict[str, Any]
Chart = Any
"""Of Altair."""


def draw_charts(context: PageContext, summary: QueueSummary, here: QueueAddress) -> None:
    """Both of them; categories only where there are several."""
    _version, rubric = read_current_rubric(context.database, context.actor, context.dataset or "")
    names = name_grades([definition.name for definition in rubric.grades])
    categories = list_categories(summary)
    if summary.by_grades:
        st.header(tr("Which grades are confused"))
        _draw(
            "queue-grades",
            chart_grades(summary, names),
            describe_grades(summary),
            lambda cell: go(_only(here, grades=(int(cell["low"]), int(cell["high"]))), elsewhere=True),
        )
        with st.expander(tr("Numbers by grades")):
            rows = [
                (f"{names[low]} – {names[high]}", _only(here, grades=(low, high)), n)
                for (low, high), n in sorted(summary.by_grades.items())
            ]
            _draw_numbers(tr("Numbers by grades"), tr("grades"), rows)
    if len(summary.by_category) > 1:
        st.header(tr("In which categories"))
        _draw(
            "queue-categories",
            chart_categories(categories),
            describe_categories(categories),
            lambda cell: go(_only(here, category=str(cell["category"])), elsewhere=True),
        )
        with st.expander(tr("Numbers by category")):
            told = [(name or tr("(none)"), _only(here, category=name), n) for name, n in categories]
            _draw_numbers(tr("Numbers by category"), tr("category"), told)


def list_categories(summary: QueueSummary) -> list[tuple[str, int]]:
    """Each category ("" for queries that have none) with its disputes, most first."""
    found = ((name or "", n) for name, n in summary.by_category.items())
    return sorted(found, key=lambda one: (-one[1], one[0]))


def list_cells(by_grades: Mapping[tuple[int, int], int], names: Sequence[str]) -> list[Row]:
    """Each cell with its grades, its count, its ground and the colour of its number."""
    most = max(by_grades.values(), default=0) or 1
    cells = []
    for low in LOW:
        for high in HIGH:
            if low < high:
                n = by_grades.get((low, high), 0)
                fill, dark = colour_cell(n, most, same=False) if n else (EMPTY, True)
                cells.append(
                    {
                        "low": low,
                        "high": high,
                        "lower": names[low],
                        "higher": names[high],
                        "disputes": n,
                        "fill": fill,
                        "ink": DARK if dark else LIGHT,
                    }
                )
    return cells


def chart_grades(summary: QueueSummary, names: Sequence[str]) -> Chart:
    """Rows the lower grade, columns the higher; a click on a cell picks its grades (parameter `cell`: low, high)."""
    import altair as alt

    axis: Row = {
        "ticks": False,
        "domain": False,
        "labelLimit": 150,
        "labelOverlap": False,
        "labelFlush": False,
    }
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
    picked = alt.selection_point(name="cell", fields=["low", "high"], on="click", clear=False)
    cells = base.mark_rect(cursor="pointer").encode(color=alt.Color("fill:N", scale=None)).add_params(picked)
    counts = base.mark_text(fontSize=15, cursor="pointer").encode(
        text=alt.Text("disputes:Q", format=",d"), color=alt.Color("ink:N", scale=None)
    )
    return alt.layer(cells, counts).properties(height=HEIGHT)


def describe_grades(summary: QueueSummary) -> str:
    """The heat map in words, most first."""
    ordered = sorted(summary.by_grades.items(), key=lambda one: (-one[1], one[0]))
    said = [
        tr("{low} against {high}: {n}", low=low, high=high, n=show_number(n)) for (low, high), n in ordered
    ]
    return tr("Open disputes by their lowest and highest grade: {counts}.", counts="; ".join(said))


def chart_categories(categories: Sequence[tuple[str, int]]) -> Chart:
    """A bar for each of the largest categories; a click on one picks it (parameter `cell`: category)."""
    import altair as alt

    rows = [
        {"category": name, "name": name or tr("(none)"), "disputes": n}
        for name, n in categories[:MOST_CATEGORIES]
    ]
    picked = alt.selection_point(name="cell", fields=["category"], on="click", clear=False)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=180, ticks=False, domain=False)),
        x=alt.X("disputes:Q", title=tr("open disputes"), axis=alt.Axis(tickMinStep=1, format=",d")),
        tooltip=[
            alt.Tooltip("name:N", title=tr("category")),
            alt.Tooltip("disputes:Q", title=tr("open"), format=",d"),
        ],
    )
    bars = base.mark_bar(color=AMBER, size=BAR, cursor="pointer").add_params(picked)
    return alt.layer(bars).properties(height=len(rows) * ROW + AXIS)


def describe_categories(categories: Sequence[tuple[str, int]]) -> str:
    """The bars in words."""
    said = [f"{name or tr('(none)')} {show_number(n)}" for name, n in categories[:MOST_CATEGORIES]]
    return tr("Open disputes by category: {counts}.", counts="; ".join(said))


def _only(here: QueueAddress, **conditions: Any) -> QueueAddress:
    """Just what was counted: the charts count all that is open, whatever filter is set."""
    return replace(here, wanted=QueueFilter(**conditions))


def _draw(key: str, chart: Chart, words: str, pick: Callable[[Mapping[str, Any]], None]) -> None:
    ink = {"labelColor": "currentcolor", "titleColor": "currentcolor"}
    drawn = chart.configure_axis(**ink).properties(padding={"left": 0, "top": 4, "right": 6, "bottom": 8})

    def take() -> None:
        cells = st.session_state[key]["selection"].get("cell")
        if cells:
            pick(cells[0])

    st.altair_chart(drawn, alt=words, height=chart.height, key=key, selection_mode="cell", on_select=take)


def _draw_numbers(caption: str, column: str, rows: Sequence[tuple[str, QueueAddress, int]]) -> None:
    draw_link_table(
        caption,
        (column, tr("open")),
        [
            (
                name,
                Link(show_number(n), "/disagreements?" + urlencode(list_parameters(address)), f"{name}: {n}"),
            )
            for name, address, n in rows
        ],
        tall=True,
    )
