"""Draw the parts of a long list: its position, "26–50 of 340", buttons to the previous and next part, and filters.

The URL holds the start of the part (`from=25`), so it can be shared and the browser's back button works. An
invalid start, or one after the end of the list, shows the last part. A changed filter calls `on_change`, which
shows the list from its beginning.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from functools import partial
from html import escape
from typing import TypeVar

import streamlit as st

from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import find_zone
from annotator.web.kit.messages import tr
from annotator.web.kit.tables import write_link

Part = TypeVar("Part")
START = "from"
LONGEST = 12  # digits of a number in an address


def find_start(size: int) -> int:
    """Return the number of entries before the URL's part of the list: a multiple of `size`."""
    start = st.query_params.get(START, "")
    number = int(start) if start.isdecimal() and len(start) < LONGEST else 0
    return number - number % size


def find_page_number(key: str) -> int:
    """Return the chosen page of the `st.pagination` with this key, from 1, before it is drawn."""
    number = str(st.session_state.get(key, st.query_params.get(key, "1")))
    return max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 9 else 1


def find_last_start(total: int, size: int) -> int:
    """Return the start of the last part of a list."""
    return max(0, total - 1) // size * size


def show_part(start: int, shown: int, total: int) -> str:
    """Return the position: "26–50 of 340"."""
    return tr("{first:,}–{last:,} of {total:,}", first=start + 1, last=start + shown, total=total)


def draw_pager(
    start: int, shown: int, total: int, *, size: int, key: str, go: Callable[[int], None] | None = None
) -> None:
    """Draw the position and the buttons; nothing if the list has one part.

    `start`: entries before the part; `shown`: entries in the part. `key`: of the container of the list. `go(start)`
    shows another part from the next run on, by default by the URL; the buttons are then new, and the focus can
    move to the list.
    """
    if total <= size:
        return
    go = go or partial(go_to, container=key)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            tr("Previous"),
            key=f"{key} previous {start}",
            icon=":material/chevron_left:",
            on_click=go,
            args=(max(0, start - size),),
            disabled=start <= 0,
        )
        st.button(
            tr("Next"),
            key=f"{key} next {start}",
            icon=":material/chevron_right:",
            on_click=go,
            args=(start + size,),
            disabled=start + shown >= total,
        )
        st.text(show_part(start, shown, total))


def draw_link_pager(start: int, shown: int, total: int, *, size: int, make_url: Callable[[int], str]) -> None:
    """Draw the position and links to the previous and next part, whose URLs `make_url(start)` returns."""
    if total <= size:
        return
    links = []
    if start > 0:
        links.append(write_link(tr("Previous"), make_url(max(0, start - size))))
    if start + shown < total:
        links.append(write_link(tr("Next"), make_url(start + size)))
    position = escape(show_part(start, shown, total))
    st.html(f'<p class="annotator-step">{" &nbsp; ".join([*links, position])}</p>')


def read_part(read: Callable[[int], Part], size: int, count: Callable[[Part], int]) -> tuple[int, Part]:
    """Return the URL's part of a list, which `read(start)` returns, with its start; the last part after the end.

    `count`: returns the number of entries of the whole list.
    """
    start = find_start(size)
    part = read(start)
    if start and start >= count(part) > 0:
        start = find_last_start(count(part), size)
        part = read(start)
    return start, part


def go_to(start: int, *, container: str) -> None:
    """Write `start` into the URL, and move the focus to the container of the list."""
    if start:
        st.query_params[START] = str(start)
    else:
        st.query_params.pop(START, None)
    note_press(container, into_view=True)


def keep_start(session_key: str, container: str, start: int) -> None:
    """Keep `start` in the session instead, for a list below another one."""
    st.session_state[session_key] = start
    note_press(container, into_view=True)


Value = TypeVar("Value", bound=str)
EVERYTHING = ""  # Streamlit takes None for an empty field, and offers to clear it
DAY_WIDTH = 160


def draw_choice(
    label: str,
    names: Mapping[Value, str],
    *,
    everything: str,
    key: str,
    width: int,
    on_change: Callable[[], None],
) -> Value | None:
    """Draw the choice of one of the names, and return the chosen value; None for `everything`."""
    shown = {EVERYTHING: everything} | {str(value): name for value, name in names.items()}
    chosen = st.selectbox(
        label,
        list(shown),
        key=key,
        on_change=on_change,
        width=width,
        format_func=lambda value: shown.get(value, value),
    )
    return next((value for value in names if value == chosen), None)


def draw_days(first_key: str, last_key: str, *, on_change: Callable[[], None]) -> list[date | None]:
    """Draw the fields for the first and last day, and return both; None for an empty field."""
    chosen = [
        st.date_input(label, value=None, key=key, on_change=on_change, width=DAY_WIDTH, format="YYYY-MM-DD")
        for label, key in ((tr("First day"), first_key), (tr("Last day"), last_key))
    ]
    return [day if isinstance(day, date) else None for day in chosen]


def find_ends(first: date | None, last: date | None) -> tuple[datetime | None, datetime | None]:
    """Return (start of the first day, end of the last day) in the reader's time zone."""
    zone = find_zone()
    return (
        None if first is None else datetime.combine(first, time.min, zone),
        None if last is None else datetime.combine(last, time.max, zone),
    )
