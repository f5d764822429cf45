"""What the queue says when nothing waits: that nothing does, how well annotators agree, and the way on to a release."""

import streamlit as st

from annotator.web.agreement.agreement_measured import find_kept
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.text import show_as
from annotator.web.page_context import PageContext


def draw_nothing_disputed(context: PageContext, dataset: str, *, decided: int) -> None:
    """`decided`: how many disputes there were."""
    st.html(show_as("verdict", tr("Nothing is disputed"), place="h2"))
    if decided:
        st.text(
            tr_n("The one dispute that there was is decided.", "All {n:,} disputes are decided.", decided)
        )
    report = find_kept(context, dataset).report
    kappa = report.measured.cohen_kappa["unweighted"]
    if kappa.value is None:
        st.text(tr("Agreement is not known: {why}.", why=kappa.why))
    else:
        low, high = kappa.ci95 or (None, None)
        figures = {"kappa": show_number(kappa.value, 2), "pairs": show_number(report.measured.pairs)}
        if low is None or high is None:
            st.text(tr_n(
                "Cohen's kappa is {kappa} over {pairs} pair.", "Cohen's kappa is {kappa} over {pairs} pairs.",
                report.measured.pairs, **figures,
            ))  # fmt: skip
        else:
            st.text(tr_n(
                "Cohen's kappa is {kappa} over {pairs} pair, 95 % interval {low} to {high}.",
                "Cohen's kappa is {kappa} over {pairs} pairs, 95 % interval {low} to {high}.",
                report.measured.pairs, low=show_number(low, 2), high=show_number(high, 2), **figures,
            ))  # fmt: skip
    if not report.measured.pairs:
        draw_note(tr("A pair comes here the moment two annotators differ on it."))
        draw_link(context, "overview")
        return
    draw_note(tr("What a release still needs, and the way to publish it:"))
    draw_link(context, "releases")
