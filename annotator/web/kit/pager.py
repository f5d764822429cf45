"""Draw the position in a long list, "26–50 of 340", and buttons to the previous and next part.

The URL holds the start of the part (`from=25`), so it can be shared and the browser's back button works. An
invalid start, or one after the end of the list, shows the last part.
"""

from collections.abc import Callable

import streamlit as st

from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr

START = "from"
LONGEST = 12  # digits of a number in an address


def find_start(size: int) -> int:
    """Return the number of entries before the URL's part of the list: a multiple of `size`."""
    start = st.query_params.get(START, "")
    number = int(start) if start.isdecimal() and len(start) < LONGEST else 0
    return number - number % size


def find_last_start(total: int, size: int) -> int:
    """Return the start of the last part of a list."""
    return max(0, total - 1) // size * size


def show_part(start: int, shown: int, total: int) -> str:
    """Return the position: "26–50 of 340"."""
    return tr("{first:,}–{last:,} of {total:,}", first=start + 1, last=start + shown, total=total)


def draw_pager(
    start: int, shown: int, total: int, *, size: int, go: Callable[[int], None], key: str = "pager"
) -> None:
    """Draw the position and the buttons; nothing if the list has one part.

    `start`: entries before the part; `shown`: entries in the part. `go(start)` shows another part from the
    next run on; the buttons are then new, and the focus can move to the list.
    """
    if total <= size:
        return
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


def go_to(start: int, *, container: str) -> None:
    """Write `start` into the URL, and move the focus to the container of the list."""
    if start:
        st.query_params[START] = str(start)
    else:
        st.query_params.pop(START, None)
    note_press(container, into_view=True)
