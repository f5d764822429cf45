"""My work: what is left and about how long it takes, discussions, what one did and can still change, what leads decided on
it, one's own checks and questions.

Everybody sees the own work only.
"""

import streamlit as st

from annotator.agreement.service import show_own_agreement
from annotator.dataset.service import read_current_rubric
from annotator.labeling.calibration_service import show_own_checks
from annotator.labeling.my_work_service import list_own_work, list_work_categories, show_pace
from annotator.labeling.questions_service import list_own_questions
from annotator.web.adjudication.my_disagreements import draw_discussions
from annotator.web.adjudication.own_decisions import draw_decisions
from annotator.web.kit.figures import find_zone
from annotator.web.kit.focus import keep_focus
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, require_dataset
from annotator.web.labeling.own_agreement import draw_own_agreement
from annotator.web.labeling.own_answers import draw_answers
from annotator.web.labeling.own_filters import SIZE, draw_filters, draw_pages, find_page
from annotator.web.labeling.own_questions import draw_questions
from annotator.web.labeling.own_standing import draw_checks, draw_pace
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("My work"))
    dataset = require_dataset(context)
    database, actor = context.database, context.actor
    pace = show_pace(database, actor, dataset, now=context.now)
    draw_pace(pace)
    draw_link(context, "label")
    _version, rubric = read_current_rubric(database, actor, dataset)
    names = [definition.name for definition in rubric.grades]
    with st.container():
        draw_discussions(context, dataset, names)
    st.header(tr("What I did"))
    _draw_answers(context, dataset)
    with st.container():
        draw_decisions(context, dataset, names)
    st.header(tr("How consistent I am"))
    draw_checks(show_own_checks(database, actor, dataset, now=context.now))
    if next(one for one in context.datasets if one.name == dataset).show_own_agreement:
        st.header(tr("How I agree with the others"))
        draw_own_agreement(show_own_agreement(database, actor, dataset), names)
    questions = list_own_questions(database, actor, dataset)
    if questions:
        st.header(tr("Questions I asked"))
        draw_questions(questions)
    keep_focus()


def _draw_answers(context: PageContext, dataset: str) -> None:
    wanted = draw_filters(list_work_categories(context.database, context.actor, dataset))
    found = list_own_work(
        context.database, context.actor, dataset, wanted, zone=find_zone(), page=find_page(), size=SIZE
    )
    if not found.total:
        st.text(tr("There is no answer of yours of this kind."))
        return
    st.text(tr_n("{n:,} answer, the latest first.", "{n:,} answers, the latest first.", found.total))
    draw_answers(dataset, found.judgments)
    draw_pages(found.total)
