"""Draw an annotator's discussions and the leads' decisions on their pairs, for the page My work.

Nobody is named. The others' answers are fetched only when the annotator asks for them, and from then on the
annotator's own judgment of the pair cannot change. An annotator takes one turn in a discussion and may object to a
decision once. A decision is shown without the lead's name and without anybody else's grade.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.adjudication.discussion_service import (
    list_own_decisions,
    list_own_discussions,
    object_to_decision,
    open_discussion,
    read_discussed_text,
    say_in_discussion,
)
from annotator.adjudication.records import (
    CAUSE_NAMES,
    DiscussionJudgment,
    OwnDecision,
    OwnDecisions,
    OwnDiscussion,
)
from annotator.domain.errors import AnnotatorError
from annotator.domain.grades import GRADES
from annotator.domain.settling import Decided
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.page_context import PageContext, find_context


def name_said(outcome: str, grade: int | None, names: Sequence[str]) -> str:
    """ "2 · Highly relevant", or that it cannot be rated."""
    return tr("unrateable") if grade is None or outcome != "graded" else f"{grade} · {names[grade]}"


def describe_pair(query: str, narrative: str | None, doc_id: str, title: str) -> str:
    """The query and the document, as HTML."""
    document = f"<code>{escape(doc_id)}</code>"
    shown = f"<strong>{escape(title)}</strong> " if title and title != doc_id else ""
    told = show_as("narrative", narrative) if narrative else ""
    return f'{show_as("query", query)}{told}<p class="annotator-person" dir="auto">{shown}{document}</p>'


SHOWN, CHARACTERS = 10, 20_000
STAND = "stand"
REFUSED, DONE = "discussion refused", "discussion done"


def draw_discussions(context: PageContext, dataset: str, names: Sequence[str]) -> None:
    """The discussions that go on, those that wait for the annotator first; nothing where there is none."""
    found = list_own_discussions(context.database, context.actor, dataset, now=context.now)
    done = st.session_state.pop(DONE, None)
    if not found and not done:
        return
    st.header(tr("Discussions"))
    draw_note(
        tr(
            "Others judged these pairs differently from you. Before a lead decides, you may each look at the others' notes and "
            "stand by your answer or revise it, once. Nobody is named, and agreement does not count it."
        )
    )
    if done:
        st.success(done, icon=":material/check:")
    for one in found[:SHOWN]:
        with st.container(border=True, gap="small"):
            _draw_one(context, dataset, one, names)
    if len(found) > SHOWN:
        more = len(found) - SHOWN
        draw_note(tr_n("{n:,} more after these.", "{n:,} more after these.", more))


def _draw_one(context: PageContext, dataset: str, one: OwnDiscussion, names: Sequence[str]) -> None:
    st.html(describe_pair(one.query, one.narrative, one.doc_id, one.title))
    _draw_said(one, names)
    if one.stage == "own_work":
        draw_note(
            tr(
                "First judge what is still open to you of query {query_id}: then you can look at what the others said.",
                query_id=one.query_id,
            )
        )
        return
    if one.stage == "waiting":
        draw_note(tr("Once you have looked, your own judgment of this pair stays as it is."))
        st.button(
            tr("Look at what the others said"),
            type="primary",
            key=f"look {one.pair}",
            on_click=_look,
            args=(one.pair,),
        )
    if one.stage == "open":
        _draw_document(context, dataset, one)
        _draw_form(one, names)
    if one.stage == "said":
        draw_note(tr("You have said what you think. A lead decides."))
    refused = st.session_state.get(REFUSED)
    if refused and refused[0] == one.pair:
        st.error(escape_markdown(refused[1]), icon=":material/block:")
        del st.session_state[REFUSED]


def _draw_said(one: OwnDiscussion, names: Sequence[str]) -> None:
    """A row for each who judged the pair, the reader's own first."""
    turns = any(said.turn for said in (one.own, *one.others))
    heads = [tr("annotator"), tr("answer"), tr("note"), *([tr("after looking")] if turns else [])]
    rows = [_row(tr("you ({letter})", letter=one.own.letter), one.own, names, turns=turns)]
    rows += [
        _row(tr("annotator {letter}", letter=said.letter), said, names, turns=turns) for said in one.others
    ]
    draw_table(tr("What was said of this pair"), heads, rows)


def _row(who: str, said: DiscussionJudgment, names: Sequence[str], *, turns: bool) -> list[str]:
    row = [who, name_said(said.outcome, said.grade, names), said.note or "–"]
    if not turns:
        return row
    if said.turn is None:
        return [*row, tr("not yet")]
    grade = name_said(said.turn.outcome, said.turn.grade, names)
    told = tr("revised to {grade}", grade=grade) if said.turn.revised else tr("stands by it")
    return [*row, f"{told}: {said.turn.note}" if said.turn.note else told]


def _draw_document(context: PageContext, dataset: str, one: OwnDiscussion) -> None:
    if not one.text_length or not st.toggle(tr("Show the document"), key=f"text {one.pair}"):
        return
    text = read_discussed_text(context.database, context.actor, dataset, one.pair, characters=CHARACTERS)
    label = escape(tr("Document {doc_id}", doc_id=one.doc_id), quote=True)
    st.html(
        f'<pre class="annotator-document" tabindex="0" role="region" aria-label="{label}" dir="auto">{escape(text or "")}</pre>'
    )
    if text is not None and len(text) < one.text_length:
        draw_note(tr("Only the beginning is shown."))


def _draw_form(one: OwnDiscussion, names: Sequence[str]) -> None:
    own: Decided = "unrateable" if one.own.grade is None else one.own.grade
    every: tuple[Decided, ...] = (*GRADES, "unrateable")
    others = [choice for choice in every if choice != own]

    def name(choice: object) -> str:
        if choice == STAND:
            mine = escape_markdown(name_said(one.own.outcome, one.own.grade, names))
            return tr("I stand by {grade}", grade=mine)
        grade = choice if isinstance(choice, int) else None
        return tr("I revise to {grade}", grade=escape_markdown(name_said("graded", grade, names)))

    with st.form(f"turn {one.pair}", border=False):
        st.radio(
            tr("Your answer after looking"), [STAND, *others], format_func=name, key=f"choice {one.pair}"
        )
        st.text_area(
            tr("Why, if you like"),
            key=f"why {one.pair}",
            height=90,
            max_chars=10_000,
            help=tr("The lead reads it; the others do once they have answered."),
        )
        st.form_submit_button(
            tr("Answer"),
            type="primary",
            on_click=_say,
            args=(one.pair, own, one.seen),
        )


def _look(pair: str) -> None:
    context = find_context()
    if context is None or context.dataset is None:
        return
    try:
        open_discussion(context.database, context.actor, context.dataset, pair, now=context.now)
    except AnnotatorError as error:
        st.session_state[REFUSED] = (pair, show_refusal(error))
    else:
        note_press()


def _say(pair: str, own: Decided, seen: str) -> None:
    """Store the turn. Runs before the page is drawn again."""
    context = find_context()
    if context is None or context.dataset is None:
        return
    choice = st.session_state.get(f"choice {pair}", STAND)
    try:
        say_in_discussion(
            context.database,
            context.actor,
            context.dataset,
            pair,
            decided=own if choice == STAND else choice,
            note=st.session_state.get(f"why {pair}") or "",
            seen=seen,
            now=context.now,
        )
    except AnnotatorError as error:
        st.session_state[REFUSED] = (pair, show_refusal(error))
    else:
        st.session_state[DONE] = tr("Your answer is kept. A lead reads it and decides.")
        note_press()


SIZE = 10
PAGE, DIFFERING = "decisions page", "decisions differing"
OBJECTION_REFUSED, OBJECTION_DONE = "objection refused", "objection done"


def draw_decisions(context: PageContext, dataset: str, names: Sequence[str]) -> None:
    """The decisions, the latest first; nothing where there is none that the annotator may see."""
    differing, page = bool(st.session_state.get(DIFFERING)), int(st.session_state.get(PAGE, 0))
    found = list_own_decisions(
        context.database, context.actor, dataset, differing=differing, page=page, size=SIZE, now=context.now
    )
    if not found.total:
        return
    st.header(tr("What was decided on my pairs"))
    draw_note(
        tr(
            "A lead decides where answers differ. You see it once nothing of the query is open to you any more, and why. Where you "
            "think it is wrong, object: once for each pair. The pair then waits for a lead again."
        )
    )
    done = st.session_state.pop(OBJECTION_DONE, None)
    if done:
        st.success(done, icon=":material/check:")
    told = tr_n("{n:,} decision", "{n:,} decisions", found.total)
    st.text(told + " · " + tr("{n:,} otherwise than you judged", n=found.differing))
    st.checkbox(tr("Only what was decided otherwise than I judged"), key=DIFFERING, on_change=_go, args=(0,))
    for one in found.decisions:
        with st.container(border=True, gap="xsmall", key=_name_card(one.pair)):
            _draw_decision(one, names)
    _draw_pages(found, differing, page)


def _draw_decision(one: OwnDecision, names: Sequence[str]) -> None:
    st.html(describe_pair(one.query, None, one.doc_id, one.title) + _describe(one, names))
    if one.objection is not None:
        st.html(_describe_objection(one))
    elif one.outcome != "withdrawn":
        with st.expander(tr("Object")):
            _draw_objection_form(one)


def _describe(one: OwnDecision, names: Sequence[str]) -> str:
    own = name_said(one.own_outcome, one.own_grade, names)
    if one.outcome == "withdrawn":
        return show_as("said", tr("The decision was taken back: the pair waits for a lead again."))
    decided = name_said(one.outcome, one.grade, names)
    said = [
        f"<strong>{escape(tr('Decided: {grade}', grade=decided))}</strong>",
        escape(tr("You said {grade}.", grade=own) if one.differs else tr("You said the same.")),
    ]
    told = [f'<p class="annotator-said" dir="auto">{" ".join(said)}</p>']
    told += [show_as("said", words) for words in (one.rationale, one.reason) if words]
    known = [show_time(one.decided_at)]
    if one.cause is not None:
        known.append(tr("why answers differed: {cause}", cause=CAUSE_NAMES[one.cause]))
    if one.guideline_since is not None:
        known.append(tr("the guideline says so since version {version}", version=one.guideline_since))
    return "".join(told) + f'<p class="annotator-note">{escape(" · ".join(known))}</p>'


def _describe_objection(one: OwnDecision) -> str:
    if one.objection is None:
        return ""
    answer = (
        tr("A lead has decided since: what stands above is the answer.")
        if one.objection.answered
        else tr("It waits for a lead.")
    )
    when = tr("You objected on {day}.", day=show_time(one.objection.objected_at))
    return (
        f'<p class="annotator-note">{escape(when)} {escape(answer)}</p>{show_as("said", one.objection.text)}'
    )


def _draw_objection_form(one: OwnDecision) -> None:
    st.text_area(
        tr("What speaks against it"),
        key=f"objection {one.pair}",
        height=90,
        max_chars=10_000,
        on_change="ignore",
        persist_state="session",
        help=tr("Leads read it, with your letter and not your name."),
    )
    st.button(
        tr("Send the objection"),
        key=f"object {one.pair} {one.revision}",
        on_click=_object,
        args=(one.pair, one.revision),
    )
    refused = st.session_state.get(OBJECTION_REFUSED)
    if refused and refused[0] == one.pair:
        st.error(escape_markdown(refused[1]), icon=":material/block:")
        del st.session_state[OBJECTION_REFUSED]


def _object(pair: str, revision: int) -> None:
    """Store what was typed. Runs before the page is drawn again."""
    context = find_context()
    if context is None or context.dataset is None:
        return
    words = st.session_state.get(f"objection {pair}") or ""
    try:
        object_to_decision(
            context.database, context.actor, context.dataset, pair, text=words, seen=revision, now=context.now
        )
    except AnnotatorError as error:
        st.session_state[OBJECTION_REFUSED] = (pair, show_refusal(error))
    else:
        st.session_state.pop(f"objection {pair}", None)
        st.session_state[OBJECTION_DONE] = tr("Your objection is kept. The pair waits for a lead again.")
        note_press(_name_card(pair))


def _name_card(pair: str) -> str:
    return f"decided_{pair}"


def _draw_pages(found: OwnDecisions, differing: bool, page: int) -> None:
    pages = max(1, -(-(found.differing if differing else found.total) // SIZE))
    if pages == 1:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(tr("Newer"), key="newer decisions", on_click=_go, args=(page - 1,), disabled=page <= 0)
        st.button(
            tr("Older"), key="older decisions", on_click=_go, args=(page + 1,), disabled=page >= pages - 1
        )
        st.text(tr("Page {page:,} of {pages:,}", page=page + 1, pages=pages))


def _go(page: int) -> None:
    st.session_state[PAGE] = page
