"""Draw the page Agreement: the report, or the pairs behind one figure.

The report comes from the cache, or is measured now; meanwhile the page shows the first figures.
"""

from datetime import timedelta
from html import escape

import streamlit as st

from annotator.agreement.records import AgreementReport, CoefficientValue
from annotator.agreement.service import list_groupings
from annotator.domain.errors import ValidationError
from annotator.domain.figures import show_number
from annotator.web.agreement.links import TOO_MANY, find_first_grouping, find_selection
from annotator.web.agreement.people import name_report
from annotator.web.agreement.report_cache import KeptReport, ProgressCallback, find_kept_report
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.controls import find_chosen_option, note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.links import name_field
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext, list_person_names

ANEW = "measure_anew"


def find_report(context: PageContext, dataset: str, by: str | None) -> AgreementReport:
    """Return the report. If its data has changed since, draw a note and a button to measure again."""
    placeholder = st.empty()

    def show_progress(pairs: int, kappa: CoefficientValue) -> None:
        placeholder.html(
            f'<p class="annotator-note annotator-measuring" role="status">{escape(describe_first(pairs, kappa))}</p>'
        )

    kept = find_kept(context, dataset, by, report_progress=show_progress)
    if kept.changed:
        with placeholder.container():
            draw_changed(kept)
    else:
        placeholder.empty()
    draw_blind_pairs(context, dataset, kept.value.blind_pairs)
    return kept.value


def find_kept(
    context: PageContext,
    dataset: str,
    by: str | None = None,
    *,
    report_progress: ProgressCallback | None = None,
) -> KeptReport:
    """Return the report from the cache, or measure it now. `report_progress`: called with the first figures."""
    anew = st.session_state.pop(ANEW, False)
    return find_kept_report(
        context.database,
        context.actor,
        dataset,
        by=by,
        now=context.now,
        anew=anew,
        report_progress=report_progress,
    )


def describe_first(pairs: int, kappa: CoefficientValue) -> str:
    """Describe the first figures, which are ready before the report."""
    if kappa.value is None:
        return tr("Calculating agreement …")
    return tr_n(
        "Cohen's kappa: {kappa:.2f} ({pairs} pair). Calculating the confidence interval and all "
        "other figures …",
        "Cohen's kappa: {kappa:.2f} ({pairs} pairs). Calculating the confidence interval and all "
        "other figures …",
        pairs,
        kappa=kappa.value,
        pairs=show_number(pairs),
    )


def draw_changed(kept: KeptReport) -> None:
    """Draw when the report was measured and a button to measure again, if its data has changed since."""
    if not kept.changed:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        sentence = tr("Calculated on {time}. The data has changed since.", time=show_time(kept.made_at))
        st.html(f'<p class="annotator-note">{escape(sentence)}</p>', width="content")
        st.button(
            tr("Recalculate"),
            key="measure_again",
            on_click=_ask,
            type="tertiary",
            icon=":material/refresh:",
        )


def _ask() -> None:
    st.session_state[ANEW] = True
    note_press()


NOTHING = "nothing"
KEPT = timedelta(minutes=1)


def list_fields(context: PageContext, dataset: str) -> list[str]:
    """Return the fields for grouping, "nothing" first. Kept for a minute: listing them is slow."""
    cached_dataset, since, fields = st.session_state.get("groupings", ("", context.now, []))
    if cached_dataset != dataset or context.now - since >= KEPT:
        fields = [NOTHING, *list_groupings(context.database, context.actor, dataset)]
        st.session_state["groupings"] = (dataset, context.now, fields)
    return list(fields)


def find_grouping(context: PageContext, dataset: str) -> str | None:
    """Return the chosen field for grouping, at first the category; None for no groups."""
    fields = list_fields(context, dataset)
    if "by" not in st.session_state and "by" not in st.query_params:
        return find_first_grouping(dataset, fields)
    chosen = find_chosen_option("by", fields, name_field)
    return chosen if chosen in fields and chosen != NOTHING else None


def draw(context: PageContext) -> None:
    st.title(tr("Agreement"))
    dataset = require_dataset(context)
    selection = find_selection()
    if selection is not None:
        from annotator.web.agreement.pairs import draw_pairs

        draw_pairs(context, dataset, selection)
        return
    try:
        report = find_report(context, dataset, find_grouping(context, dataset))
    except ValidationError:
        if "by" in st.session_state or "by" in st.query_params:
            raise
        st.session_state[TOO_MANY] = dataset  # nobody asked for that grouping
        report = find_report(context, dataset, None)
    from annotator.web.agreement.report_view import draw_report

    named = name_report(report, list_person_names(context, dataset))
    draw_report(context, named, list_fields(context, dataset))
