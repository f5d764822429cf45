"""Questions on pairs: leads answer them, annotators see their own and the answers. Nobody sees a grade here."""

import streamlit as st

from annotator.domain.people import includes
from annotator.labeling.questions_service import Question, list_own_questions, list_questions
from annotator.web.kit.focus import keep_focus
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, require_dataset
from annotator.web.labeling.question_view import draw_answered, draw_own, draw_waiting
from annotator.web.page_context import PageContext

MOST_WAITING, MOST_ANSWERED = 20, 50


def draw(context: PageContext) -> None:
    st.title(tr("Questions"))
    dataset = require_dataset(context)
    said = st.session_state.pop("answered", None)
    if said:
        st.toast(said, icon=":material/check:")
    if context.role is not None and includes(context.role, "lead"):
        _draw_all(context, list_questions(context.database, context.actor, dataset))
        keep_focus()
    else:
        _draw_own(context, list_own_questions(context.database, context.actor, dataset))


def _draw_all(context: PageContext, questions: list[Question]) -> None:
    if not questions:
        st.text(
            tr(
                "Nobody has asked anything so far. Annotators ask about a pair while they label, by the key q."
            )
        )
        draw_link(context, "overview")
        return
    waiting = [item for item in questions if item.answer is None]
    answered = [item for item in questions if item.answer is not None]
    st.header(tr("Waiting for an answer"))
    if not waiting:
        st.text(tr("Every question is answered."))
    for item in waiting[:MOST_WAITING]:
        draw_waiting(context, item)
    left = len(waiting) - MOST_WAITING
    if left > 0:
        draw_note(tr_n("{n:,} more waits.", "{n:,} more wait.", left))
    if answered:
        st.header(tr("Answered"))
        for item in answered[:MOST_ANSWERED]:
            draw_answered(context, item)


def _draw_own(context: PageContext, questions: list[Question]) -> None:
    if not questions:
        st.text(tr("You have not asked anything so far. Ask about a pair while you label: press q."))
        draw_link(context, "label")
        return
    for item in questions:
        draw_own(item)
