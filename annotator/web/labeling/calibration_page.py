"""Calibration: train new annotators, hide gold pairs and repeats among the others, and see what they show. For leads.

The results are leads on where the standard is not yet shared; people stand by name.
"""

import streamlit as st

from annotator.labeling.calibration_service import compute_results, list_checks
from annotator.labeling.domain_calibration import AnnotatorResult
from annotator.labeling.my_work_service import compute_times
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_chart, draw_note, draw_numbers, require_dataset
from annotator.web.kit.tables import draw_table
from annotator.web.labeling.check_chart import (
    chart_shares,
    describe_shares,
    list_miss_rows,
    list_result_rows,
    list_shares,
    list_time_rows,
)
from annotator.web.labeling.check_forms import draw_done, draw_mark, draw_marked, draw_settings
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("Calibration"))
    dataset = require_dataset(context)
    draw_note(tr(
        "Training pairs come before real ones and are explained after the answer. Gold pairs and repeats are hidden among "
        "the others. Annotators are told that there are such checks. None of these answers enters agreement or qrels."
    ))  # fmt: skip
    draw_done()
    marked = list_checks(context.database, context.actor, dataset, now=context.now)
    results = compute_results(context.database, context.actor, dataset, now=context.now)
    if not marked:
        st.text(tr("No pair is marked yet. Mark some below: about ten for training, more for gold."))
    if any(one.training or one.gold.answered or one.repeats.n for one in results):
        st.header(tr("What the checks show"))
        _draw_results(results)
    st.header(tr("Marked pairs") if marked else tr("Mark a pair"))
    if marked:
        draw_marked(context, dataset, marked)
        st.header(tr("Mark a pair"))
    draw_mark(context, dataset)
    st.header(tr("Rates"))
    draw_settings(context, next(item for item in context.datasets if item.name == dataset))
    st.header(tr("Time per pair"))
    _draw_times(context, dataset)


def _draw_results(results: list[AnnotatorResult]) -> None:
    if list_shares(results):
        draw_chart(chart_shares(results), describe_shares(results))
        draw_note(
            tr("The share of answers that are right; of repeats, that are equal to one's own first answer.")
        )
    else:
        st.text(tr("Nobody has answered a check yet."))
    draw_note(tr("People stand by name. A difference is a reason to talk about the guideline, not a mark."))
    draw_numbers(tr("All figures"), list_result_rows(results))
    misses = list_miss_rows(results)
    if misses:
        draw_numbers(tr("Misses on gold pairs"), misses)


def _draw_times(context: PageContext, dataset: str) -> None:
    times = compute_times(context.database, context.actor, dataset)
    if not times.n:
        st.text(tr("No answer has told its time yet."))
        return
    draw_note(tr_n(
        "Median active time of the latest {n:,} answer, by name. Long documents and hard queries take longer.",
        "Median active time of the latest {n:,} answers, by name. Long documents and hard queries take longer.",
        times.n,
    ))  # fmt: skip
    draw_table(
        tr("Median active time per pair"), (tr("what"), tr("median"), tr("answers")), list_time_rows(times)
    )
