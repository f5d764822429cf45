"""Which of many people a page draws: those who match what is searched for, so many at a time.

A list of a few people is drawn whole, without anything to search or turn.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note

SIZE = 50
Named = TypeVar("Named")


def choose_people(people: Sequence[Named], names: Callable[[Named], Sequence[str]]) -> Sequence[Named]:
    """Draw the search and the pages where there are more than SIZE, and return who is to be drawn. `names`: by what a person
    is found."""
    if len(people) <= SIZE:
        return people
    asked = st.text_input(tr("Find a person"), key="person", bind="query-params").strip().casefold()
    found = [one for one in people if any(asked in name.casefold() for name in names(one))]
    if not found:
        st.text(tr("Nobody is called so."))
        return []
    pages = -(-len(found) // SIZE)
    page = min(pages, max(1, _read_page()))
    first = (page - 1) * SIZE
    shown = found[first : first + SIZE]
    draw_note(
        tr(
            "{first} to {last} of {all} people.",
            first=show_number(first + 1), last=show_number(first + len(shown)), all=show_number(len(found)),
        )
    )  # fmt: skip
    if pages > 1:
        st.session_state["people"] = page
        st.pagination(pages, key="people", bind="query-params")
    return shown


def _read_page() -> int:
    """The page that is chosen, before its control is drawn."""
    found = str(st.session_state.get("people", st.query_params.get("people", "1")))
    return int(found) if found.isascii() and found.isdigit() and len(found) < 9 else 1
