"""The lead's decision on a case: the grade, why, and perhaps a kind of reason.

What is typed stays until it is stored: the fields belong to their pair, a refusal leaves them as they are, and
looking at another case in between does too. A decision is made on what was on the screen when the button was
pressed (`seen`); if that changed meanwhile, the service refuses and the page shows the case as it is now.
"""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.adjudication.service import adjudicate
from annotator.disputes.service import find_disagreements
from annotator.domain.errors import AnnotatorError, ConflictError
from annotator.web.case_choice import find_next
from annotator.web.case_view import REASONS, name_grade, name_reason
from annotator.web.messages import show_refusal, tr
from annotator.web.page_context import find_context
from annotator.web.plain_text import escape_markdown

if TYPE_CHECKING:
    from annotator.adjudication.case import Case

FIELDS = ("grade", "rationale", "reason")


def draw_form(case: "Case", sort: str) -> None:
    """The form, or why this lead may not decide. `sort`: the order in which the next case is looked for."""
    anew = case.decisions or case.status == "reopened"
    st.header(tr("Decide anew") if anew else tr("Your decision"))
    if case.barred:
        st.info(tr("This one is not yours to decide: {why}.", why=case.barred), icon=":material/block:")
        return
    grade, rationale, reason = (_key(field, case.pair) for field in FIELDS)
    st.radio(
        tr("Grade"),
        [definition.grade for definition in case.rubric.grades],
        index=None,
        format_func=lambda number: escape_markdown(name_grade(case, number)),
        captions=[escape_markdown(definition.definition) for definition in case.rubric.grades],
        key=grade,
        on_change="ignore",
        persist_state="session",
    )
    st.text_area(
        tr("Why (required)"),
        key=rationale,
        height=100,
        on_change="ignore",
        help=tr("It is kept with the grade and published in the release."),
        persist_state="session",
    )
    st.selectbox(
        tr("Kind of reason (optional)"),
        list(REASONS),
        index=None,
        format_func=name_reason,
        key=reason,
        on_change="ignore",
        accept_new_options=True,
        placeholder=tr("Choose one or type your own"),
        persist_state="session",
    )
    st.button(
        tr("Save the decision"), type="primary", key=f"save {case.pair}",
        on_click=_save, args=(case.pair, case.seen, sort),
    )  # fmt: skip
    _say_refused(case.pair)


def _key(field: str, pair: str) -> str:
    return f"{field} {pair}"


def _save(pair: str, seen: str, sort: str) -> None:
    """Store what was typed; then the next open case comes. Runs before the page is drawn again."""
    context = find_context()
    if context is None or context.dataset is None:
        return
    grade, rationale, reason = (st.session_state.get(_key(field, pair)) for field in FIELDS)
    if grade is None:
        st.session_state["refused"] = (pair, tr("Choose a grade first."))
        return
    try:
        adjudicate(
            context.database,
            context.actor,
            context.dataset,
            pair,
            grade=grade,
            rationale=rationale or "",
            reason=reason,
            seen=seen,
            now=context.now,
        )
    except ConflictError:
        said = tr(
            "Somebody judged or decided this pair meanwhile. This is how it is now; what you typed is still here."
        )
        st.session_state["refused"] = (pair, said)
    except AnnotatorError as error:
        st.session_state["refused"] = (
            pair,
            tr("Not saved: {why}.", why=escape_markdown(show_refusal(error))),
        )
    else:
        for field in FIELDS:
            st.session_state.pop(_key(field, pair), None)
        queue = find_disagreements(
            context.database, context.actor, context.dataset, sort=sort, now=context.now
        )
        left = sum(item.status == "open" for item in queue)
        st.session_state["decided"] = (
            tr("Saved. {n} still open.", n=left) if left else tr("Saved. No disagreement is open any more.")
        )
        following = find_next(queue, pair)
        if following:
            st.query_params["pair"] = following
        else:
            st.query_params.pop("pair", None)


def _say_refused(pair: str) -> None:
    refused = st.session_state.pop("refused", None)
    if refused and refused[0] == pair:
        st.error(refused[1], icon=":material/block:")
