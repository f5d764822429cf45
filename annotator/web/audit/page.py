"""Draw the page Audit log, for admins of every dataset: filters, entries, the log as a file, verification.

Details of an entry are stored as English names with values. A name that is missing in `words.yaml` (such as an
import's figures) is shown as stored. Verification recomputes every hash, so it runs only on request; its result
stays for the browser's session. All texts are escaped, because people can write them.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.audit.records import AuditEntry, AuditFilter, AuditHead, AuditVerification
from annotator.audit.service import (
    PAGE,
    find_audit_head,
    list_audit_choices,
    read_audit_page,
    verify_audit_log,
)
from annotator.domain.audit import AuditAction, PersonalField
from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.web.audit.downloads import list_address
from annotator.web.importing.words import KIND_NAMES, name_kind
from annotator.web.kit.components import draw_copy_field
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import draw_choice, draw_days, draw_pager, find_ends, find_last_start, keep_start
from annotator.web.kit.messages import join_names, read_words, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, draw_file_link, draw_link_table
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import name_role
from annotator.web.page_context import PageContext
from annotator.web.pooling.words import name_strategy

WORDS = Path(__file__).parent / "words.yaml"
NAMES: Mapping[str, Mapping[str, str]] = read_words(WORDS)
ACTION_NAMES = {AuditAction[action]: say(name) for action, name in NAMES["actions"].items()}
ACTOR_NAMES: Mapping[str, Message] = {
    "operator": say("command line"),
    "program": say("the program"),
    "unknown": say("not signed in"),
}
WAYS: Mapping[str, Message] = {
    "password": say("by password"),
    "provider": say("by the identity provider"),
    "group": say("by a group of the identity provider"),
    "identity": say("by the identity provider"),
}
LEFT = "left"  # recovery codes: shown also for 0
FIRST = ("role", "kind", "strategy", "by", "system")  # most important details
LEFT_OUT = ("kept", "applied_before")  # only for verification with the file
HASH = 12  # characters shown of a SHA-256


def name_action(action: str) -> str:
    """Return the action's name. An action of a newer program version is returned as stored."""
    return tr(ACTION_NAMES[AuditAction(action)]) if action in ACTION_NAMES else action


def name_actor(entry: AuditEntry) -> str:
    named = _name(entry, "actor")
    return named or tr(ACTOR_NAMES.get(entry.chained.actor_kind, entry.chained.actor_kind))


def describe_target(entry: AuditEntry) -> str:
    """Return the object of the act: a person, a version, a file name; "" without one."""
    return join_names(part for part in (_name(entry, "subject"), entry.chained.object) if part)


def describe_origin(entry: AuditEntry) -> str:
    """Return the origin of the act: the browser's IP address, the command line, or the program itself."""
    if entry.chained.source == "web":
        return _name(entry, "address") or tr("browser")
    return tr("command line") if entry.chained.source == "cli" else tr("the program")


def describe_details(entry: AuditEntry) -> str:
    """Return the details in words; "" without details."""
    details = json.loads(entry.chained.details)
    if entry.chained.action == AuditAction.settings_changed:
        return join_names(_describe_settings(details))
    names = [*(name for name in FIRST if name in details), *(name for name in details if name not in FIRST)]
    return join_names(part for name in names if (part := _describe_detail(name, details[name])))


def _name(entry: AuditEntry, field: PersonalField) -> str:
    return entry.name(field) or (tr("removed") if entry.is_removed(field) else "")


def _describe_settings(details: Mapping[str, Any]) -> list[str]:
    before, after = details.get("before") or {}, details.get("after") or {}
    return [
        tr("{name}: {before} → {after}", name=name, before=_show(before.get(name)), after=_show(after[name]))
        if name in after
        else str(name)
        for name in details.get("settings", details.get("keys", ()))
    ]


def _describe_detail(name: str, value: Any) -> str:
    if name in LEFT_OUT or value in (None, []) or (value == 0 and name != LEFT):
        return ""
    if name in NAMES["flags"]:
        return tr(NAMES["flags"][name]) if value else ""
    if name == "by" and value in WAYS:
        return tr(WAYS[value])
    if name == "role":
        return name_role(str(value))
    if name == "kind" and value in KIND_NAMES:
        return name_kind(value)
    if name == "strategy":
        return name_strategy(str(value))
    if name in ("sha256", "content_sha256"):
        value = f"{str(value)[:HASH]}…"
    label = tr(NAMES["details"][name]) if name in NAMES["details"] else name.replace("_", " ")
    return tr("{name}: {value}", name=label, value=_show(value))


def _show(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, int):
        return show_number(value)
    if isinstance(value, Mapping):
        return join_names(f"{name} {_show(item)}" for name, item in value.items())
    if isinstance(value, list):
        return join_names(_show(item) for item in value) or "–"
    return str(value)


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
    people, datasets = context.call(list_audit_choices)

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
    page = context.call(read_audit_page, wanted, offset=start)
    if start and not page.entries and page.total:
        start = find_last_start(page.total, PAGE)
        page = context.call(read_audit_page, wanted, offset=start)
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
    go = partial(keep_start, START, ENTRIES)
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
    head = context.call(find_audit_head)
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

    found = context.call(verify_audit_log, report_progress=show_progress)
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
