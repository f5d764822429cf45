"""The questions an annotator asked, with the leads' answers."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.labeling.questions_service import Question
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr


def draw_questions(questions: Sequence[Question]) -> None:
    """Each question with its pair, and its answer or that it waits for one."""
    for one in questions:
        answer = tr("Not answered yet.") if one.answer is None else one.answer
        said = "" if one.answered_at is None else show_time(one.answered_at)
        st.html(
            f'<p class="annotator-note" dir="auto">{escape(show_time(one.asked_at))} · {escape(one.query_id)} · '
            f'{escape(one.doc_id)}</p><p class="annotator-said" dir="auto"><strong>{escape(one.text)}</strong></p>'
            f'<p class="annotator-said" dir="auto">{escape(answer)}</p>'
            f'<p class="annotator-note">{escape(said)}</p>'
        )
