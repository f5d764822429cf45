"""Draw the audit log below the queue, with filters, page by page, and links to its files.

The log is read when it is opened. All texts are escaped, because people may have written them.
"""

from urllib.parse import urlencode

import streamlit as st

from annotator.adjudication.history.history import ACTION_NAMES, AuditLogEntry, AuditLogFilter, describe_entry
from annotator.adjudication.history.history_service import PAGE, list_audit_log_people, read_audit_log
from annotator.storage.logs.audit_log import ACTIONS
from annotator.web.adjudication.downloads import make_audit_log_url
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import draw_choice, draw_days, draw_pager, find_ends
from annotator.web.kit.messages import tr
from annotator.web.kit.tables import Cell, Link, draw_file_link, draw_link_table
from annotator.web.page_context import PageContext

OPERATOR, LOG = "operator", "activity-log"


def draw_audit_log(context: PageContext, dataset: str) -> None:
    with st.expander(tr("Activity log"), on_change="rerun", key=f"trail {dataset}") as part:
        if part.open:
            _draw_entries(context, dataset)


def _draw_entries(context: PageContext, dataset: str) -> None:
    wanted = _draw_filters(context, dataset)
    key = f"trail from {dataset}"
    start = int(st.session_state.get(key, 0))
    page = read_audit_log(context.database, context.actor, dataset, wanted, offset=start, now=context.now)
    if not page.total:
        st.text(tr("No activity matches. Decisions and other actions of leads appear here."))
        return
    columns = (tr("when"), tr("person"), tr("pair"), tr("action"))
    with st.container(key=LOG):
        draw_link_table(
            tr("Activity log"),
            columns,
            [_describe(dataset, entry) for entry in page.events],
            tall=True,
            stacked=True,
        )

    def go(to: int) -> None:
        st.session_state[key] = to
        note_press(LOG, into_view=True)

    draw_pager(start, len(page.events), page.total, size=PAGE, go=go, key=key)
    draw_file_link(tr("Full log as CSV"), make_audit_log_url(dataset, "csv", wanted))
    draw_file_link(tr("Full log as JSON Lines"), make_audit_log_url(dataset, "jsonl", wanted))


def _draw_filters(context: PageContext, dataset: str) -> AuditLogFilter:
    """Draw the filters and return the chosen ones. A change shows the latest entries again."""
    people = dict(list_audit_log_people(context.database, context.actor, dataset))
    named = {
        OPERATOR: tr("command line"),
        **{username: name or username for username, name in people.items()},
    }

    def begin_anew() -> None:
        st.session_state.pop(f"trail from {dataset}", None)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        action = draw_choice(
            tr("Action"),
            {action: tr(ACTION_NAMES[action]) for action in ACTIONS},
            everything=tr("all actions"),
            key=f"trail action {dataset}",
            width=220,
            on_change=begin_anew,
        )
        person = draw_choice(
            tr("Person"),
            named,
            everything=tr("everybody"),
            key=f"trail person {dataset}",
            width=180,
            on_change=begin_anew,
        )
        days = draw_days(f"trail since {dataset}", f"trail until {dataset}", on_change=begin_anew)
    return AuditLogFilter(None, action, person, *find_ends(*days))


def _describe(dataset: str, entry: AuditLogEntry) -> list[Cell]:
    pair: Cell = ""
    if entry.pair is not None and entry.query_id is not None and entry.doc_id is not None:
        says = tr("Open disagreement {query_id} {doc_id}", query_id=entry.query_id, doc_id=entry.doc_id)
        address = "/disagreements?" + urlencode({"dataset": dataset, "pair": entry.pair})
        pair = [Link(entry.query_id, address, says), entry.doc_id]
    sentence = (
        tr("judge it first") if entry.hidden else tr(describe_entry(entry.action, entry.before, entry.after))
    )
    return [show_time(entry.at), entry.name or entry.username or tr("command line"), pair, sentence]
