"""The queries with pairs that lack judgments, and whom each of them waits for."""

from collections.abc import Sequence

import streamlit as st

from annotator.labeling.assignment_service import Standing, WaitingQuery
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table

SHOWN_QUERIES = 100
SHOWN_PEOPLE = 5


def draw_waiting(found: Standing) -> None:
    """Those that too few people may judge come first."""
    if not found.queries:
        st.text(tr("No pair lacks a judgment."))
        return
    shown = sorted(found.queries, key=lambda query: not query.stuck)[:SHOWN_QUERIES]
    columns = (
        tr("query"), tr("category"), tr("language"), tr("pairs to do"), tr("begun"), tr("given to"), tr("waits for"),
        tr("too few people"),
    )  # fmt: skip
    draw_table(tr("Queries with pairs that lack judgments"), columns, [_describe(query) for query in shown])
    if len(shown) < len(found.queries):
        all_queries = show_number(len(found.queries))
        draw_note(
            tr(
                "Of {all} queries, the first {shown} are shown.",
                shown=show_number(len(shown)),
                all=all_queries,
            )
        )


def _describe(query: WaitingQuery) -> tuple[str | None, ...]:
    waits = [f"{name} ({show_number(pairs)})" for name, pairs in query.waits_for.items()]
    return (
        query.query_id,
        query.category,
        query.language,
        show_number(query.open_pairs),
        show_number(query.begun_pairs),
        _name_first(query.given_to) or tr("anybody"),
        _name_first(waits) or tr("nobody"),
        show_number(query.stuck) if query.stuck else None,
    )


def _name_first(names: Sequence[str]) -> str:
    """The first few names, and how many more there are: a query of a crowd waits for hundreds."""
    named = ", ".join(names[:SHOWN_PEOPLE])
    if len(names) <= SHOWN_PEOPLE:
        return named
    return tr("{named} and {n} more", named=named, n=len(names) - SHOWN_PEOPLE)
