"""Draw the tab "New round": a lead chooses the candidates, sees a preview, and adds the pairs.

A small preview follows every change of the fields; a large one needs a button. Both run in the background.
The button to add uses the request of the preview and the service of `annotator pool`. Repeating a request
adds nothing twice. For each dataset, one work at a time runs.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.evaluation.holes_service import PooledHoles
from annotator.people.service import list_people
from annotator.pooling.analysis.pool_analysis import PairFilter
from annotator.pooling.analysis.pool_analysis_service import read_stamp
from annotator.pooling.rounds.pool_records import PoolReport, PoolRequest
from annotator.pooling.rounds.rounds_service import STORING, make_round
from annotator.pooling.rounds.strategies import find_list_depth
from annotator.pooling.service import RoundChoices, list_round_choices
from annotator.storage.database import Database
from annotator.web.kit.background_work import BackgroundWork, ReportStep, WorkBoard
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_duration, show_time
from annotator.web.kit.messages import join_names, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.tables import write_link
from annotator.web.kit.text import escape_markdown
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, find_context, require_context
from annotator.web.pooling.further_rounds import (
    KINDS,
    FurtherRequest,
    draw_further_form,
    draw_further_report,
    make_further_round,
)
from annotator.web.pooling.page import ShownPool, make_pairs_url
from annotator.web.pooling.round_form import FIELDS, draw_round_form
from annotator.web.pooling.round_preview import draw_round_preview

QUICK_RESULTS = 200_000  # of runs
QUICK_SEARCHES = 300_000  # documents × queries × methods: some six seconds, in the background
QUICK_DOCUMENTS = 6_000  # × methods
MADE = "round made"
PATIENCE = 1.5  # seconds that the page waits for a quick preview before it shows the progress
RoundRequest = PoolRequest | FurtherRequest


@dataclass(frozen=True, slots=True)
class AskedRound:
    """The request of background work: a preview or the round itself. `stamp`: the state of the pool at its beginning."""

    request: RoundRequest
    dry_run: bool
    stamp: object


def draw(shown: ShownPool) -> None:
    context, dataset = shown.context, shown.dataset
    st.header(tr("New round"))
    choices = context.call(list_round_choices, dataset)
    if not choices.queries:
        st.info(tr("This dataset has no queries yet. Import them first."), icon=":material/info:")
        draw_link(context, "import")
        return
    if not choices.systems and not choices.documents:
        st.info(
            tr(
                "There is nothing to take candidates from yet. Import documents or a system's run, or fetch a run."
            ),
            icon=":material/info:",
        )
        draw_link(context, "import")
        return
    key = find_key(context.database, dataset)
    if refused := st.session_state.pop(REFUSED, None):
        st.warning(refused, icon=":material/hourglass:")
    _draw_made(context, dataset)
    kind = _choose_kind()
    if kind == "search":
        request: RoundRequest | None = draw_round_form(choices)
    else:
        request = draw_further_form(context, kind, choices)
    running = BOARD.find_running(key)
    if running is not None and _is_outdated_preview(running, context, request):
        BOARD.stop(key, wait=PATIENCE)
        running = BOARD.find_running(key)
    if request is None:
        return
    if running is None and _is_quick(choices, request) and _find_preview(context, dataset, request) is None:
        running = _begin(context, dataset, request, dry_run=True)
        if running is None:  # another tab was faster
            st.session_state.pop(REFUSED, None)
            running = BOARD.find_running(key)
        if running is not None:
            running.ended.wait(PATIENCE)
            running = BOARD.find_running(key)
    if running is not None:
        title = tr("Preview:") if running.request.dry_run else tr("New round:")
        watch_work(dataset, title)
        return
    _draw_preview(context, dataset, choices, request)


def _choose_kind() -> str:
    FIELDS.begin("kind")
    return FIELDS.choose_segment(tr("Candidates"), KINDS, "kind")


def _is_outdated_preview(running: BackgroundWork, context: PageContext, request: RoundRequest | None) -> bool:
    """Return whether this is the lead's own preview for earlier values of the fields."""
    return (
        running.request.dry_run
        and running.actor.person_id == context.actor.person_id
        and running.request.request != request
    )


def _is_quick(choices: RoundChoices, request: RoundRequest) -> bool:
    """Return whether a preview is fast enough to follow every change of the fields."""
    if not isinstance(request, PoolRequest):
        return False
    methods, systems = len(request.retrievers), len(request.systems or choices.systems)
    if "hybrid" in request.retrievers:
        methods += len(request.retrieval.weights)
    entries = (systems + methods) * choices.queries * find_list_depth(request)
    searches = methods * choices.documents
    return (
        entries <= QUICK_RESULTS
        and searches <= QUICK_DOCUMENTS
        and searches * choices.queries <= QUICK_SEARCHES
    )


def _find_preview(context: PageContext, dataset: str, request: RoundRequest) -> BackgroundWork | None:
    """Return the lead's preview of this request, or None. A quick preview is outdated once the pool changes."""
    work = BOARD.find_ended(find_key(context.database, dataset), context.actor)
    if work is None or not work.request.dry_run or work.request.request != request:
        return None
    quick = work.seconds is not None and work.seconds < PATIENCE
    if quick and work.request.stamp != context.call(read_stamp, dataset):
        return None
    return work


def _draw_preview(context: PageContext, dataset: str, choices: RoundChoices, request: RoundRequest) -> None:
    work = _find_preview(context, dataset, request)
    with st.container(key="round-preview"):
        if work is None or work.stopped:
            if work is not None:
                st.text(tr("The preview was stopped."))
            _draw_preview_button(dataset, choices, request)
            return
        if work.failure is not None:
            st.error(escape_markdown(show_refusal(work.failure)), icon=":material/block:")
            _draw_preview_button(dataset, choices, request)
            return
        if isinstance(work.result, PoolReport):
            draw_round_preview(work.result)
            new, has_left_out = work.result.new, bool(sum(work.result.left_out.values()))
        else:
            new, has_left_out = draw_further_report(work.result), False
        if work.seconds is not None and work.seconds >= PATIENCE:
            draw_note(
                tr(
                    "Previewed at {time} in {duration}. Adding the pairs takes about as long.",
                    time=show_time(work.begun_at),
                    duration=describe_seconds(work.seconds),
                )
            )
        if new or has_left_out:
            label = tr_n("Add {n:,} pair to the pool", "Add {n:,} pairs to the pool", new)
            st.button(
                label if new else tr("Record what is left out"),
                type="primary",
                key="add round",
                on_click=_press,
                args=(dataset, request),
                kwargs={"dry_run": False},
            )


def _draw_preview_button(dataset: str, choices: RoundChoices, request: RoundRequest) -> None:
    if isinstance(request, PoolRequest) and not _is_quick(choices, request):
        draw_note(
            tr_n(
                "With {n:,} document, the preview can take a few minutes. You can stop it, or use other pages in the meantime.",
                "With {n:,} documents, the preview can take a few minutes. You can stop it, or use other pages in the meantime.",
                choices.documents,
            )
        )
    st.button(
        tr("Preview"),
        type="primary",
        key="preview round",
        on_click=_press,
        args=(dataset, request),
        kwargs={"dry_run": True},
    )


def _press(dataset: str, request: RoundRequest, *, dry_run: bool) -> None:
    context = find_context()
    if context is None:
        return
    note_press("round-preview" if dry_run else "round-made")
    work = _begin(context, dataset, request, dry_run=dry_run)
    if not dry_run:
        st.session_state[MADE] = (dataset, work)
    if work is not None:
        work.ended.wait(PATIENCE)


def _begin(
    context: PageContext, dataset: str, request: RoundRequest, *, dry_run: bool
) -> BackgroundWork | None:
    """Begin a preview or the round. Return None if another lead was faster; `draw` then says so."""
    database, actor, now = context.database, context.actor, context.now
    stamp = read_stamp(database, actor, dataset)

    def act(report: ReportStep) -> object:
        if not isinstance(request, PoolRequest):
            return make_further_round(
                database, actor, dataset, request, now=now, dry_run=dry_run, progress=report
            )
        return make_round(database, actor, dataset, request, now=now, dry_run=dry_run, progress=report)

    asked = AskedRound(request, dry_run, stamp)
    try:
        return BOARD.start(find_key(database, dataset), actor, asked, act, now=now)
    except AnnotatorError as error:
        st.session_state[REFUSED] = show_refusal(error)
        return None


def _draw_made(context: PageContext, dataset: str) -> None:
    of_dataset, made = st.session_state.get(MADE, (None, None))
    with st.container(key="round-made"):
        if made is None or of_dataset != dataset or not made.ended.is_set():
            return
        if made.failure is not None:
            st.error(escape_markdown(show_refusal(made.failure)), icon=":material/block:")
        elif made.stopped:
            st.info(tr("Stopped. No pair was added."), icon=":material/info:")
        else:
            _draw_result(dataset, *_count_made(made.result))
            _draw_next_step(context, dataset)


def _count_made(result: Any) -> tuple[int | None, int]:
    """Return the number of the new round (None without one), and its pairs."""
    if isinstance(result, PooledHoles):
        return result.round, len(result.documents)
    return result.round, result.new if isinstance(result, PoolReport) else result.new_pairs


def _draw_result(dataset: str, number: int | None, new: int) -> None:
    if number is None:
        st.info(tr("Nothing was added: these pairs are in the pool already."), icon=":material/info:")
        return
    st.success(
        tr_n(
            "Round {round}: {n:,} pair was added.",
            "Round {round}: {n:,} pairs were added.",
            new,
            round=show_number(number),
        ),
        icon=":material/check:",
    )
    pairs = write_link(
        tr("Show the pairs of round {number}", number=show_number(number)),
        make_pairs_url(dataset, PairFilter(number=number)),
    )
    overview = write_link(tr("What to do next"), make_url("/overview", dataset=dataset))
    st.html(f'<p class="annotator-step">{pairs} &nbsp; {overview}</p>')


def _draw_next_step(context: PageContext, dataset: str) -> None:
    people = context.call(list_people, dataset=dataset)
    if not any(item.role == "annotator" for person in people for item in person.memberships):
        st.text(tr("Next: invite annotators."))
        draw_link(context, "people")


BOARD = WorkBoard()  # the work of this process
STEPS = {
    "reading documents": say("reading documents"),
    "ranking": say("ranking"),
    "near duplicates": say("comparing texts for near duplicates"),
    STORING: say("storing the round"),
}
REFUSED = "pool work refused"
LONG = 60  # shorter times are shown in seconds


def find_key(database: Database, dataset: str) -> Hashable:
    return database.url.render_as_string(hide_password=True), dataset


@st.fragment(run_every=1.0)
def watch_work(dataset: str, title: str) -> None:
    """Draw the progress of the work with a button to stop it. Redraws the page at the end."""
    context = require_context()
    work = BOARD.find_running(find_key(context.database, dataset))
    if work is None:
        st.rerun()
    st.progress(work.share, text=f"{title} {describe_step(work)}")
    if work.actor.person_id != context.actor.person_id:
        st.text(tr("Started by {person}.", person=work.actor.username))
    st.button(tr("Stop"), key="stop round", disabled=work.stop_requested, on_click=_stop, args=(dataset,))
    if work.stop_requested:
        st.text(tr("Stopping after this step …"))


def describe_step(work: BackgroundWork) -> str:
    """Return the present step and the time left: "LSA: ranking, 12 seconds left"."""
    method, colon, step = work.step.rpartition(": ")
    parts = [f"{method}{colon}{tr(STEPS[step])}" if step in STEPS else tr(work.step)]
    seconds_left = work.estimate_left()
    if seconds_left is not None and work.share < 1:
        parts.append(
            tr_n("{n:,} second left", "{n:,} seconds left", max(1, round(seconds_left)))
            if seconds_left < LONG
            else tr("{duration} left", duration=show_duration(seconds_left))
        )
    return join_names(part for part in parts if part)


def describe_seconds(seconds: float) -> str:
    if seconds < LONG:
        return tr("{seconds} s", seconds=show_number(max(1, round(seconds))))
    return show_duration(seconds)


def _stop(dataset: str) -> None:
    context = find_context()
    if context is not None:
        BOARD.stop(find_key(context.database, dataset))
