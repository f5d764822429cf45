"""Draw the page Audit log, for admins of every dataset: filters, entries, the log as a file, verification.

Verification recomputes every hash, so it runs only on request; its result stays for the browser's session.
All texts are escaped, because people can write them.
"""

from datetime import datetime

import streamlit as st

from annotator.audit.records import AuditEntry, AuditFilter, AuditHead, AuditVerification
from annotator.audit.service import (
    PAGE,
    find_audit_head,
    list_audit_choices,
    read_audit_page,
    verify_audit_log,
)
from annotator.domain.figures import show_number
from annotator.web.audit.downloads import list_address
from annotator.web.audit.words import (
    ACTION_NAMES,
    describe_details,
    describe_origin,
    describe_target,
    name_action,
    name_actor,
)
from annotator.web.kit.components import draw_copy_field
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import draw_choice, draw_days, draw_pager, find_ends, find_last_start
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, draw_file_link, draw_link_table
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext

ENTRIES, START, VERIFIED = "audit-entries", "audit from", "audit verified"


def draw(context: PageContext) -> None:
    st.title(tr("Audit log"))
    st.caption(
        tr(
            "Sign-ins, roles, settings, imports, decisions, downloads and releases of all datasets. The log holds no grade and no password."
        )
    )
    _draw_verification(context)
    _draw_entries(context, _draw_filters(context))


def _draw_filters(context: PageContext) -> AuditFilter:
    people, datasets = list_audit_choices(context.database, context.actor)

    def begin_anew() -> None:
        st.session_state.pop(START, None)

    actions = {action: tr(name) for action, name in ACTION_NAMES.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        action = draw_choice(
            tr("Action"),
            actions,
            everything=tr("all actions"),
            key="audit action",
            width=260,
            on_change=begin_anew,
        )
        person, dataset = (
            draw_choice(
                label,
                {name: name for name in names},
                everything=everything,
                key=key,
                width=220,
                on_change=begin_anew,
            )
            for label, names, everything, key in (
                (tr("Person"), people, tr("everybody"), "audit person"),
                (tr("Dataset"), datasets, tr("all datasets"), "audit dataset"),
            )
        )
    with st.container(horizontal=True):
        days = draw_days("audit since", "audit until", on_change=begin_anew)
    return AuditFilter(dataset, action, person, *find_ends(*days))


def _draw_entries(context: PageContext, wanted: AuditFilter) -> None:
    start = int(st.session_state.get(START, 0))
    page = read_audit_page(context.database, context.actor, wanted, offset=start)
    if start and not page.entries and page.total:
        start = find_last_start(page.total, PAGE)
        page = read_audit_page(context.database, context.actor, wanted, offset=start)
    if not page.total:
        st.text(tr("No entry matches."))
        return
    columns = (
        tr("entry"),
        tr("when"),
        tr("who"),
        tr("action"),
        tr("details"),
        tr("dataset"),
        tr("came from"),
    )
    with st.container(key=ENTRIES):
        rows = [_describe(entry) for entry in page.entries]
        draw_link_table(tr("Audit log"), columns, rows, tall=True, stacked=True)

    def go(to: int) -> None:
        st.session_state[START] = to
        note_press(ENTRIES, into_view=True)

    draw_pager(start, len(page.entries), page.total, size=PAGE, go=go, key="audit")
    draw_file_link(tr("These entries as JSON Lines"), list_address(wanted))
    draw_note(tr("The download is itself entered in the log."))


def _describe(entry: AuditEntry) -> list[Cell]:
    return [
        show_number(entry.sequence),
        show_time(entry.chained.at),
        name_actor(entry),
        name_action(entry.chained.action),
        join_names(part for part in (describe_target(entry), describe_details(entry)) if part),
        entry.chained.dataset or "",
        describe_origin(entry),
    ]


def _draw_verification(context: PageContext) -> None:
    """Draw the newest entry's hash, the button that verifies, and the last result."""
    head = find_audit_head(context.database, context.actor)
    if head is None:
        return
    with st.expander(tr("Verify that no entry was changed")):
        draw_note(
            tr(
                "Each entry contains the hash of the one before, so that changed, missing and inserted entries are found. Keep the line below in another place, for example every day: with it, entries that are cut off at the end are found too."
            )
        )
        draw_copy_field("audit-head", tr("Newest entry and its hash"), str(head))
        if st.button(tr("Verify all entries"), icon=":material/verified_user:"):
            st.session_state[VERIFIED] = (context.now, _verify(context))
        if VERIFIED in st.session_state:
            _draw_found(*st.session_state[VERIFIED])


def _verify(context: PageContext) -> AuditVerification:
    """Verify the log with a progress bar. A log of years takes minutes; leaving the page stops it."""
    bar = st.progress(0.0, tr("Verifying …"))

    def show_progress(done: int, total: int) -> None:
        words = tr("Verifying … {done} of {total}", done=show_number(done), total=show_number(total))
        bar.progress(min(1.0, done / total), words)

    found = verify_audit_log(context.database, context.actor, report_progress=show_progress)
    bar.empty()
    return found


def _draw_found(at: datetime, found: AuditVerification) -> None:
    when = show_time(at)
    if found.problem is not None:
        words = tr(
            "Entry {sequence} does not fit the ones before: the log was changed outside the program. Verified: {when}.",
            sequence=show_number(found.problem.sequence),
            when=when,
        )
        st.error(escape_markdown(words), icon=":material/gpp_bad:")
        return
    last: AuditHead | None = found.head
    words = tr(
        "No entry was changed, up to entry {sequence}. Verified: {when}.",
        sequence=show_number(last.sequence if last else 0),
        when=when,
    )
    st.success(escape_markdown(words), icon=":material/verified_user:")
    if found.removed:
        draw_note(
            tr_n(
                "{n:,} username or address was removed or replaced; entries of the log account for it.",
                "{n:,} usernames and addresses were removed or replaced; entries of the log account for them.",
                found.removed,
            )
        )
