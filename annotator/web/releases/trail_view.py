"""The trail behind a published grade: every judgment it rests on, the decision, or the file it was taken from.

People appear under the pseudonyms of the releases. Every piece of it was written by others and is escaped.
"""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.messages import say
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_word

if TYPE_CHECKING:
    from annotator.releases.published_service import Guideline, Trace

ORIGINS = {
    "unanimous": say("its annotators agree"),
    "single": say("one annotator alone"),
    "adjudicated": say("decided by a lead"),
    "imported": say("taken from an earlier ground truth"),
}


def draw_trail(trace: "Trace", key: str, guidelines: "Sequence[Guideline]") -> None:
    """The whole trail. `key`: the chosen row's, by which it is brought into the window."""
    query = show_as("query", trace.query) if trace.query is not None else ""
    st.html(
        f'<div class="annotator-trail" data-key="{escape(key)}"><h3>{escape(tr("Why grade {grade}", grade=trace.grade))}</h3>'
        + show_as("note", tr("Query {query_id}", query_id=trace.query_id))
        + query
        + show_as("note", tr("Document {doc_id}", doc_id=trace.doc_id))
        + show_as(
            "said",
            tr("Grade {grade}: {why}.", grade=trace.grade, why=ORIGINS.get(trace.origin, trace.origin)),
        )
        + "</div>"
    )
    if not trace.complete:
        said = tr(
            "This release does not record what each grade rests on. Below is what had been judged until then."
        )
        st.info(said, icon=":material/history:")
    st.html("".join(_list_parts(trace)))
    used = {judgment.guideline_version for judgment in trace.judgments} - {None}
    if trace.adjudication:
        used.add(trace.adjudication.guideline_version)
    for guideline in guidelines:
        if guideline.version in used:
            _draw_guideline(guideline)


def _list_parts(trace: "Trace") -> list[str]:
    parts = [_head(tr("Judgments"))] if trace.judgments else []
    for judgment in trace.judgments:
        answer = tr("cannot be rated") if judgment.grade is None else f"{judgment.grade}"
        marks = [tr("simulated")] if judgment.simulated else []
        marks += [name_word(judgment.purpose)] if judgment.purpose != "independent" else []
        parts.append(
            _line(judgment.annotator, answer, marks, judgment.judged_at, judgment.guideline_version)
            + (show_as("note", judgment.note) if judgment.note else "")
        )
    if decision := trace.adjudication:
        marks = [decision.reason] if decision.reason else []
        parts.append(
            _head(tr("Decision"))
            + _line(
                decision.lead, str(decision.grade), marks, decision.decided_at, decision.guideline_version
            )
            + show_as("note", decision.rationale)
        )
    if taken := trace.imported:
        source = "; ".join(f"{name}: {value}" for name, value in taken.source.items() if value)
        parts.append(
            _head(tr("Taken from"))
            + show_as(
                "said", tr("Grade {grade}, {time}", grade=taken.grade, time=show_time(taken.imported_at))
            )
            + show_as("note", source)
            + (show_as("note", taken.note) if taken.note else "")
        )
    return parts or [show_as("said", tr("Nothing is recorded behind this grade."))]


def _line(who: str, answer: str, marks: list[str], at: datetime | None, guideline: int | None) -> str:
    badges = "".join(f'<span class="annotator-badge" dir="auto">{escape(mark)}</span>' for mark in marks)
    if at is None:
        when = tr("imported; not known when, and by which guideline")
    elif guideline is None:
        when = tr("{time}; imported, not known by which guideline", time=show_time(at))
    else:
        when = tr("{time}, guideline {version}", time=show_time(at), version=guideline)
    return (
        f'<p class="annotator-said">{escape(who)}: <strong>{escape(answer)}</strong>{badges}<br>'
        f'<span class="annotator-soft">{escape(when)}</span></p>'
    )


def _head(words: str) -> str:
    return f'<h4 class="annotator-part">{escape(words)}</h4>'


def _draw_guideline(guideline: "Guideline") -> None:
    with st.expander(
        tr("Guideline {version}, of {time}", version=guideline.version, time=show_time(guideline.created_at))
    ):
        grades = "".join(
            show_as("note", f"{grade.get('grade')} · {grade.get('name')}: {grade.get('definition')}")
            for grade in guideline.grades
        )
        st.html(show_as("narrative", guideline.guideline) + grades)
