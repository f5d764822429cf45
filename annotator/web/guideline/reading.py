"""Draw the guideline as annotators read it: what each grade means, with examples either way, and the text."""

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown, render_guideline, show_as

if TYPE_CHECKING:
    from annotator.domain.grades import GradeDefinition, Rubric
    from annotator.guideline.service import GuidelineVersion


def draw_rubric(version: "GuidelineVersion") -> None:
    """Draw a version of the standard, with when it was published and why."""
    draw_note(describe_version(version))
    if version.why and version.version > 1:
        st.html(show_as("narrative", version.why))
    draw_grades(version.rubric)
    if version.rubric.guideline:
        st.header(tr("Guideline"))
        draw_guideline(version.rubric.guideline)


def describe_version(version: "GuidelineVersion") -> str:
    """Return which version it is, since when, and by whom."""
    when = show_time(version.created_at)
    if version.author:
        return tr(
            "Version {version}, {when}, by {name}", version=version.version, when=when, name=version.author
        )
    return tr("Version {version}, {when}", version=version.version, when=when)


def draw_grades(rubric: "Rubric") -> None:
    """Draw the grades from 3 down, each with its examples."""
    if rubric.title:
        st.header(escape_markdown(rubric.title))
    st.html("".join(_describe(definition) for definition in reversed(rubric.grades)))


def draw_guideline(text: str) -> None:
    """Draw the guideline, rendered."""
    st.html(f'<div class="annotator-published" dir="auto">{render_guideline(text)}</div>')


def _describe(definition: "GradeDefinition") -> str:
    lists = "".join(
        f'<p class="annotator-note">{escape(label)}</p><ul class="annotator-examples">'
        + "".join(f'<li dir="auto">{escape(example)}</li>' for example in examples)
        + "</ul>"
        for label, examples in (
            (tr("Examples"), definition.positive_examples),
            (tr("Not this grade"), definition.negative_examples),
        )
        if examples
    )
    return (
        f'<section class="annotator-definition" dir="auto"><h3>{definition.grade} · {escape(definition.name)}</h3>'
        f"<p>{escape(definition.definition)}</p>{lists}</section>"
    )
