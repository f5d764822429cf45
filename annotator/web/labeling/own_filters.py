"""Which of the own answers are shown: words, answer, category, days; and the page of them."""

from collections.abc import Sequence
from datetime import date

import streamlit as st

from annotator.labeling.records import WorkFilter
from annotator.web.kit.messages import tr

ANY = ""
ANSWERS = (ANY, "0", "1", "2", "3", "unrateable", "later")
SIZE = 20
PAGE = "work page"


def draw_filters(categories: Sequence[str]) -> WorkFilter:
    """The controls, and what they say."""
    with st.container(horizontal=True):
        words = st.text_input(
            tr("Search in queries and documents"), key="words", max_chars=200, autocomplete="off",
            on_change=_begin, width=320,
        )  # fmt: skip
        answer = st.selectbox(
            tr("Answer"), ANSWERS, format_func=_name_answer, key="answer", on_change=_begin, width=180
        )
        category = ANY
        if categories:
            category = st.selectbox(
                tr("Category"), (ANY, *categories), format_func=lambda name: name or tr("all"),
                key="category", on_change=_begin, width=220,
            )  # fmt: skip
        first = st.date_input(tr("First day"), None, key="first", on_change=_begin, width=150)
        last = st.date_input(tr("Last day"), None, key="last", on_change=_begin, width=150)
    return WorkFilter(words, answer or None, category or None, _day(first), _day(last))


def find_page() -> int:
    """Which page is shown, from 0."""
    return int(st.session_state.get(PAGE, 0))


def draw_pages(total: int) -> None:
    """Where one is, and the way on."""
    page, pages = find_page(), max(1, -(-total // SIZE))
    if pages == 1:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(tr("Newer"), on_click=_go, args=(page - 1,), disabled=page <= 0)
        st.button(tr("Older"), on_click=_go, args=(page + 1,), disabled=page >= pages - 1)
        st.text(tr("Page {page:,} of {pages:,}", page=page + 1, pages=pages))


def _begin() -> None:
    _go(0)


def _go(page: int) -> None:
    st.session_state[PAGE] = page


def _name_answer(answer: str) -> str:
    return {ANY: tr("all"), "unrateable": tr("unrateable"), "later": tr("put off")}.get(answer, answer)


def _day(found: object) -> date | None:
    return found if isinstance(found, date) else None
