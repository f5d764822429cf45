"""Draw the page My work: the remaining work and time, the news, and tabs about the person's own work.

The tabs are: decisions on own pairs, discussions, own questions, own judgments, consistency. A tab reads one
page of its list, and only when it is open; the shown items are marked as read. People see only their own
work: a filtered list of answers, which can be changed while still open; results of training and
self-consistency, never of gold pairs; and agreement with all others together, without names or single pairs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotator.adjudication.discussion.discussion_service import count_news, list_own_decisions
from annotator.agreement.records import FEW_OWN, OWN_STEP, OwnAgreement
from annotator.agreement.service import show_own_agreement
from annotator.dataset.service import read_current_rubric
from annotator.domain.figures import show_number
from annotator.domain.grades import list_local_names
from annotator.domain.messages import Message, say
from annotator.labeling.calibration_service import show_own_checks
from annotator.labeling.my_work_service import list_own_work, list_work_categories, show_pace
from annotator.labeling.questions_service import count_new_answers
from annotator.labeling.records import LabelingPace, OwnChecks, OwnJudgment, OwnJudgmentFilter, PairQuestion
from annotator.web.adjudication.my_disagreements import (
    describe_pair,
    draw_decisions,
    draw_discussions,
    follow_in_sidebar,
    show_new,
)
from annotator.web.kit.charts import show_value
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.figures import (
    find_zone,
    show_difference,
    show_duration,
    show_share,
    show_time,
)
from annotator.web.kit.lists import START, draw_days, draw_pager, go_to, read_part
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, require_dataset
from annotator.web.kit.tables import draw_html_table, draw_table, escape_breakable
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_grades
from annotator.web.labeling.questions_page import read_own_questions
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, note_visit

QUESTIONS_SHOWN, ASKED = 5, "own-questions"
REASONS = ("unreadable", "wrong_language", "document_missing", "query_unclear", "other")


def draw_answers(dataset: str, answers: Sequence[OwnJudgment]) -> None:
    """Draw the answers, each with a link to change it or the reason why it cannot change."""
    heads = (tr("judgment"), tr("query"), tr("document"), tr("change"))
    row = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(_row(dataset, answer) for answer in answers)
    draw_html_table(tr("My judgments"), row, body, " annotator-stacked")


def name_answer(judgment: OwnJudgment) -> str:
    """Return the grade, or "set to later" or "cannot rate"."""
    if judgment.outcome == "later":
        return tr("set to later")
    if judgment.outcome == "graded":
        return str(judgment.grade)
    return (
        tr("cannot rate: {reason}", reason=name_reason(judgment.reason))
        if judgment.reason
        else tr("cannot rate")
    )


def name_reason(reason: str) -> str:
    return {
        "unreadable": tr("unreadable"),
        "wrong_language": tr("wrong language"),
        "document_missing": tr("document missing"),
        "query_unclear": tr("query unclear"),
    }.get(reason, tr("other"))


def _row(dataset: str, judgment: OwnJudgment) -> str:
    note = f'<br><span class="annotator-soft">{escape(judgment.note)}</span>' if judgment.note else ""
    title = f"<br>{escape(judgment.title)}" if judgment.title and judgment.title != judgment.doc_id else ""
    when = f'<br><span class="annotator-soft">{escape(show_time(judgment.judged_at))}</span>'
    return (
        f'<tr><th scope="row" dir="auto" data-column="{escape(tr("judgment"), quote=True)}">{escape(name_answer(judgment))}</th>'
        f'<td class="annotator-long" dir="auto">{escape(judgment.query)}</td>'
        f'<td class="annotator-long" dir="auto">{escape_breakable(judgment.doc_id)}{title}{note}{when}</td>'
        f"<td>{_change(dataset, judgment)}</td></tr>"
    )


def _change(dataset: str, judgment: OwnJudgment) -> str:
    if judgment.locked == "settled":
        return escape(tr("settled by a lead"))
    if judgment.locked is not None:
        return escape(tr("you have seen others' judgments"))
    address = make_url("/label", dataset=dataset, pair=judgment.pair)
    named = escape(
        tr("Change {query_id} {doc_id}", query_id=judgment.query_id, doc_id=judgment.doc_id), quote=True
    )
    return (
        f'<a class="annotator-link" href="{escape(address, quote=True)}" target="_self" style="white-space: nowrap" aria-label="{named}">'
        f"{escape(tr('Change'))}</a>"
    )


ANY = ""
ANSWERS = (ANY, "0", "1", "2", "3", "unrateable", "later")
SIZE = 10
LIST = "own-judgments"


def draw_filters(categories: Sequence[str]) -> OwnJudgmentFilter:
    with st.container(horizontal=True):
        words = st.text_input(
            tr("Search in queries and documents"),
            key="words",
            max_chars=200,
            autocomplete="off",
            on_change=_begin,
            width=320,
        )
        answer = st.selectbox(
            tr("Judgment"), ANSWERS, format_func=_name_answer, key="answer", on_change=_begin, width=180
        )
        category = ANY
        if categories:
            category = st.selectbox(
                tr("Category"),
                (ANY, *categories),
                format_func=lambda name: name or tr("all"),
                key="category",
                on_change=_begin,
                width=220,
            )
        days = draw_days("first", "last", on_change=_begin)
    return OwnJudgmentFilter(words, answer or None, category or None, *days)


def _begin() -> None:
    go_to(0, container=LIST)


def _name_answer(answer: str) -> str:
    return {ANY: tr("all"), "unrateable": tr("cannot rate"), "later": tr("set to later")}.get(answer, answer)


def draw_pace(pace: LabelingPace) -> None:
    """Draw the progress, and the remaining time at the annotator's pace, if it is known."""
    done = tr_n("You have judged {n:,} pair.", "You have judged {n:,} pairs.", pace.done)
    left = tr_n("{n:,} pair left.", "{n:,} pairs left.", pace.left)
    st.text(join_sentences([done, left]))
    if not pace.left:
        return
    if pace.seconds is None or pace.needed is None:
        st.text(tr("The time left appears after 10 judgments."))
        return
    st.text(
        tr(
            "At your pace, this takes {duration} ({seconds} seconds per pair, the median of your last "
            "{timed:,} judgments).",
            duration=show_duration(pace.needed),
            seconds=show_number(pace.seconds, 1),
            timed=pace.timed,
        )
    )


def draw_checks(own: OwnChecks) -> None:
    """Draw that there are checks, and the annotator's own results in training and repeats."""
    draw_note(
        tr(
            "Some pairs are checks: training pairs before the real ones, and hidden among the real ones, "
            "pairs with a known grade and pairs you judged before. Your judgments on checks never count "
            "in the results."
        )
    )
    if own.trained is not None and own.trained.latest is not None:
        st.text(
            tr(
                "Training: {right} right so far ({done} of {total} judged). You need {required} of {total}.",
                right=show_share(own.trained.latest),
                done=own.trained.done,
                required=show_share(own.trained.required),
                total=own.trained.total,
            )
        )
    if own.repeats.equal is None:
        st.text(tr("Your consistency cannot be computed: {why}.", why=own.repeats.why or ""))
        return
    st.text(
        tr_n(
            "You judged {n:,} pair a second time: {equal} the same as before, with a mean difference of "
            "{distance} grades.",
            "You judged {n:,} pairs a second time: {equal} the same as before, with a mean difference of "
            "{distance} grades.",
            own.repeats.n,
            equal=show_share(own.repeats.equal),
            distance=show_difference(own.repeats.difference),
        )
    )


def draw_questions(context: PageContext, dataset: str) -> None:
    """Draw a page of the annotator's questions, each with its pair and its answer; new answers first."""
    start, page = read_own_questions(context, dataset, QUESTIONS_SHOWN, note_visit("work", context.now))
    follow_in_sidebar(f"answer {item.number} {item.answered_at}" for item in page.questions if item.new)
    if not page.total:
        st.text(tr("You have not asked any questions yet. To ask about a pair, press q while labeling."))
        return
    with st.container(key=ASKED):
        for question in page.questions:
            with st.container(border=True, gap="xsmall"):
                st.html(_describe_question(question))
    draw_pager(start, len(page.questions), page.total, size=QUESTIONS_SHOWN, key=ASKED)


def _describe_question(question: PairQuestion) -> str:
    asked = tr("Asked on {day}.", day=show_time(question.asked_at))
    if question.answer is None:
        answer = f'<p class="annotator-note">{escape(tr("Waiting for an answer."))}</p>'
    else:
        when = "" if question.answered_at is None else show_time(question.answered_at)
        badge = show_new() if question.new else ""
        answer = f'{show_as("said", question.answer)}<p class="annotator-note">{badge}{escape(when)}</p>'
    return (
        describe_pair(question.query, None, question.doc_id, question.title, question.excerpt)
        + f'<p class="annotator-said" dir="auto"><strong>{escape(question.text)}</strong></p>'
        + f'<p class="annotator-note">{escape(asked)}</p>'
        + answer
    )


def draw_own_agreement(agreement: OwnAgreement, grade_names: Sequence[str]) -> None:
    """Draw the annotator's agreement with the others and both grade distributions, if pairs suffice."""
    draw_note(
        tr(
            "Compares your first grade of each pair with the first grades of others, in steps of {n}. "
            "After you open this page, you can no longer change your grades of these pairs. "
            "A difference does not mean that somebody is wrong. It is a reason to discuss the guideline.",
            n=OWN_STEP,
        )
    )
    if agreement.kappa is None:
        st.text(
            tr_n(
                "{n:,} pair is compared so far. Your agreement appears once there are {least}.",
                "{n:,} pairs are compared so far. Your agreement appears once there are {least}.",
                agreement.pairs,
                least=FEW_OWN,
            )
        )
        return
    st.text(
        tr_n(
            "On {n:,} pair, you and another annotator gave the same grade {share} of the time. Cohen's "
            "κ: {kappa}.",
            "On {n:,} pairs, you and another annotator gave the same grade {share} of the time. Cohen's "
            "κ: {kappa}.",
            agreement.pairs,
            share=show_share(agreement.observed_agreement),
            kappa=show_value(agreement.kappa),
        )
    )
    if agreement.leaning is not None:
        st.text(_describe_leaning(agreement))
    rows = [
        [name, *(["–"] * len(grade_names) if counts is None else [f"{count:,}" for count in counts])]
        for name, counts in zip(name_grades(grade_names), agreement.confusion, strict=True)
    ]
    with st.expander(tr("Your grades and the others'")):
        caption = tr("Rows: your grades. Columns: the others' grades")
        draw_note(caption + ". " + tr("Rows with fewer than {n} comparisons are hidden.", n=OWN_STEP))
        draw_table(caption, [tr("your grade"), *name_grades(grade_names)], rows)


def _describe_leaning(agreement: OwnAgreement) -> str:
    leaning = agreement.leaning
    if leaning is None:
        return ""
    interval = ""
    if leaning.ci95 is not None:
        low, high = (show_difference(end, signed=True) for end in leaning.ci95)
        interval = f" [{low}, {high}]"
    mean = show_difference(leaning.mean, signed=True) + interval
    return tr("On average, your grades differ from theirs by {mean} (+: yours are higher).", mean=mean)


DECISIONS, DISCUSSIONS, QUESTIONS = say("Decisions"), say("Discussions"), say("Questions")
JUDGMENTS, CONSISTENCY = say("Judgments"), say("Consistency")
TAB = "tab"


def draw(context: PageContext) -> None:
    st.title(tr("My work"))
    dataset = require_dataset(context)
    database, actor = context.database, context.actor
    pace = show_pace(database, actor, dataset, now=context.now)
    with st.container(gap="xsmall"):
        draw_pace(pace)
        draw_link(context, "label")
    news = count_news(database, actor, dataset, now=context.now)
    answers = count_new_answers(database, actor, dataset)
    counts = {
        DECISIONS: tr_n("{n:,} new decision", "{n:,} new decisions", news.decisions)
        if news.decisions
        else "",
        DISCUSSIONS: tr_n(
            "{n:,} discussion waits for you", "{n:,} discussions wait for you", news.discussions
        )
        if news.discussions
        else "",
        QUESTIONS: tr_n("{n:,} new answer", "{n:,} new answers", answers) if answers else "",
    }
    _open_first(context, dataset, counts)
    _draw_news(counts)
    _draw_tabs(context, dataset, pace.done)
    keep_focus()


def _open_first(context: PageContext, dataset: str, counts: Mapping[Message, str]) -> None:
    """On arrival without a tab in the address, open the first tab with news, or else decisions."""
    if TAB in st.session_state or TAB in st.query_params:
        return
    first = next((name for name, words in counts.items() if words), None)
    if first is None:
        decided = context.call(list_own_decisions, dataset, limit=0, now=context.now)
        first = DECISIONS if decided.total else JUDGMENTS
    st.session_state[TAB] = tr(first)


def _draw_news(counts: Mapping[Message, str]) -> None:
    """Draw each news item as a button that opens its tab, except for the open tab."""
    shown = st.session_state.get(TAB) or st.query_params.get(TAB)  # only the address names it at first
    elsewhere = [(name, words) for name, words in counts.items() if words and shown != tr(name)]
    if not elsewhere:
        return
    with st.container(horizontal=True, key="own-news"):
        for name, words in elsewhere:
            st.button(
                words, key=f"news {name}", icon=":material/notifications:", on_click=_open_tab, args=(name,)
            )


def _open_tab(name: Message) -> None:
    st.session_state[TAB] = tr(name)
    go_to(0, container="own-work")


def _draw_tabs(context: PageContext, dataset: str, done: int) -> None:
    """Draw the open tab only; the address says which one is open, and which part of its list."""
    _version, rubric = context.call(read_current_rubric, dataset)
    names = [tr(name) for name in list_local_names(rubric)]
    tabs: dict[Message, Callable[[], None]] = {
        DECISIONS: partial(draw_decisions, context, dataset, names),
        DISCUSSIONS: partial(draw_discussions, context, dataset, names),
        QUESTIONS: partial(draw_questions, context, dataset),
        JUDGMENTS: partial(_draw_answers, context, dataset, done),
        CONSISTENCY: partial(_draw_consistency, context, dataset, names),
    }
    with st.container(key="own-work"):
        draw_url_tabs(tabs, TAB, on_change=_forget_part)


def _forget_part() -> None:
    st.query_params.pop(START, None)


def _draw_consistency(context: PageContext, dataset: str, names: Sequence[str]) -> None:
    draw_checks(context.call(show_own_checks, dataset, now=context.now))
    if next(item for item in context.datasets if item.name == dataset).show_own_agreement:
        st.header(tr("My agreement with others"))
        draw_own_agreement(context.call(show_own_agreement, dataset, now=context.now), names)


def _draw_answers(context: PageContext, dataset: str, done: int) -> None:
    read_all = partial(list_own_work, context.database, context.actor, dataset, zone=find_zone(), size=SIZE)
    if not done and not read_all(size=0).total:
        st.text(tr("You have not judged any pair yet."))
        return
    wanted = draw_filters(context.call(list_work_categories, dataset))
    start, page = read_part(lambda start: read_all(wanted, page=start // SIZE), SIZE, lambda page: page.total)
    if not page.total:
        st.text(tr("No judgments match."))
        return
    st.text(tr_n("{n:,} judgment, newest first.", "{n:,} judgments, newest first.", page.total))
    with st.container(key=LIST):
        draw_answers(dataset, page.judgments)
    draw_pager(start, len(page.judgments), page.total, size=SIZE, key=LIST)
