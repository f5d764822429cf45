"""Draw the tab "Near duplicates": the judged documents, their left-out duplicates, and the grades to accept.

Grades are shown only on request, which is recorded. Only shown grades can be accepted.
"""

from collections.abc import Sequence

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.pooling.analysis.pool_analysis_service import PAGE
from annotator.pooling.duplicates.duplicates import (
    OPEN_TO_GRADES,
    DuplicateDocument,
    DuplicateGroup,
    DuplicatePage,
)
from annotator.pooling.duplicates.duplicates_service import accept_duplicates, show_duplicates
from annotator.web.kit.controls import note_press
from annotator.web.kit.lists import draw_link_pager
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_outcome, keep_refusal
from annotator.web.kit.tables import Cell, Link, draw_link_table, write_link
from annotator.web.kit.words import name_word
from annotator.web.page_context import find_context
from annotator.web.pooling.page import DUPLICATES, ShownPool, find_number, make_pool_url

DONE, REFUSED = "duplicates accepted", "duplicates refused"
MOST_LISTED = 5
STATES = {
    "waiting": say("waiting for the judged document"),
    "offered": say("grade offered"),
    "accepted": say("grade accepted"),
    "out of date": say("accepted, but the grade has changed"),
    "judged": say("judged itself"),
}


def draw(shown: ShownPool) -> None:
    context, dataset = shown.context, shown.dataset
    st.header(tr("Near duplicates"))
    with_grades = st.query_params.get("grades") == "shown"
    start = find_number("from") or 0
    page = context.call(show_duplicates, dataset, now=context.now, start=start, with_grades=with_grades)
    if not page.total and not page.hidden:
        st.text(tr("No round left out near duplicates. The rule is under New round, Leave out documents."))
        return
    with st.container(key="duplicates-outcome"):
        draw_outcome(DONE, REFUSED)
    _draw_counts(page)
    if not with_grades and page.total:
        address = make_pool_url(dataset, tab=tr(DUPLICATES), grades="shown")
        st.html(f'<p class="annotator-step">{write_link(tr("Show the grades"), address)}</p>')
        draw_note(tr("After seeing these grades, you can no longer judge these pairs."))
    if with_grades:
        _draw_accept(dataset, page)
    if page.report.groups:
        draw_link_table(
            tr("Near duplicates"),
            [
                tr("query"),
                tr("judged document"),
                tr("its grade"),
                tr("left out"),
                tr("status of its grade"),
            ],
            [_list_cells(dataset, group, with_grades=with_grades) for group in page.report.groups],
            tall=True,
            roomy=True,
        )
    draw_link_pager(
        start,
        len(page.report.groups),
        page.total,
        size=PAGE,
        make_url=lambda at: make_pool_url(
            dataset,
            tab=tr(DUPLICATES),
            grades="shown" if with_grades else None,
            **{"from": str(at) if at else None},
        ),
    )


def _draw_counts(page: DuplicatePage) -> None:
    report = page.report
    st.text(
        tr_n(
            "{n:,} near duplicate was left out; a grade is offered to {offered}.",
            "{n:,} near duplicates were left out; a grade is offered to {offered}.",
            report.documents,
            offered=show_number(report.offered + report.out_of_date),
        )
    )
    if page.hidden:
        draw_note(
            tr_n(
                "{n:,} group is not shown: it contains a pair that you still have to judge.",
                "{n:,} groups are not shown: they contain a pair that you still have to judge.",
                page.hidden,
            )
        )


def _draw_accept(dataset: str, page: DuplicatePage) -> None:
    open_groups = [group for group in page.report.groups if _count_offers(group)]
    offers = sum(map(_count_offers, open_groups))
    if not offers:
        return
    st.button(
        tr_n("Accept the grade for {n:,} document", "Accept the grades for {n:,} documents", offers),
        type="primary",
        key="accept duplicates",
        on_click=_accept,
        args=(dataset, [(str(group.pair), int(group.grade or 0)) for group in open_groups]),
        help=tr("The grade settles these pairs as imported. Any judgment takes its place."),
    )


def _count_offers(group: DuplicateGroup) -> int:
    if group.grade is None:
        return 0
    return sum(document.state in OPEN_TO_GRADES for document in group.documents)


def _accept(dataset: str, shown: Sequence[tuple[str, int]]) -> None:
    """Accept the grades from the screen; none of them if one has changed."""
    context = find_context()
    if context is None:
        return
    with keep_refusal(REFUSED):
        done = context.call(accept_duplicates, dataset, now=context.now, expected=dict(shown))
        st.session_state[DONE] = tr_n(
            "Accepted for {n:,} document.", "Accepted for {n:,} documents.", done.accepted
        )
        note_press("duplicates-outcome")


def _list_cells(dataset: str, group: DuplicateGroup, *, with_grades: bool) -> list[Cell]:
    judged: Cell = group.doc_id
    if group.pair is not None:
        says = tr("Open the pair {query_id} {doc_id}", query_id=group.query_id, doc_id=group.doc_id)
        judged = [
            Link(group.doc_id, make_pool_url(dataset, pair=group.pair), says),
            name_word(group.status or ""),
        ]
    listed = group.documents[:MOST_LISTED]
    more = len(group.documents) - len(listed)
    further = [tr("and {n:,} more", n=more)] if more else []
    return [
        group.query_id,
        judged,
        "–" if not with_grades or group.grade is None else str(group.grade),
        [*(document.doc_id for document in listed), *further],
        [_describe_state(document) for document in listed],
    ]


def _describe_state(document: DuplicateDocument) -> str:
    state = tr(STATES[document.state])
    if document.grade is None:
        return state
    return tr("{state}: {grade}", state=state, grade=document.grade)
