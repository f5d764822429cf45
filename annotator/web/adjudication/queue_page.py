"""Draw the page Disagreements: the queue with its pace, or one disagreement (`?pair=`), and the activity log.

`pair=next` is the first pair of the queue, with the filter of the address (`web/adjudication/queue_url.py`).
Reads one page of the queue and the counts, and draws only the open tab (list, charts, bulk, files). If many
impacts are out of date, they are computed first, with a progress bar. If nothing is open, the page shows
agreement and a link to a release. The log is read when it is opened.
"""

from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from annotator.adjudication.history.history import ACTION_NAMES, AuditLogEntry, AuditLogFilter, describe_entry
from annotator.adjudication.history.history_service import PAGE, list_audit_log_people, read_audit_log
from annotator.adjudication.impact.impact_service import FEW, bring_up_to_date
from annotator.adjudication.queue.queue_records import QueuePace, QueuePage
from annotator.adjudication.queue.queue_service import compute_queue_pace, list_queue, summarize_queue
from annotator.adjudication.records import CAUSE_NAMES
from annotator.dataset.service import read_current_rubric
from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.domain.people import includes
from annotator.labeling.my_work_service import list_work_categories
from annotator.people.service import list_people
from annotator.storage.logs.audit_log import ACTIONS
from annotator.web.adjudication.bulk import draw_files, draw_policies
from annotator.web.adjudication.downloads import make_audit_log_url
from annotator.web.adjudication.queue_filters import QueueFilterChoices, clear, describe_filter, draw_filters
from annotator.web.adjudication.queue_table import SIZE, draw_table
from annotator.web.adjudication.queue_url import (
    DATASET,
    LIST,
    NEXT,
    TAB,
    QueueAddress,
    go,
    read_address,
    read_here,
    write_address,
)
from annotator.web.agreement.page import find_kept
from annotator.web.guideline.api import describe_rubric
from annotator.web.kit.components import load_component, write_message
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.figures import find_zone, show_duration, show_time
from annotator.web.kit.lists import draw_choice, draw_days, draw_pager, find_ends, keep_start, read_part
from annotator.web.kit.messages import current_language, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, require_dataset
from annotator.web.kit.tables import Cell, Link, draw_file_link, draw_link_table
from annotator.web.kit.text import show_as
from annotator.web.labeling import label_page
from annotator.web.navigation import make_url
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
    page = context.call(read_audit_log, dataset, wanted, offset=start, now=context.now)
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
    draw_pager(start, len(page.events), page.total, size=PAGE, go=partial(keep_start, key, LOG), key=key)
    draw_file_link(tr("Full log as CSV"), make_audit_log_url(dataset, "csv", wanted))
    draw_file_link(tr("Full log as JSON Lines"), make_audit_log_url(dataset, "jsonl", wanted))


def _draw_filters(context: PageContext, dataset: str) -> AuditLogFilter:
    """Draw the filters and return the chosen ones. A change shows the latest entries again."""
    people = dict(context.call(list_audit_log_people, dataset))
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
        address = make_url("/disagreements", dataset=dataset, pair=entry.pair)
        pair = [Link(entry.query_id, address, says), entry.doc_id]
    sentence = (
        tr("judge it first") if entry.hidden else tr(describe_entry(entry.action, entry.before, entry.after))
    )
    return [show_time(entry.at), entry.name or entry.username or tr("command line"), pair, sentence]


CHARTS, POLICIES, FILES = say("Breakdown"), say("Settle in bulk"), say("Meeting file")


def draw_parts(
    context: PageContext, page: QueuePage, here: QueueAddress, choices: QueueFilterChoices
) -> None:
    _draw_filter(page, here)
    names = [LIST, *([CHARTS] if page.open else []), POLICIES, FILES]
    draw_url_tabs({name: partial(_draw_part, name, context, page, here, choices) for name in names}, TAB)


def _draw_part(
    name: str, context: PageContext, page: QueuePage, here: QueueAddress, choices: QueueFilterChoices
) -> None:
    if name == CHARTS:
        from annotator.web.adjudication.queue_table import draw_charts

        draw_charts(context, choices.summary, here)
        return
    if name == POLICIES:
        draw_policies(context, context.dataset or "", here)
        return
    if name == FILES:
        draw_files(context, context.dataset or "", here)
        return
    if not page.items:
        conditions = describe_filter(here.wanted)
        draw_note(
            tr("No disagreement matches the filter. Clear the filters to see all.")
            if conditions
            else tr("No pair is waiting for a decision.")
        )
        return
    draw_table(page, here, decided=here.wanted.shown != "open", now=context.now)


def _draw_filter(page: QueuePage, here: QueueAddress) -> None:
    """Draw the number of filtered pairs and a button that clears the filter; else an empty row."""
    row = st.container(horizontal=True, vertical_alignment="center")
    conditions = describe_filter(here.wanted)
    if not conditions:
        return
    every = page.open + (page.decided if here.wanted.shown != "open" else 0)
    shown = tr(
        "{n} of {all}: {conditions}.",
        n=show_number(page.total),
        all=show_number(every),
        conditions="; ".join(conditions),
    )
    with row:
        st.html(f'<p class="annotator-note" dir="auto">{escape(shown)}</p>', width="content")
        st.button(tr("Clear filters"), on_click=clear, type="tertiary", icon=":material/filter_alt_off:")


def draw_nothing_open(context: PageContext, dataset: str, *, decided: int) -> None:
    """Draw that nothing is open, agreement, and the link to a release. `decided`: their number."""
    st.html(show_as("verdict", tr("No open disagreements"), tag="h2"))
    if decided:
        st.text(tr_n("The only disagreement is decided.", "All {n:,} disagreements are decided.", decided))
    report = find_kept(context, dataset).value
    kappa = report.measured.cohen_kappa["unweighted"]
    if kappa.value is None:
        st.text(tr("Agreement is unknown: {why}.", why=kappa.why))
    else:
        low, high = kappa.ci95 or (None, None)
        figures = {"kappa": show_number(kappa.value, 2), "pairs": show_number(report.measured.pairs)}
        if low is None or high is None:
            st.text(
                tr_n(
                    "Cohen's kappa: {kappa} ({pairs} pair).",
                    "Cohen's kappa: {kappa} ({pairs} pairs).",
                    report.measured.pairs,
                    **figures,
                )
            )
        else:
            st.text(
                tr_n(
                    "Cohen's kappa: {kappa} ({pairs} pair, 95\N{NO-BREAK SPACE}% confidence interval {low} to {high}).",
                    "Cohen's kappa: {kappa} ({pairs} pairs, 95\N{NO-BREAK SPACE}% confidence interval {low} to {high}).",
                    report.measured.pairs,
                    low=show_number(low, 2),
                    high=show_number(high, 2),
                    **figures,
                )
            )
    if not report.measured.pairs:
        draw_note(tr("Pairs appear here as soon as two annotators judge them differently."))
        draw_link(context, "overview")
        return
    draw_note(tr("Next, see what is missing for a release:"))
    draw_link(context, "releases")


def finish_impacts(context: PageContext, dataset: str, due: int) -> None:
    """Compute the due impacts with a progress bar, if there are many; `list_queue` computes a few."""
    if due <= FEW:
        return
    words = tr("Updating the impact of the disagreements, because grades or runs have changed …")
    bar = st.progress(0.0, words)

    def show_progress(done: int, total: int) -> None:
        bar.progress(min(1.0, done / max(total, 1)), words)

    bring_up_to_date(context.database, dataset, report_progress=show_progress)
    bar.empty()


def describe_pace(pace: QueuePace) -> list[str]:
    """Return sentences that say how long the queue lasts, or why that is unknown."""
    sentences = [_describe_work(pace)] if pace.open else []
    if pace.decided:
        sentences.append(
            tr(
                "Decided in the last 7 days: {decided} (on {days}).",
                decided=show_number(pace.decided),
                days=tr_n("{n} day", "{n} days", pace.working_days),
            )
        )
    if pace.arrived:
        sentences.append(tr("New: {n} per day.", n=_show_rate(pace.arrived_per_day)))
    if pace.grows:
        sentences.append(tr("More disagreements arrive than are decided."))
    return sentences


def _describe_work(pace: QueuePace) -> str:
    pairs = tr_n("{n:,} pair", "{n:,} pairs", pace.open)
    if pace.work is None and pace.working_days_left is None:
        return tr("Time left is unknown: {why}.", why=pace.why_no_days)
    if pace.working_days_left is None:
        return tr("{pairs}, {work} of deciding.", pairs=pairs, work=show_duration(pace.work or 0))
    days = show_days(pace.working_days_left)
    if pace.work is None:
        return tr(
            "{pairs}; at this pace, {days}. Time of deciding unknown: {why}.",
            pairs=pairs,
            days=days,
            why=pace.why_no_work,
        )
    return tr(
        "{pairs}, {work} of deciding; at this pace, {days}.",
        pairs=pairs,
        work=show_duration(pace.work),
        days=days,
    )


def show_days(days: float) -> str:
    if days <= 1:
        return tr("less than a working day")
    return tr_n("{n:,} working day", "{n:,} working days", round(days))


def _show_rate(rate: float) -> str:
    return show_number(rate, 0 if rate >= 10 or rate == int(rate) else 1)


def draw_queue_page(context: PageContext) -> None:
    st.title(tr("Disagreements"))
    dataset = st.session_state[DATASET] = require_dataset(context)
    choices = _find_choices(context, dataset)
    here = read_here(categories=choices.categories, people=(*choices.annotators, *choices.leads))
    finish_impacts(context, dataset, choices.summary.due)
    _, page = read_part(
        lambda start: context.call(
            list_queue, dataset, here.wanted, sort=here.sort, limit=SIZE, offset=start, now=context.now
        ),
        SIZE,
        lambda page: page.total,
    )
    if not page.open and not page.decided:
        draw_nothing_open(context, dataset, decided=0)
        return
    if page.open:
        _draw_head(context, dataset, page, here)
    else:
        draw_nothing_open(context, dataset, decided=page.decided)
    st.header(tr("The queue"))
    draw_filters(here, choices)
    draw_parts(context, page, here, choices)
    keep_focus()


def _find_choices(context: PageContext, dataset: str) -> QueueFilterChoices:
    database, actor = context.database, context.actor
    people = list_people(database, actor, dataset=dataset)
    leads = [
        person.username
        for person in people
        if any(includes(held.role, "lead") for held in person.memberships) and not person.disabled
    ]
    return QueueFilterChoices(
        summary=summarize_queue(database, actor, dataset),
        categories=list_work_categories(database, actor, dataset),
        annotators=[person.username for person in people],
        leads=sorted(leads, key=lambda name: name != actor.username),
        reader=actor.username,
    )


def _draw_head(context: PageContext, dataset: str, page: QueuePage, here: QueueAddress) -> None:
    """Draw the number of open pairs, the estimated time, and the button that opens the first pair."""
    waiting = tr_n("{n:,} pair waiting for a decision", "{n:,} pairs waiting for a decision", page.open)
    st.html(show_as("verdict", waiting, tag="h2"))
    sentences = []
    if not page.ungraded:
        sentences.append(
            tr_n(
                "It has a settled grade, but an objection, a question or a newer guideline calls it into question.",
                "All of them have a settled grade, but an objection, a question or a newer guideline calls it into question.",
                page.open,
            )
        )
    elif page.ungraded < page.open:
        sentences.append(
            tr_n(
                "{n:,} of them has no settled grade yet and holds up the next release. The others have one, but an objection, a question or a newer guideline calls it into question.",
                "{n:,} of them have no settled grade yet and hold up the next release. The others have one, but an objection, a question or a newer guideline calls it into question.",
                page.ungraded,
            )
        )
    now = context.now.astimezone(find_zone())
    pace = context.call(compute_queue_pace, dataset, now=now)
    st.html(f'<p class="annotator-step">{escape(join_sentences([*sentences, *describe_pace(pace)]))}</p>')
    st.button(
        tr("Decide next pair"),
        type="primary",
        icon=":material/gavel:",
        on_click=go,
        args=(here,),
        kwargs={"pair": NEXT},
    )


def draw(context: PageContext) -> None:
    if st.query_params.get("pair"):
        draw_deciding(context)
    else:
        draw_queue_page(context)
        draw_audit_log(context, require_dataset(context))


FOLDER = Path(__file__).parent / "panel"
STYLES = (*label_page.STYLES, FOLDER / "deciding.css")
STAGE_NAMES = {
    "waiting": say("waiting for judgments"),
    "imported": say("imported"),
    "single": say("single"),
    "agreed": say("agreed"),
    "disputed": say("disputed"),
    "settled": say("settled by a lead"),
    "reopened": say("reopened for a decision"),
}
"""The names of the stages of a pair (`domain/settling.py`)."""


def decision_words(*, is_filtered: bool = False) -> dict[str, str]:
    """Return the texts by the names in the panel's scripts. `is_filtered`: whether the queue has a filter."""
    words = label_page.panel_words() | label_page.panel_words(FOLDER)
    words |= {f"cause_{code}": tr(name) for code, name in CAUSE_NAMES.items()}
    words |= {f"status_{stage}": tr(name) for stage, name in STAGE_NAMES.items()}
    nothing = words.pop("nothing_filtered")
    return words | {"nothing": nothing} if is_filtered else words


def draw_deciding(context: PageContext) -> None:
    """Draw the decision panel: the pair in the address, then the queue with the address's filter."""
    name = require_dataset(context)
    dataset = next(item for item in context.datasets if item.name == name)
    version, rubric = context.call(read_current_rubric, name)
    pair, address = st.query_params.get("pair"), write_address(read_address(st.query_params))
    message = {
        "username": context.actor.username,
        "dataset": name,
        "title": dataset.title,
        "language": current_language(),
        "document_language": dataset.language,
        "idle_seconds": dataset.idle_seconds,
        "pair": None if pair == "next" else pair,
        "filter": address,
        "guideline": describe_rubric(version, rubric),
        "keys": label_page.list_keys(FOLDER),
        "words": decision_words(is_filtered=any(name != "sort" for name in address)),
    }
    panel = load_component(
        "annotator_deciding", FOLDER / "panel.js", html=FOLDER / "deciding.html", styles=STYLES
    )
    panel(key=f"deciding-{name}", data=write_message(message))
