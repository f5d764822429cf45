"""Where an annotator stands: done, left and about how long; training and consistency with oneself. Never gold."""

import streamlit as st

from annotator.labeling.domain_calibration import OwnChecks
from annotator.labeling.records import Pace
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.web_figures import show_difference, show_duration, show_share


def draw_pace(pace: Pace) -> None:
    """What is done and left, and how long the rest takes at the own pace, as far as that is known."""
    done = tr_n("You have judged {n:,} pair.", "You have judged {n:,} pairs.", pace.done)
    left = tr_n("{n:,} more is open to you.", "{n:,} more are open to you.", pace.left)
    st.text(f"{done} {left}")
    if not pace.left:
        return
    if pace.seconds is None or pace.needed is None:
        st.text(tr("How long that takes is not known yet: it is told from 10 answers on."))
        return
    st.text(tr(
        "At your pace that takes {duration} ({seconds} seconds a pair, the median of your last {timed:,} answers).",
        duration=show_duration(pace.needed), seconds=show_number(pace.seconds, 1), timed=pace.timed,
    ))  # fmt: skip


def draw_checks(own: OwnChecks) -> None:
    """That there are checks, and what one's own training and repeats say."""
    draw_note(tr(
        "Some pairs are checks: training before real pairs, and among the real ones pairs whose grade is known and pairs "
        "of your own that come again. They are not marked, and your answers on them never enter the results."
    ))  # fmt: skip
    if own.trained is not None and own.trained.latest is not None:
        st.text(tr(
            "Training: {right} right of {done} answered, {required} needed of {total}.",
            right=show_share(own.trained.latest), done=own.trained.done,
            required=show_share(own.trained.required), total=own.trained.total,
        ))  # fmt: skip
    if own.repeats.equal is None:
        st.text(tr("Consistency with yourself is undefined: {why}.", why=own.repeats.why or ""))
        return
    st.text(tr_n(
        "{n:,} pair was judged again: {equal} got the same answer, at a mean distance of {distance} grades.",
        "{n:,} pairs were judged again: {equal} got the same answer, at a mean distance of {distance} grades.",
        own.repeats.n, equal=show_share(own.repeats.equal), distance=show_difference(own.repeats.difference),
    ))  # fmt: skip
