"""A disagreement as a lead reads it: query, document, and the judgments of annotators without names.

Every piece of it was written by others and is escaped. Nothing here tells who judged, or which system proposed.
"""

from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from annotator.web.plain_text import say
from annotator.web.times import show_time

if TYPE_CHECKING:
    from annotator.adjudication.case import Case, CaseJudgment

SHOWN_CHARACTERS = 200_000


def draw_pair(case: "Case") -> None:
    """The query with its narrative, and the document."""
    st.header("The pair")
    category = f" · {case.category}" if case.category else ""
    st.html(
        say("note", f"Query {case.query_id}{category}")
        + say("query", case.query)
        + (say("narrative", case.narrative) if case.narrative else "")
    )
    _draw_document(case)


def draw_judgments(case: "Case") -> None:
    """What each annotator answered, and what was decided so far."""
    st.header("What the annotators say")
    for judgment in case.judgments:
        st.html(_describe_judgment(case, judgment))
    if case.text_changed:
        st.warning("Some of them judged an earlier text of this document.", icon=":material/history:")
    if case.decisions:
        st.header("Decided so far")
    for decision in reversed(case.decisions):
        name = name_grade(case, decision.grade)
        reason = f" ({decision.reason})" if decision.reason else ""
        st.html(
            say("said", f"{show_time(decision.decided_at)}: {name}{reason}") + say("note", decision.rationale)
        )


def scroll_to(pair: str | None) -> None:
    """Bring the case to the top of the window; None: leave the window where it is."""
    _scroller()(key="next case", data=pair)


@cache
def _scroller() -> Any:
    script = (Path(__file__).parent / "next_case.js").read_text(encoding="utf-8")
    return st.components.v2.component("annotator_next_case", js=script)


def name_grade(case: "Case", grade: int) -> str:
    """The grade by number and name."""
    return f"{grade} · {case.rubric.grades[grade].name}"


def _draw_document(case: "Case") -> None:
    st.html(say("note", f"Document {case.doc_id}") + (say("query", case.title) if case.title else ""))
    if case.document_text is None:
        st.info("The text of this document has not been imported; only its id is known.")
        return
    text = case.document_text[:SHOWN_CHARACTERS]
    st.html(
        f'<pre class="annotator-document" dir="auto" tabindex="0" role="region" aria-label="Document">{escape(text)}</pre>'
    )
    if len(text) < len(case.document_text):
        st.html(say("note", f"The first {len(text):,} of {len(case.document_text):,} characters."))


def _describe_judgment(case: "Case", judgment: "CaseJudgment") -> str:
    graded = judgment.grade is not None
    said = name_grade(case, judgment.grade) if judgment.grade is not None else "cannot be rated"
    marks = [
        mark
        for mark, holds in (
            ("simulated", judgment.simulated),
            (f"by guideline {judgment.guideline_version}", judgment.guideline_version != case.rubric_version),
        )
        if holds
    ]
    badges = "".join(f'<span class="annotator-badge">{escape(mark)}</span>' for mark in marks)
    grade = f'<strong class="annotator-{"grade" if graded else "soft"}">{escape(said)}</strong>'
    note = say("note", judgment.note) if judgment.note else ""
    return f'<p class="annotator-said">Annotator {judgment.letter}: {grade}{badges}</p>{note}'
