"""Draw the tab "Reliability": saturation, power, stability of the order, pooling, and what to judge next."""

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.evaluation.dataset_analysis.system_order import ResampledOrder
from annotator.pooling.service import PooledResults, pool_results
from annotator.web.evaluation.page import ShownEvaluation
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_method, draw_note
from annotator.web.page_context import find_context

SUGGESTED = 20
COUNT = "holes to judge"


def draw(shown: ShownEvaluation) -> None:
    _draw_holes(shown)
    _draw_saturation(shown)
    _draw_power(shown)
    _draw_order(shown)
    _draw_left_out(shown)
    sentences = [
        tr("80 % power, paired t-test at the 5 % level."),
        tr("τ is 1 for the same order and −1 for the reversed one; τ_AP weighs the top more."),
    ]
    if shown.result.robustness is not None:
        sentences.append(
            tr(
                "On {measure}. A large loss means that a new system that was not pooled would score too low.",
                measure=shown.result.robustness.measure,
            )
        )
    draw_method("reliability", *sentences)


def _draw_holes(shown: ShownEvaluation) -> None:
    need = shown.evaluation.dataset.holes
    st.header(tr("What to judge next"))
    draw_pooled()
    if need is None:
        st.text(tr("Choose nDCG or P with a cutoff among the measures to see which documents to judge next."))
        return
    st.text(tr(need.sentence))
    if not need.holes:
        return
    by_system = join_names(f"{system} {show_number(count)}" for system, count in need.by_system.items())
    draw_note(tr("Unjudged in the top {n}: {systems}.", n=need.cutoff, systems=by_system))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = st.number_input(
            tr("Documents, most influential first"),
            min_value=1,
            max_value=len(need.holes),
            value=min(SUGGESTED, len(need.holes)),
            width=280,
            key=COUNT,
        )
        chosen = [(hole.query_id, hole.doc_id) for hole in need.holes[: int(count)]]
        st.button(
            tr("Request judgments"),
            key="judge-holes",
            on_click=have_judged,
            args=(shown.dataset, chosen),
            icon=":material/playlist_add:",
        )
    shown.show_table("holes", tr("Unjudged documents as a table"), folded=True)


def have_judged(dataset: str, results: list[tuple[str, str]]) -> None:
    """Add these results (query_id, doc_id) to the pool, and keep the outcome for the next drawing of the page."""
    context = find_context()
    if context is None:
        return
    note_press("pooled")
    try:
        note_pooled(context.call(pool_results, dataset, results, now=context.now))
    except AnnotatorError as error:
        note_pooled(error)


def _draw_saturation(shown: ShownEvaluation) -> None:
    if not shown.evaluation.dataset.saturation:
        return
    st.header(tr("Which measures can rank these systems"))
    shown.show_table("saturation", tr("Which measures can rank these systems"))
    saturation = next(
        (one for one in shown.evaluation.dataset.saturation if one.measure == shown.measure), None
    )
    if saturation is not None and saturation.shares and saturation.shares[0].share <= 1:
        largest = join_names(
            f"{share.query_id} {show_share(share.share)}"
            for share in saturation.shares[:5]
            if share.share > 0
        )
        draw_note(
            tr(
                "Share of the difference in {measure} due to single queries: {queries}.",
                measure=shown.measure,
                queries=largest or "–",
            )
        )


def _draw_power(shown: ShownEvaluation) -> None:
    powers = [power for power in shown.evaluation.dataset.power if power.measure == shown.measure]
    if not powers:
        return
    title = tr("Smallest detectable difference in {measure}", measure=shown.measure)
    st.header(title)
    shown.show_table("power", title)


def _draw_order(shown: ShownEvaluation) -> None:
    order = shown.evaluation.dataset.order.get(shown.measure)
    if order is None:
        return
    st.header(tr("Stability of the order"))
    st.text(_describe_order(order, shown.measure))
    shown.show_table("order", tr("Neighbouring systems with resampled queries"))
    robustness = shown.result.robustness
    if robustness is None or not (robustness.by_annotator or robustness.disputed):
        return
    title = tr("Order on {measure} with other grades", measure=robustness.measure)
    st.subheader(title)
    shown.show_table("variants", title)


def _describe_order(order: ResampledOrder, measure: str) -> str:
    sentences = [
        tr("On {measure}: {systems}.", measure=measure, systems=" > ".join(order.systems)),
        tr(
            "{system} stays first in {share} of the resamples.",
            system=order.systems[0],
            share=show_share(order.same_winner, 1),
        ),
    ]
    if order.tau is not None and order.tau_range is not None:
        low, high = order.tau_range
        sentences.append(
            tr(
                "Kendall's τ of the resampled orders: {tau} [{low}, {high}].",
                tau=show_number(order.tau, 2),
                low=show_number(low, 2),
                high=show_number(high, 2),
            )
        )
    return join_sentences(sentences)


def _draw_left_out(shown: ShownEvaluation) -> None:
    robustness = shown.result.robustness
    if robustness is None or not robustness.left_out:
        return
    title = tr("Score loss if a system had not been pooled")
    st.header(title)
    shown.show_table("left-out", title)


KEY = "pooled results"


def note_pooled(outcome: PooledResults | AnnotatorError) -> None:
    st.session_state[KEY] = outcome


def draw_pooled() -> None:
    outcome = st.session_state.pop(KEY, None)
    with st.container(key="pooled"):
        if isinstance(outcome, PooledResults):
            st.success(describe_pooled(outcome), icon=":material/playlist_add_check:")
        elif outcome is not None:
            st.error(show_refusal(outcome), icon=":material/block:")


def describe_pooled(outcome: PooledResults) -> str:
    """Return in sentences how many pairs are new and how many were already in the pool."""
    sentences = [
        tr_n("{n:,} pair was added to the pool.", "{n:,} pairs were added to the pool.", outcome.new)
    ]
    if outcome.already_there:
        sentences.append(
            tr_n("{n:,} was already in the pool.", "{n:,} were already in the pool.", outcome.already_there)
        )
    if outcome.new:
        sentences.append(
            tr("Annotators get these pairs like any other pair and see nothing about the systems.")
        )
    return join_sentences(sentences)
