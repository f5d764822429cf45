"""A disagreement as a lead reads it: query, document, and the judgments of annotators without names.

Every piece of it was written by others and is escaped. Nothing here tells who judged, or which system proposed.
"""

from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from annotator.domain.messages import say
from annotator.web.messages import tr
from annotator.web.plain_text import escape_markdown, show_as
from annotator.web.rendering.document import render_document
from annotator.web.times import show_time

if TYPE_CHECKING:
    from annotator.adjudication.case import Case, CaseJudgment

SHOWN_CHARACTERS = 200_000
REASONS = {
    str(reason): reason
    for reason in (
        say("guideline unclear"), say("query ambiguous"), say("document misread"), say("slip of the hand"),
    )
}  # fmt: skip


def draw_pair(case: "Case", *, language: str | None = None) -> None:
    """The query with its narrative, and the document. `language`: of the dataset's documents, where it is known."""
    st.header(tr("The pair"))
    category = f" · {case.category}" if case.category else ""
    st.html(
        show_as("note", tr("Query {query_id}", query_id=case.query_id) + category)
        + show_as("query", case.query)
        + (show_as("narrative", case.narrative) if case.narrative else "")
    )
    _draw_document(case, language)


def draw_judgments(case: "Case") -> None:
    """What each annotator answered, and what was decided so far."""
    st.header(tr("What the annotators say"))
    if case.status == "reopened":
        st.info(_say_reopened(case), icon=":material/published_with_changes:")
    for judgment in case.judgments:
        st.html(_describe_judgment(case, judgment))
    if case.text_changed:
        st.warning(tr("Some of them judged an earlier text of this document."), icon=":material/history:")
    if case.decisions:
        st.header(tr("Decided so far"))
    for decision in reversed(case.decisions):
        name = tr("cannot be rated") if decision.grade is None else name_grade(case, decision.grade)
        reason = f" ({name_reason(decision.reason)})" if decision.reason else ""
        st.html(
            show_as("said", f"{show_time(decision.decided_at)}: {name}{reason}")
            + show_as("note", decision.rationale)
        )


def scroll_to(pair: str | None) -> None:
    """Bring the case to the top of the window; None: leave the window where it is."""
    _scroller()(key="next case", data=pair)


@cache
def _scroller() -> Any:
    script = (Path(__file__).parent / "next_case.js").read_text(encoding="utf-8")
    return st.components.v2.component("annotator_next_case", js=script)


def name_reason(reason: str) -> str:
    """A kind of reason: translated when it is one that we offer, else as somebody typed it."""
    return tr(REASONS[reason]) if reason in REASONS else reason


def name_grade(case: "Case", grade: int) -> str:
    """The grade by number and name."""
    return f"{grade} · {case.rubric.grades[grade].name}"


def _say_reopened(case: "Case") -> str:
    if case.contested_grade is None:
        return tr("Reopened by quality control: a third expert contradicts the grade that was settled.")
    return tr(
        "Reopened by quality control: it was settled at {grade}, and a third expert says otherwise.",
        grade=escape_markdown(name_grade(case, case.contested_grade)),
    )


def _draw_document(case: "Case", language: str | None) -> None:
    st.html(
        show_as("note", tr("Document {doc_id}", doc_id=case.doc_id))
        + (show_as("query", case.title) if case.title else "")
    )
    if case.document_text is None:
        st.info(tr("The text of this document has not been imported; only its id is known."))
        return
    rendered = render_document(case.document_text, case.media_type, doc_id=case.doc_id)
    if rendered.kind != "text" and not st.toggle(tr("Source"), key="document as its source"):
        _draw_region("div", "annotator-document annotator-formatted", rendered.html, language)
        if rendered.blocked:
            said = tr("Images and embedded content not shown: {n}").replace("{n}", f"{rendered.blocked:,}")
            st.html(show_as("note", said))
        shown = SHOWN_CHARACTERS if rendered.cut else len(case.document_text)
    else:
        _draw_region("pre", "annotator-document", escape(case.document_text[:SHOWN_CHARACTERS]), language)
        shown = min(SHOWN_CHARACTERS, len(case.document_text))
    if shown < len(case.document_text):
        said = tr(
            "The first {shown:,} of {length:,} characters.", shown=shown, length=len(case.document_text)
        )
        st.html(show_as("note", said))


def _draw_region(tag: str, name: str, html: str, language: str | None) -> None:
    """What can be scrolled by the keyboard too. `html` is safe."""
    label, lang = escape(tr("Document")), f' lang="{escape(language)}"' if language else ""
    st.html(
        f'<{tag} class="{name}" dir="auto"{lang} tabindex="0" role="region" aria-label="{label}">{html}</{tag}>'
    )


def _describe_judgment(case: "Case", judgment: "CaseJudgment") -> str:
    graded = judgment.grade is not None
    said = name_grade(case, judgment.grade) if judgment.grade is not None else tr("cannot be rated")
    marks = [
        mark
        for mark, holds in (
            (tr("quality control"), judgment.quality),
            (tr("simulated"), judgment.simulated),
            (
                tr("by guideline {version}", version=judgment.guideline_version),
                judgment.guideline_version != case.rubric_version,
            ),
        )
        if holds
    ]
    badges = "".join(f'<span class="annotator-badge">{escape(mark)}</span>' for mark in marks)
    grade = f'<strong class="annotator-{"grade" if graded else "soft"}">{escape(said)}</strong>'
    note = show_as("note", judgment.note) if judgment.note else ""
    who = escape(tr("Annotator {letter}", letter=judgment.letter))
    return f'<p class="annotator-said">{who}: {grade}{badges}</p>{note}'
