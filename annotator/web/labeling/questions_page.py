"""Draw the page Questions: leads answer questions on pairs, annotators see their own and the answers.

Never shows a grade. A lead's typed text stays until it is stored. A question on a pair that the lead may
still judge is folded with its answer, because both may hint at a grade.
"""

from datetime import datetime
from html import escape

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.domain.people import includes
from annotator.labeling.questions_service import (
    answer_question,
    flag_for_guideline,
    list_own_questions,
    list_questions,
    read_question_text,
)
from annotator.labeling.records import OwnQuestions, PairQuestion
from annotator.web.kit.controls import keep_focus, note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import draw_pager, read_part
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_problem, require_dataset
from annotator.web.kit.text import show_as
from annotator.web.page_context import PageContext, find_context, note_visit


def draw_own(question: PairQuestion) -> None:
    with st.container(border=True, gap="xsmall"):
        st.html(_describe(question) + _show_question(question, tr("You asked")))
        if question.answer is None:
            draw_note(tr("Waiting for an answer."))
        else:
            st.html(_show_answer(question))


def draw_waiting(context: PageContext, question: PairQuestion) -> None:
    with st.container(border=True, gap="small"):
        _draw_question(context, question)
        _draw_form(question)


def draw_answered(context: PageContext, question: PairQuestion) -> None:
    """Draw an answered question, with its checkbox for the guideline and a form for a new answer."""
    with st.container(border=True, gap="small"):
        _draw_question(context, question)
        key = f"mark {question.number} {question.in_guideline}"
        st.checkbox(
            tr("Include in the guideline"),
            value=question.in_guideline,
            key=key,
            on_change=_flag_for_guideline,
            args=(question.number, not question.in_guideline, key),
        )
        with st.expander(tr("Change the answer")):
            _draw_form(question)


def _draw_question(context: PageContext, question: PairQuestion) -> None:
    st.html(_describe(question))
    question_html = _show_question(question, tr("{name} asked", name=question.asked_by))
    if question.answer is not None:
        question_html += _show_answer(question)
    if question.unjudged_by_reader:
        draw_note(
            tr(
                "You may still have to judge this pair, and the question may hint at a grade. Another lead "
                "can answer it."
            )
        )
        with st.expander(tr("Read the question anyway")):
            st.html(question_html)
    else:
        st.html(question_html)
    if question.text_length and st.toggle(tr("Show the document"), key=f"document {question.number}"):
        text = context.call(read_question_text, context.dataset or "", question.number)
        st.html(
            f'<pre class="annotator-document" tabindex="0" role="region" aria-label="{escape(tr("Document"))}" '
            f'dir="auto">{escape(text or "")}</pre>'
        )
        if text is not None and len(text) < question.text_length:
            draw_note(tr("Only the beginning is shown."))


def _draw_form(question: PairQuestion) -> None:
    number = question.number
    st.text_area(
        tr("Your answer"),
        key=f"answer {number}",
        height=90,
        max_chars=5_000,
        on_change="ignore",
        persist_state="session",
    )
    refused = st.session_state.get("not answered")
    if refused and refused[0] == number:
        draw_problem(refused[1])
        del st.session_state["not answered"]
    if question.answer is None:
        st.checkbox(tr("Include in the guideline"), key=f"guideline {number}", on_change="ignore")
    st.button(
        tr("Send answer"),
        type="primary",
        key=f"send {number}",
        on_click=_answer,
        args=(number, question.answer, question.in_guideline),
    )


def _answer(number: int, seen: str | None, marked: bool) -> None:
    context = find_context()
    if context is None or context.dataset is None:
        return
    try:
        context.call(
            answer_question,
            context.dataset,
            number,
            st.session_state.get(f"answer {number}") or "",
            seen=seen,
            in_guideline=st.session_state.get(f"guideline {number}", marked),
            now=context.now,
        )
    except AnnotatorError as error:
        st.session_state["not answered"] = (number, show_refusal(error))
    else:
        st.session_state.pop(f"answer {number}", None)
        st.session_state["answered"] = tr("Answer sent.")
        note_press()


def _flag_for_guideline(number: int, wanted: bool, key: str) -> None:
    """Store whether the answer should go into the guideline.

    Does nothing if the checkbox with this key has another value: a browser may report a checkbox that is
    gone.
    """
    context = find_context()
    if context is not None and context.dataset is not None and st.session_state.get(key) is wanted:
        context.call(flag_for_guideline, context.dataset, number, in_guideline=wanted)


def _describe(question: PairQuestion) -> str:
    document = f"<code>{escape(question.doc_id)}</code>"
    title = f"<strong>{escape(question.title)}</strong> " if question.title else ""
    narrative = show_as("narrative", question.narrative) if question.narrative else ""
    return f'{show_as("query", question.query)}{narrative}<p class="annotator-person" dir="auto">{title}{document}</p>'


def _show_question(question: PairQuestion, who: str) -> str:
    when = f'<p class="annotator-note">{escape(who)} · {escape(show_time(question.asked_at))}</p>'
    return when + show_as("said", question.text)


def _show_answer(question: PairQuestion) -> str:
    who = tr("{name} answered", name=question.answered_by or "")
    when = f" · {show_time(question.answered_at)}" if question.answered_at else ""
    return f'<p class="annotator-note">{escape(who)}{escape(when)}</p>' + show_as(
        "said", question.answer or ""
    )


MOST_WAITING, MOST_ANSWERED = 20, 50
OWN = "own-questions"


def draw(context: PageContext) -> None:
    st.title(tr("Questions"))
    dataset = require_dataset(context)
    message = st.session_state.pop("answered", None)
    if message:
        st.toast(message, icon=":material/check:")
    if context.role is not None and includes(context.role, "lead"):
        _draw_all(context, context.call(list_questions, dataset))
    else:
        _draw_own(context, dataset)
    keep_focus()


def _draw_all(context: PageContext, questions: list[PairQuestion]) -> None:
    if not questions:
        st.text(tr("No questions yet. Annotators can ask about a pair while labeling: they press q."))
        draw_link(context, "overview")
        return
    waiting = [item for item in questions if item.answer is None]
    answered = [item for item in questions if item.answer is not None]
    st.header(tr("Waiting for an answer"))
    if not waiting:
        st.text(tr("All questions are answered."))
    for item in waiting[:MOST_WAITING]:
        draw_waiting(context, item)
    left = len(waiting) - MOST_WAITING
    if left > 0:
        draw_note(tr_n("{n:,} more question is waiting.", "{n:,} more questions are waiting.", left))
    if answered:
        st.header(tr("Answered"))
        for item in answered[:MOST_ANSWERED]:
            draw_answered(context, item)


def _draw_own(context: PageContext, dataset: str) -> None:
    start, page = read_own_questions(context, dataset, MOST_WAITING, note_visit("questions", context.now))
    if not page.total:
        st.text(tr("You have not asked any questions yet. To ask about a pair, press q while labeling."))
        draw_link(context, "label")
        return
    with st.container(key=OWN):
        for item in page.questions:
            draw_own(item)
    draw_pager(start, len(page.questions), page.total, size=MOST_WAITING, key=OWN)


def read_own_questions(
    context: PageContext, dataset: str, size: int, visit: datetime
) -> tuple[int, OwnQuestions]:
    """Return a page of the reader's own questions with its start. `visit`: when the page was opened."""
    return read_part(
        lambda start: context.call(
            list_own_questions, dataset, limit=size, offset=start, visit=visit, now=context.now
        ),
        size,
        lambda page: page.total,
    )
