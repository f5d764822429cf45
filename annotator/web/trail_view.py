"""The trail behind a published grade: every judgment it rests on, the decision, or the file it was taken from.

People appear under the pseudonyms of the releases. Every piece of it was written by others and is escaped.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from annotator.web.plain_text import say
from annotator.web.times import show_time

if TYPE_CHECKING:
    from annotator.published.service import Guideline, Trace

ORIGINS = {
    "unanimous": "its annotators agree",
    "single": "one annotator alone",
    "adjudicated": "decided by a lead",
    "imported": "taken from an earlier ground truth",
}


def draw_trail(trace: "Trace", key: str, guidelines: "Sequence[Guideline]") -> None:
    """The whole trail. `key`: the chosen row's, by which it is brought into the window."""
    query = say("query", trace.query) if trace.query is not None else ""
    st.html(
        f'<div class="annotator-trail" data-key="{escape(key)}"><h3>Why grade {trace.grade}</h3>'
        + say("note", f"Query {trace.query_id}")
        + query
        + say("note", f"Document {trace.doc_id}")
        + say("said", f"Grade {trace.grade}: {ORIGINS.get(trace.origin, trace.origin)}.")
        + "</div>"
    )
    if not trace.complete:
        said = (
            "This release does not record what each grade rests on. Below is what had been judged until then."
        )
        st.info(said, icon=":material/history:")
    st.html("".join(_list_parts(trace)))
    used = {judgment.guideline_version for judgment in trace.judgments}
    if trace.adjudication:
        used.add(trace.adjudication.guideline_version)
    for guideline in guidelines:
        if guideline.version in used:
            _draw_guideline(guideline)


def _list_parts(trace: "Trace") -> list[str]:
    parts = [_head("Judgments")] if trace.judgments else []
    for judgment in trace.judgments:
        answer = "cannot be rated" if judgment.grade is None else f"{judgment.grade}"
        marks = ["simulated"] if judgment.simulated else []
        marks += [judgment.purpose] if judgment.purpose != "independent" else []
        parts.append(
            _line(judgment.annotator, answer, marks, judgment.judged_at, judgment.guideline_version)
            + (say("note", judgment.note) if judgment.note else "")
        )
    if decision := trace.adjudication:
        marks = [decision.reason] if decision.reason else []
        parts.append(
            _head("Decision")
            + _line(
                decision.lead, str(decision.grade), marks, decision.decided_at, decision.guideline_version
            )
            + say("note", decision.rationale)
        )
    if taken := trace.imported:
        source = "; ".join(f"{name}: {value}" for name, value in taken.source.items() if value)
        parts.append(
            _head("Taken from")
            + say("said", f"Grade {taken.grade}, {show_time(taken.imported_at)}")
            + say("note", source)
            + (say("note", taken.note) if taken.note else "")
        )
    return parts or [say("said", "Nothing is recorded behind this grade.")]


def _line(who: str, answer: str, marks: list[str], at: Any, guideline: int) -> str:
    badges = "".join(f'<span class="annotator-badge" dir="auto">{escape(mark)}</span>' for mark in marks)
    when = f"{show_time(at)}, guideline {guideline}"
    return (
        f'<p class="annotator-said">{escape(who)}: <strong>{escape(answer)}</strong>{badges}<br>'
        f'<span class="annotator-soft">{escape(when)}</span></p>'
    )


def _head(words: str) -> str:
    return f'<h4 class="annotator-part">{words}</h4>'


def _draw_guideline(guideline: "Guideline") -> None:
    with st.expander(f"Guideline {guideline.version}, of {show_time(guideline.created_at)}"):
        grades = "".join(
            say("note", f"{grade.get('grade')} · {grade.get('name')}: {grade.get('definition')}")
            for grade in guideline.grades
        )
        st.html(say("narrative", guideline.guideline) + grades)
