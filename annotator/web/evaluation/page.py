"""Draw the page Evaluation: the choices, then the evaluation or the ranked lists of one query."""

from dataclasses import replace
from html import escape

import streamlit as st

from annotator.domain.errors import InsufficientData
from annotator.evaluation.service import EvaluationResult, list_choices
from annotator.web.blind_pairs import draw_give_up
from annotator.web.evaluation.choice import draw_choice
from annotator.web.kit.controls import keep_focus
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_changed, draw_link, require_dataset
from annotator.web.kit.words import name_person
from annotator.web.page_context import PageContext, list_person_names

ANEW = "evaluate anew"


def draw(context: PageContext) -> None:
    st.title(tr("Evaluation"))
    dataset = require_dataset(context)
    choices = context.call(list_choices, dataset)
    if not choices.systems:
        st.text(tr("No runs yet. Import the ranked results of your systems, one file per system."))
        draw_link(context, "import")
        return
    if not choices.has_grades and not choices.versions:
        st.text(tr("The systems cannot be scored yet: no pair has a settled grade."))
        draw_link(context, "overview")
        return
    profile = next(item.profile for item in context.datasets if item.name == dataset)
    choice = draw_choice(choices, profile)
    placeholder = st.empty()

    def announce() -> None:
        systems = len(choice.systems or choices.systems)
        words = tr_n("Scoring {n:,} system …", "Scoring {n:,} systems …", systems)
        placeholder.html(f'<p class="annotator-note" role="status">{escape(words)}</p>')

    from annotator.web.evaluation.evaluation_cache import find_evaluation
    from annotator.web.evaluation.query_view import draw_query

    query_id = st.query_params.get("query")
    try:
        kept = context.call(
            find_evaluation,
            dataset,
            choice,
            now=context.now,
            anew=st.session_state.pop(ANEW, False),
            announce=announce,
        )
    except InsufficientData as error:  # the lead may still judge a pair of every query
        placeholder.empty()
        st.text(show_refusal(error))
        draw_give_up(context, dataset)
        if query_id is not None:
            draw_query(context, dataset, choice, None, query_id)
        return
    placeholder.empty()
    if kept.changed:
        with placeholder.container(horizontal=True, vertical_alignment="center"):
            draw_changed(kept.made_at, ANEW, key="evaluate-again")
    from annotator.web.evaluation.report_view import draw_report

    if query_id is not None:
        draw_query(context, dataset, choice, kept.value, query_id)
    else:
        draw_report(context, dataset, choice, choices, _name_people(context, dataset, kept.value))
    keep_focus()


def _name_people(context: PageContext, dataset: str, result: EvaluationResult) -> EvaluationResult:
    """Return the result with the displayed names of annotators instead of usernames."""
    robustness = result.robustness
    if robustness is None or not robustness.by_annotator:
        return result
    names = list_person_names(context, dataset)
    by_annotator = tuple(
        replace(variant, variant=name_person(variant.variant, names)) for variant in robustness.by_annotator
    )
    return replace(result, robustness=replace(robustness, by_annotator=by_annotator))
