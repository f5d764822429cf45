"""Draw an annotator's discussions and the leads' decisions on their pairs, for the page My work.

Nobody is named. Once a discussion is listed, the annotator's own judgment of the pair can no longer change. An annotator
takes one turn in a discussion and may object once to a decision. A decision is shown without the lead's name and without
others' grades.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from operator import attrgetter

import streamlit as st

from annotator.adjudication.disagreement_records import (
    AnonymousJudgment,
    OwnDecision,
    OwnDiscussion,
)
from annotator.adjudication.discussion.discussion_service import (
    list_own_decisions,
    list_own_discussions,
    object_to_decision,
    read_discussed_text,
    take_discussion_turn,
)
from annotator.adjudication.records import CAUSE_NAMES
from annotator.domain.errors import AnnotatorError
from annotator.domain.grades import GRADES
from annotator.domain.settling import Decided
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import draw_pager, go_to, read_part
from annotator.web.kit.messages import join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_outcome
from annotator.web.kit.tables import draw_link_table
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.page_context import PageContext, find_context, note_visit


def name_answer(outcome: str, grade: int | None, names: Sequence[str]) -> str:
    """Return the grade with its name, such as "2 · Highly relevant", or "cannot rate"."""
    return tr("cannot rate") if grade is None or outcome != "graded" else f"{grade} · {names[grade]}"


def describe_pair(query: str, narrative: str | None, doc_id: str, title: str, excerpt: str) -> str:
    """Return the query, the document and its first words, as HTML."""
    document = f"<code>{escape(doc_id)}</code>"
    shown = f"<strong>{escape(title)}</strong> " if title and title != doc_id else ""
    details = show_as("narrative", narrative) if narrative else ""
    words = show_as("excerpt", excerpt) if excerpt else ""
    return f'{show_as("query", query)}{details}<p class="annotator-person" dir="auto">{shown}{document}</p>{words}'


def show_new() -> str:
    """Return the mark of something new to the reader, as HTML."""
    return f'<span class="annotator-new">{escape(tr("New"))}</span>'


def follow_in_sidebar(unread: Iterable[str]) -> None:
    """Run the page again, once for each unread decision, so that the sidebar no longer counts it."""
    told: set[str] = st.session_state.setdefault(TOLD, set())
    new = set(unread) - told
    if new:
        told |= new
        st.rerun()


SHOWN, CHARACTERS = 5, 20_000
STAND, TOLD = "stand", "news told"
REFUSED, DONE = "discussion refused", "discussion done"
DISCUSSIONS_LIST, DECISIONS_LIST = "own-discussions", "own-decisions"


def draw_discussions(context: PageContext, dataset: str, names: Sequence[str]) -> None:
    """Draw a page of the running discussions, those that wait for the annotator first."""
    start, page = read_part(
        lambda start: context.call(list_own_discussions, dataset, limit=SHOWN, offset=start, now=context.now),
        SHOWN,
        attrgetter("total"),
    )
    draw_note(
        tr(
            "Other annotators judged these pairs differently. Before a lead decides, you can see each "
            "other's notes and keep or revise your judgment once. Your earlier judgment can no longer "
            "change. No names are shown, and agreement figures do not change."
        )
    )
    draw_outcome(DONE)
    if not page.total:
        st.text(tr("No discussion is open."))
        return
    with st.container(key=DISCUSSIONS_LIST):
        for discussion in page.discussions:
            with st.container(border=True, gap="small"):
                _draw_discussion(context, dataset, discussion, names)
    draw_pager(start, len(page.discussions), page.total, size=SHOWN, key=DISCUSSIONS_LIST)


def _draw_discussion(
    context: PageContext, dataset: str, discussion: OwnDiscussion, names: Sequence[str]
) -> None:
    st.html(
        describe_pair(
            discussion.query, discussion.narrative, discussion.doc_id, discussion.title, discussion.excerpt
        )
    )
    _draw_judgments(discussion, names)
    if discussion.has_spoken:
        draw_note(tr("You have replied. A lead decides."))
    else:
        _draw_document(context, dataset, discussion)
        _draw_form(discussion, names)
    _draw_refusal(discussion.pair)


def _draw_judgments(discussion: OwnDiscussion, names: Sequence[str]) -> None:
    """Draw a row for each annotator's judgment of the pair, the reader's own first."""
    turns = any(judgment.turn for judgment in (discussion.own, *discussion.others))
    heads = [tr("annotator"), tr("judgment"), tr("note"), *([tr("after discussion")] if turns else [])]
    rows = [_row(tr("you ({letter})", letter=discussion.own.letter), discussion.own, names, turns=turns)]
    rows += [
        _row(tr("annotator {letter}", letter=judgment.letter), judgment, names, turns=turns)
        for judgment in discussion.others
    ]
    draw_link_table(tr("Judgments of this pair"), heads, rows, tall=True, stacked=True)


def _row(who: str, judgment: AnonymousJudgment, names: Sequence[str], *, turns: bool) -> list[str]:
    row = [who, name_answer(judgment.outcome, judgment.grade, names), judgment.note or "–"]
    turn = judgment.turn
    if not turns:
        return row
    if turn is None:
        return [*row, tr("no reply yet")]
    grade = name_answer(turn.outcome, turn.grade, names)
    answer = tr("revised to {grade}", grade=grade) if turn.revised else tr("kept")
    return [*row, f"{answer}: {turn.note}" if turn.note else answer]


def _draw_document(context: PageContext, dataset: str, discussion: OwnDiscussion) -> None:
    if not discussion.text_length or not st.toggle(tr("Show the document"), key=f"text {discussion.pair}"):
        return
    text = context.call(read_discussed_text, dataset, discussion.pair, characters=CHARACTERS)
    label = escape(tr("Document {doc_id}", doc_id=discussion.doc_id), quote=True)
    st.html(
        f'<pre class="annotator-document" tabindex="0" role="region" aria-label="{label}" dir="auto">{escape(text or "")}</pre>'
    )
    if text is not None and len(text) < discussion.text_length:
        draw_note(tr("Only the beginning is shown."))


def _draw_form(discussion: OwnDiscussion, names: Sequence[str]) -> None:
    own: Decided = "unrateable" if discussion.own.grade is None else discussion.own.grade
    every: tuple[Decided, ...] = (*GRADES, "unrateable")
    others = [choice for choice in every if choice != own]

    def name(choice: object) -> str:
        if choice == STAND:
            own_answer = escape_markdown(name_answer(discussion.own.outcome, discussion.own.grade, names))
            return tr("Keep {grade}", grade=own_answer)
        grade = choice if isinstance(choice, int) else None
        return tr("Revise to {grade}", grade=escape_markdown(name_answer("graded", grade, names)))

    with st.form(f"turn {discussion.pair}", border=False):
        st.radio(
            tr("Your reply"),
            [STAND, *others],
            format_func=name,
            key=f"choice {discussion.pair}",
        )
        st.text_area(
            tr("Reason (optional)"),
            key=f"why {discussion.pair}",
            height=90,
            max_chars=10_000,
            help=tr("The lead reads it. The other annotators see it after their own reply."),
        )
        st.form_submit_button(
            tr("Answer"),
            type="primary",
            on_click=_take_turn,
            args=(discussion.pair, own, discussion.seen),
        )


def _call(action: Callable[..., object], pair: str, refused_key: str = REFUSED, **values: object) -> bool:
    """Call a use case for this pair, before the page is drawn again. Return whether it was done, not refused."""
    context = find_context()
    if context is None or context.dataset is None:
        return False
    try:
        context.call(action, context.dataset, pair, now=context.now, **values)
    except AnnotatorError as error:
        st.session_state[refused_key] = (pair, show_refusal(error))
        return False
    return True


def _draw_refusal(pair: str, refused_key: str = REFUSED) -> None:
    refused = st.session_state.get(refused_key)
    if refused and refused[0] == pair:
        st.error(escape_markdown(refused[1]), icon=":material/block:")
        del st.session_state[refused_key]


def _take_turn(pair: str, own: Decided, seen: str) -> None:
    choice = st.session_state.get(f"choice {pair}", STAND)
    decided = own if choice == STAND else choice
    note = st.session_state.get(f"why {pair}") or ""
    if _call(take_discussion_turn, pair, decided=decided, note=note, seen=seen):
        st.session_state[DONE] = tr("Reply saved. A lead reads it and decides.")
        note_press()


SIZE = 5
DIFFERING = "decisions differing"
OBJECTION_REFUSED, OBJECTION_DONE = "objection refused", "objection done"


def draw_decisions(context: PageContext, dataset: str, names: Sequence[str]) -> None:
    """Draw a page of the decisions that the annotator may see: new ones first, then the latest."""
    differing, visit = bool(st.session_state.get(DIFFERING)), note_visit("work", context.now)
    count = attrgetter("differing" if differing else "total")
    start, page = read_part(
        lambda start: context.call(
            list_own_decisions,
            dataset,
            differing=differing,
            limit=SIZE,
            offset=start,
            visit=visit,
            now=context.now,
        ),
        SIZE,
        count,
    )
    follow_in_sidebar(
        f"{decision.pair} {decision.revision}" for decision in page.decisions if decision.unread
    )
    draw_note(
        tr(
            "Where judgments differ, a lead decides. You see the decision and its rationale after you "
            "have judged the rest of the query. If you think it is wrong, you can object once per pair; "
            "the pair then goes back to a lead."
        )
    )
    draw_outcome(OBJECTION_DONE)
    if not page.total:
        st.text(tr("Nothing is decided on your pairs yet."))
        return
    total = tr_n("{n:,} decision", "{n:,} decisions", page.total)
    st.text(total + " · " + tr("{n:,} differ from your judgment", n=page.differing))
    st.checkbox(
        tr("Only decisions that differ from my judgment"),
        key=DIFFERING,
        on_change=go_to,
        args=(0,),
        kwargs={"container": DECISIONS_LIST},
    )
    with st.container(key=DECISIONS_LIST):
        for decision in page.decisions:
            with st.container(border=True, gap="xsmall", key=_name_card(decision.pair)):
                _draw_decision(decision, names)
    draw_pager(start, len(page.decisions), count(page), size=SIZE, key=DECISIONS_LIST)


def _draw_decision(decision: OwnDecision, names: Sequence[str]) -> None:
    pair = describe_pair(decision.query, None, decision.doc_id, decision.title, decision.excerpt)
    st.html(pair + _describe(decision, names))
    if decision.objection is not None:
        st.html(_describe_objection(decision))
    elif decision.outcome != "withdrawn":
        with st.expander(tr("Object")):
            _draw_objection_form(decision)


def _describe(decision: OwnDecision, names: Sequence[str]) -> str:
    own = name_answer(decision.own_outcome, decision.own_grade, names)
    if decision.outcome == "withdrawn":
        return show_as("said", tr("The decision was withdrawn. The pair is waiting for a lead again."))
    decided = name_answer(decision.outcome, decision.grade, names)
    sentences = [
        f"<strong>{escape(tr('Decided: {grade}', grade=decided))}</strong>",
        escape(
            tr("Your judgment: {grade}.", grade=own) if decision.differs else tr("Same as your judgment.")
        ),
    ]
    if decision.new:
        sentences.insert(0, show_new())
    paragraphs = [f'<p class="annotator-said" dir="auto">{" ".join(sentences)}</p>']
    paragraphs += [show_as("said", words) for words in (decision.rationale, decision.reason) if words]
    details = [show_time(decision.decided_at)]
    if decision.cause is not None:
        details.append(tr("cause: {cause}", cause=CAUSE_NAMES[decision.cause]))
    if decision.guideline_since is not None:
        details.append(
            tr("covered by the guideline since version {version}", version=decision.guideline_since)
        )
    return "".join(paragraphs) + f'<p class="annotator-note">{escape(" · ".join(details))}</p>'


def _describe_objection(decision: OwnDecision) -> str:
    if decision.objection is None:
        return ""
    answer = (
        tr("A lead has decided since; see the decision above.")
        if decision.objection.answered
        else tr("Waiting for a lead.")
    )
    when = tr("You objected on {day}.", day=show_time(decision.objection.objected_at))
    return f'<p class="annotator-note">{escape(join_sentences([when, answer]))}</p>{show_as("said", decision.objection.text)}'


def _draw_objection_form(decision: OwnDecision) -> None:
    st.text_area(
        tr("Reason for the objection"),
        key=f"objection {decision.pair}",
        height=90,
        max_chars=10_000,
        on_change="ignore",
        persist_state="session",
        help=tr("Leads see it with your letter, not your name."),
    )
    st.button(
        tr("Send objection"),
        key=f"object {decision.pair} {decision.revision}",
        on_click=_object,
        args=(decision.pair, decision.revision),
    )
    _draw_refusal(decision.pair, OBJECTION_REFUSED)


def _object(pair: str, revision: int) -> None:
    words = st.session_state.get(f"objection {pair}") or ""
    if _call(object_to_decision, pair, OBJECTION_REFUSED, text=words, seen=revision):
        st.session_state.pop(f"objection {pair}", None)
        st.session_state[OBJECTION_DONE] = tr("Objection sent. The pair is waiting for a lead again.")
        note_press(_name_card(pair))


def _name_card(pair: str) -> str:
    return f"decided_{pair}"
