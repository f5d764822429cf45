"""Make previews and rounds of the pool in the background, one at a time per dataset, and draw their progress."""

from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.pooling.rounds.rounds_service import STORING
from annotator.storage.database import Database
from annotator.web.kit.background_work import BackgroundWork, ReportStep, WorkBoard
from annotator.web.kit.figures import show_duration
from annotator.web.kit.messages import join_names, show_refusal, tr, tr_n
from annotator.web.page_context import PageContext, find_context, require_context

ROUNDS = "round"
BOARD = WorkBoard()  # the work of this process
STEPS = {
    "reading documents": say("reading documents"),
    "ranking": say("ranking"),
    "near duplicates": say("comparing texts for near duplicates"),
    STORING: say("storing the round"),
}
REFUSED = "pool work refused"
LONG = 60  # shorter times are shown in seconds


def find_key(database: Database, dataset: str, kind: str) -> Hashable:
    return database.url.render_as_string(hide_password=True), dataset, kind


def begin_work(
    context: PageContext, dataset: str, kind: str, request: Any, act: Callable[[ReportStep], Any]
) -> BackgroundWork | None:
    """Begin work. Return None if another lead was faster; `draw_refused` then says so."""
    try:
        return BOARD.start(
            find_key(context.database, dataset, kind), context.actor, request, act, now=context.now
        )
    except AnnotatorError as error:
        st.session_state[REFUSED] = show_refusal(error)
        return None


def draw_refused() -> None:
    """Say once why the last press did not begin any work."""
    refused = st.session_state.pop(REFUSED, None)
    if refused:
        st.warning(refused, icon=":material/hourglass:")


def forget_refused() -> None:
    """Drop the message of `draw_refused`, for work that the page itself tried to begin."""
    st.session_state.pop(REFUSED, None)


@st.fragment(run_every=1.0)
def watch_work(dataset: str, kind: str, title: str) -> None:
    """Draw the progress of the work with a button to stop it. Redraws the page at the end."""
    context = require_context()
    work = BOARD.find_running(find_key(context.database, dataset, kind))
    if work is None:
        st.rerun()
    st.progress(work.share, text=f"{title} {describe_step(work)}")
    if work.actor.person_id != context.actor.person_id:
        st.text(tr("Started by {person}.", person=work.actor.username))
    st.button(
        tr("Stop"), key=f"stop {kind}", disabled=work.stop_requested, on_click=_stop, args=(dataset, kind)
    )
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
    """Return a duration in words: "4 s", "about 3 minutes"."""
    if seconds < LONG:
        return tr("{seconds} s", seconds=show_number(max(1, round(seconds))))
    return show_duration(seconds)


def _stop(dataset: str, kind: str) -> None:
    context = find_context()
    if context is not None:
        BOARD.stop(find_key(context.database, dataset, kind))
