"""Draw the pairs behind a figure or a sentence, page by page, with links to their disagreements.

The selection is in the address, which can be sent to somebody. `list_selected_pairs` decides what each pair
shows.
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from annotator.agreement.records import PairSelection, SelectedPair
from annotator.agreement.service import list_selected_pairs
from annotator.domain.judgments import describe_blind_pairs
from annotator.web.agreement.downloads import make_pairs_file_url
from annotator.web.agreement.links import describe_selection, find_start, make_page_url
from annotator.web.kit.controls import keep_focus
from annotator.web.kit.lists import draw_link_pager
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_file_link, draw_link_table, write_link
from annotator.web.kit.text import show_as
from annotator.web.kit.words import PersonName, name_person, name_word
from annotator.web.page_context import PageContext, list_person_names

SIZE = 25


def draw_pairs(context: PageContext, dataset: str, selection: PairSelection) -> None:
    start = find_start()
    selected = context.call(
        list_selected_pairs, dataset, selection, limit=SIZE, offset=start, now=context.now
    )
    names = list_person_names(context, dataset)
    back = write_link(tr("Back to Agreement"), "/agreement?" + urlencode({"dataset": dataset}))
    st.html(f'<p class="annotator-step">{back}</p>')
    st.html(
        show_as("verdict", describe_selection(name_selection(selection, names)), tag="h2")
    )  # a heading of Streamlit's would link names
    if selected.blind_pairs:
        draw_note(tr(describe_blind_pairs(selected.blind_pairs)))
    if not selected.total:
        st.text(tr("No pair matches."))
        keep_focus(from_top=True)
        return
    st.text(
        tr_n(
            "{n:,} pair, largest difference first.",
            "{n:,} pairs, largest difference first.",
            selected.total,
        )
    )
    if any(name not in selection.annotators for pair in selected.pairs for name, _ in pair.grades):
        draw_note(tr("A, B …: the annotators of a pair, without their names."))
    # Only people in the selection have display names: a letter could be the username of somebody else.
    named = {who: names[who] for who in selection.annotators if who in names}
    columns = (tr("query"), tr("document"), tr("grades"), tr("gap"), tr("status"))
    draw_link_table(
        tr("List of pairs"), columns, [_describe(dataset, pair, named) for pair in selected.pairs], tall=True
    )
    draw_link_pager(
        start,
        len(selected.pairs),
        selected.total,
        size=SIZE,
        make_url=lambda at: f"{make_page_url(dataset, selection)}&from={at}",
    )
    draw_file_link(tr("All pairs as CSV"), make_pairs_file_url(dataset, selection))
    keep_focus(from_top=True)


def _describe(dataset: str, pair: SelectedPair, names: Mapping[str, PersonName]) -> list[Cell]:
    grades = [f"{grade}\u00a0{names.get(name, name)}" for name, grade in pair.grades]
    note = [tr(pair.note)] if pair.note is not None else []
    document: list[str | Link] = [pair.doc_id]
    if pair.title and pair.title != pair.doc_id:
        document.append(pair.title)
    if pair.case:
        address = "/disagreements?" + urlencode({"dataset": dataset, "pair": pair.pair, "show": "all"})
        says = tr("Open disagreement {query_id} {doc_id}", query_id=pair.query_id, doc_id=pair.doc_id)
        document.append(Link(tr("Open disagreement"), address, says))  # where a narrow screen shows it
    return [
        [pair.query_id, pair.query],
        document,
        [*grades, *note],
        str(pair.distance),
        name_word(pair.status),
    ]


def name_selection(selection: PairSelection, names: Mapping[str, PersonName]) -> PairSelection:
    return replace(
        selection,
        annotators=tuple(name_person(who, names) for who in selection.annotators),
        without=tuple(name_person(who, names) for who in selection.without),
        value=name_person(selection.value, names)
        if selection.by == "annotator" and selection.value is not None
        else selection.value,
    )
