"""The pairs behind a figure or a sentence: a page of them at a time, with the way to their cases and to a file of all.

Which ones stands in the address, so that they can be sent to somebody. Draws what `list_pairs_behind` tells.
"""

from urllib.parse import urlencode

import streamlit as st

from annotator.agreement.records import PairBehind, PairSelection
from annotator.agreement.service import list_pairs_behind
from annotator.web.agreement.downloads import list_pairs_file_address
from annotator.web.agreement.links import (
    describe_selection,
    draw_file_link,
    draw_page_links,
    find_start,
    list_parameters,
)
from annotator.web.kit.controls import keep_focus
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.tables import Cell, Link, draw_link_table
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext

SIZE = 50


def draw_pairs(context: PageContext, dataset: str, selection: PairSelection) -> None:
    """The list that the address asks for."""
    start = find_start()
    found = list_pairs_behind(
        context.database, context.actor, dataset, selection, limit=SIZE, offset=start, now=context.now
    )
    draw_page_links(dataset, [(tr("Back to the agreement of the dataset"), [])])
    st.html(
        show_as("verdict", describe_selection(selection), place="h2")
    )  # a heading of Streamlit's would link names
    if not found.total:
        st.text(tr("There is no such pair."))
        keep_focus(from_top=True)
        return
    st.text(
        tr_n(
            "{n:,} pair, the furthest apart first.",
            "{n:,} pairs, the furthest apart first.",
            found.total,
        )
    )
    if any(one.hidden for one in found.pairs):
        st.text(tr("Of a pair that you have still to judge yourself nothing is shown."))
    columns = (tr("query"), tr("document"), tr("grades"), tr("apart"), tr("status"))
    draw_link_table(tr("The pairs"), columns, [_describe(dataset, one) for one in found.pairs], tall=True)
    _draw_ways(dataset, selection, start, found.total)
    draw_file_link(tr("All of them as a CSV file"), list_pairs_file_address(dataset, selection))
    keep_focus(from_top=True)


def _describe(dataset: str, one: PairBehind) -> list[Cell]:
    if one.hidden:
        return [tr("yours to judge first"), "–", "–", "–", "–"]
    grades = [f"{grade}\u00a0{name}" for name, grade in one.grades]
    note = [tr(one.note)] if one.note is not None else []
    document: list[str | Link] = [one.doc_id]
    if one.title and one.title != one.doc_id:
        document.append(one.title)
    if one.case:
        address = "/disagreements?" + urlencode({"dataset": dataset, "pair": one.pair, "show": "all"})
        says = tr("Open the case of {query_id} {doc_id}", query_id=one.query_id, doc_id=one.doc_id)
        document.append(Link(tr("Open the case"), address, says))  # where a narrow screen shows it
    return [[one.query_id, one.query], document, [*grades, *note], str(one.distance), name_word(one.status)]


def _draw_ways(dataset: str, selection: PairSelection, start: int, total: int) -> None:
    """Where one is, and the way on."""
    if total <= SIZE:
        return
    ways = (
        (tr("Earlier ones"), max(0, start - SIZE), start > 0),
        (tr("Further ones"), start + SIZE, start + SIZE < total),
    )
    links = [(label, [*list_parameters(selection), ("from", str(at))]) for label, at, there in ways if there]
    said = tr(
        "{first:,} to {last:,} of {total:,}", first=start + 1, last=min(start + SIZE, total), total=total
    )
    draw_page_links(dataset, links, said=said)
