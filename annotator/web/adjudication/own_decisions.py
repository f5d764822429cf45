"""What leads decided on the pairs that an annotator judged, beside their own answer, and the way to object, once.

The lead is not named, and nobody else's grade is shown.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.adjudication.decisions import CAUSE_NAMES
from annotator.adjudication.discussion import OwnDecision, OwnDecisions
from annotator.adjudication.discussion_service import list_own_decisions, object_to_decision
from annotator.domain.errors import AnnotatorError
from annotator.web.adjudication.own_said import describe_pair, name_said
from annotator.web.kit.figures import show_time
from annotator.web.kit.focus import note_press
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown, show_as
from annotator.web.page_context import PageContext, find_context

SIZE = 10
PAGE, DIFFERING = "decisions page", "decisions differing"
REFUSED, DONE = "objection refused", "objection done"


def draw_decisions(context: PageContext, dataset: str, names: Sequence[str]) -> None:
    """The decisions, the latest first; nothing where there is none that the annotator may see."""
    differing, page = bool(st.session_state.get(DIFFERING)), int(st.session_state.get(PAGE, 0))
    found = list_own_decisions(
        context.database, context.actor, dataset, differing=differing, page=page, size=SIZE, now=context.now
    )
    if not found.total:
        return
    st.header(tr("What was decided on my pairs"))
    draw_note(tr(
        "A lead decides where answers differ. You see it once nothing of the query is open to you any more, and why. Where you "
        "think it is wrong, object: once for each pair. The pair then waits for a lead again."
    ))  # fmt: skip
    done = st.session_state.pop(DONE, None)
    if done:
        st.success(done, icon=":material/check:")
    told = tr_n("{n:,} decision", "{n:,} decisions", found.total)
    st.text(told + " · " + tr("{n:,} otherwise than you judged", n=found.differing))
    st.checkbox(tr("Only what was decided otherwise than I judged"), key=DIFFERING, on_change=_go, args=(0,))
    for one in found.decisions:
        with st.container(border=True, gap="xsmall", key=_name_card(one.pair)):
            _draw_one(one, names)
    _draw_pages(found, differing, page)


def _draw_one(one: OwnDecision, names: Sequence[str]) -> None:
    st.html(describe_pair(one.query, None, one.doc_id, one.title) + _describe(one, names))
    if one.objection is not None:
        st.html(_describe_objection(one))
    elif one.outcome != "withdrawn":
        with st.expander(tr("Object")):
            _draw_form(one)


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
        tr("A lead has decided since: what stands above is the answer.") if one.objection.answered
        else tr("It waits for a lead.")
    )  # fmt: skip
    when = tr("You objected on {day}.", day=show_time(one.objection.objected_at))
    return (
        f'<p class="annotator-note">{escape(when)} {escape(answer)}</p>{show_as("said", one.objection.text)}'
    )


def _draw_form(one: OwnDecision) -> None:
    st.text_area(
        tr("What speaks against it"), key=f"objection {one.pair}", height=90, max_chars=10_000, on_change="ignore",
        persist_state="session", help=tr("Leads read it, with your letter and not your name."),
    )  # fmt: skip
    st.button(
        tr("Send the objection"), key=f"object {one.pair} {one.revision}", on_click=_object,
        args=(one.pair, one.revision),
    )  # fmt: skip
    refused = st.session_state.get(REFUSED)
    if refused and refused[0] == one.pair:
        st.error(escape_markdown(refused[1]), icon=":material/block:")
        del st.session_state[REFUSED]


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
        st.session_state[REFUSED] = (pair, show_refusal(error))
    else:
        st.session_state.pop(f"objection {pair}", None)
        st.session_state[DONE] = tr("Your objection is kept. The pair waits for a lead again.")
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
