"""Draw the page Agreement: the verdict, what to do about it and every figure, or the pairs behind one figure.

The report is kept or measured now; while it is being measured, the page shows what is already known.
"""

from datetime import timedelta
from html import escape

import streamlit as st

from annotator.agreement.records import AgreementReport, CoefficientValue
from annotator.agreement.service import list_groupings
from annotator.web.agreement.links import find_selection
from annotator.web.agreement.report_cache import REPORTS, KeptReport, Tell
from annotator.web.kit.controls import find_asked, note_press
from annotator.web.kit.figures import show_number, show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext

ANEW = "measure_anew"


def find_report(context: PageContext, dataset: str, by: str | None) -> AgreementReport:
    """The report. Where something has changed since it was measured, says so, with a way to have it measured anew."""
    place = st.empty()

    def tell(pairs: int, kappa: CoefficientValue) -> None:
        place.html(
            f'<p class="annotator-note annotator-measuring" role="status">{escape(say_first(pairs, kappa))}</p>'
        )

    kept = find_kept(context, dataset, by, tell=tell)
    if kept.changed:
        with place.container():
            draw_changed(kept)
    else:
        place.empty()
    return kept.report


def find_kept(
    context: PageContext,
    dataset: str,
    by: str | None = None,
    *,
    quick: float = 0.0,
    tell: Tell | None = None,
) -> KeptReport:
    """The report, kept or measured now, for whoever draws it elsewhere. `quick`: where something has changed and it takes no
    more seconds than these, it is measured now. `tell`: gets what is known first."""
    anew = st.session_state.pop(ANEW, False)
    return REPORTS.find(
        context.database, context.actor, dataset, by=by, now=context.now, anew=anew, quick=quick, tell=tell
    )


def say_first(pairs: int, kappa: CoefficientValue) -> str:
    """What is known in a moment."""
    if kappa.value is None:
        return tr("Measuring agreement …")
    return tr_n(
        "Cohen's kappa is {kappa:.2f} over {pairs} pair. Its interval and all other figures follow in a moment …",
        "Cohen's kappa is {kappa:.2f} over {pairs} pairs. Its interval and all other figures follow in a moment …",
        pairs,
        kappa=kappa.value,
        pairs=show_number(pairs),
    )


def draw_changed(kept: KeptReport) -> None:
    """Of when the report is, where something has changed since, and a way to have it measured again."""
    if not kept.changed:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        said = tr("Measured on {time}; something has changed since.", time=show_time(kept.measured_at))
        st.html(f'<p class="annotator-note">{escape(said)}</p>', width="content")
        st.button(
            tr("Measure again"),
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
    """The choices, "nothing" first; those of a minute ago where they are known: every query is read for them."""
    known, since, fields = st.session_state.get("groupings", ("", context.now, []))
    if known != dataset or context.now - since >= KEPT:
        fields = [NOTHING, *list_groupings(context.database, context.actor, dataset)]
        st.session_state["groupings"] = (dataset, context.now, fields)
    return list(fields)


def find_grouping(context: PageContext, dataset: str) -> str | None:
    """The field that is chosen, before its control is drawn; None for nothing. The fields are read only where one is
    asked for, in the address or by the control: a page that is opened shows its first figures before."""
    if "by" not in st.session_state and "by" not in st.query_params:
        return None
    fields = list_fields(context, dataset)
    chosen = find_asked("by", fields)
    return chosen if chosen in fields and chosen != NOTHING else None


def draw(context: PageContext) -> None:
    st.title(tr("Agreement"))
    dataset = require_dataset(context)
    selection = find_selection()
    if selection is not None:
        from annotator.web.agreement.pairs import draw_pairs

        draw_pairs(context, dataset, selection)
        return
    report = find_report(context, dataset, find_grouping(context, dataset))
    from annotator.web.agreement.report_view import draw_report

    draw_report(context, report, list_fields(context, dataset))
