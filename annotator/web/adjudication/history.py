"""What leads did, at the foot of the queue: one click away, with filters, page by page, and whole as a file.

Nothing is read before it is opened. Every piece of it may hold texts of people and is escaped.
"""

from datetime import date, datetime, time
from urllib.parse import urlencode

import streamlit as st

from annotator.adjudication.history_service import (
    ACTION_NAMES,
    ACTIONS,
    PAGE,
    AuditLogEntry,
    AuditLogFilter,
    list_trail_people,
    read_trail,
    say_recorded,
)
from annotator.web.adjudication.downloads import list_audit_log_address
from annotator.web.agreement.links import draw_file_link
from annotator.web.kit.figures import find_zone, show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table
from annotator.web.page_context import PageContext

OPERATOR = "operator"


def draw_trail(context: PageContext, dataset: str) -> None:
    """The part, closed at first."""
    with st.expander(tr("What leads did"), on_change="rerun", key=f"trail {dataset}") as part:
        if part.open:
            _draw_open(context, dataset)


def _draw_open(context: PageContext, dataset: str) -> None:
    wanted = _ask(context, dataset)
    place = f"trail from {dataset}"
    start = int(st.session_state.get(place, 0))
    found = read_trail(context.database, context.actor, dataset, wanted, offset=start, now=context.now)
    if not found.total:
        st.text(
            tr("Nobody did anything of this so far. What leads decide and do about disputes is kept here.")
        )
        return
    columns = (tr("when"), tr("who"), tr("pair"), tr("what happened"))
    draw_link_table(
        tr("What leads did"),
        columns,
        [_describe(dataset, one) for one in found.events],
        tall=True,
        roomy=True,
    )
    _draw_ways(place, start, len(found.events), found.total)
    draw_file_link(tr("As a CSV file, whole"), list_audit_log_address(dataset, "csv", wanted))
    draw_file_link(tr("As JSON lines, whole"), list_audit_log_address(dataset, "jsonl", wanted))


def _ask(context: PageContext, dataset: str) -> AuditLogFilter:
    """The filters. Another choice begins at the latest again."""
    people = dict(list_trail_people(context.database, context.actor, dataset))
    named = {OPERATOR: tr("operator"), **{username: name or username for username, name in people.items()}}

    def begin_anew() -> None:
        st.session_state.pop(f"trail from {dataset}", None)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        action = st.selectbox(
            tr("What"),
            [None, *ACTIONS],
            key=f"trail action {dataset}",
            on_change=begin_anew,
            width=220,
            format_func=lambda one: tr("everything") if one is None else tr(ACTION_NAMES[one]),
        )
        person = st.selectbox(
            tr("Who"),
            [None, *named],
            key=f"trail person {dataset}",
            on_change=begin_anew,
            width=180,
            format_func=lambda one: tr("everybody") if one is None else named.get(one, one),
        )
        since = st.date_input(
            tr("First day"),
            value=None,
            key=f"trail since {dataset}",
            on_change=begin_anew,
            width=150,
            format="YYYY-MM-DD",
        )
        until = st.date_input(
            tr("Last day"),
            value=None,
            key=f"trail until {dataset}",
            on_change=begin_anew,
            width=150,
            format="YYYY-MM-DD",
        )
    return AuditLogFilter(None, action, person, _read(since, time.min), _read(until, time.max))


def _read(day: object, at: time) -> datetime | None:
    return datetime.combine(day, at, find_zone()) if isinstance(day, date) else None


def _describe(dataset: str, one: AuditLogEntry) -> list[Cell]:
    pair: Cell = ""
    if one.pair is not None and one.query_id is not None and one.doc_id is not None:
        says = tr("Open the case of {query_id} {doc_id}", query_id=one.query_id, doc_id=one.doc_id)
        address = "/disagreements?" + urlencode({"dataset": dataset, "pair": one.pair})
        pair = [Link(one.query_id, address, says), one.doc_id]
    said = tr("yours to judge first") if one.hidden else tr(say_recorded(one.action, one.before, one.after))
    return [show_time(one.at), one.name or one.username or tr("operator"), pair, said]


def _draw_ways(place: str, start: int, shown: int, total: int) -> None:
    """Where one is, and the way on."""
    if total <= PAGE:
        return
    draw_note(tr("{first:,} to {last:,} of {total:,}", first=start + 1, last=start + shown, total=total))

    def go(to: int) -> None:
        st.session_state[place] = to

    with st.container(horizontal=True):
        later, earlier = max(0, start - PAGE), start + PAGE
        st.button(tr("Later ones"), key=f"{place} later", disabled=start == 0, on_click=go, args=(later,))
        st.button(
            tr("Earlier ones"),
            key=f"{place} earlier",
            disabled=earlier >= total,
            on_click=go,
            args=(earlier,),
        )
