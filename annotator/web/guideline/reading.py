"""Draw the guideline for annotators: the grades with definitions and examples, and the text."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.grades import read_in_language
from annotator.web.guideline.languages import describe_missing
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import LANGUAGES, current_language, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown, render_guideline, show_as

if TYPE_CHECKING:
    from annotator.domain.grades import GradeDefinition, Rubric
    from annotator.guideline.service import GuidelineVersion


def draw_rubric(version: "GuidelineVersion") -> None:
    """Draw a version in the reader's or the chosen language, with its date and reason."""
    draw_note(describe_version(version))
    rubric = version.rubric
    reading = read_in_language(rubric, _choose_language(rubric))
    if reading.missing:
        st.info(describe_missing(reading, rubric.language), icon=":material/translate:")
    if version.why and version.version > 1:
        st.html(show_as("narrative", version.why))
    draw_grades(reading.rubric)
    if reading.rubric.guideline:
        st.header(tr("Guideline"))
        own = reading.missing == "guideline"
        draw_guideline(reading.rubric.guideline, rubric.language if own else reading.rubric.language)


def _choose_language(rubric: "Rubric") -> str:
    """Draw the choice of language and return it. Default: the reader's language."""
    if not rubric.translations:
        return current_language()
    own = current_language() if current_language() in rubric.languages else rubric.language
    chosen = st.segmented_control(
        tr("Language"),
        rubric.languages,
        default=own,
        required=True,
        key=f"guideline read in {current_language()}",
        format_func=lambda tag: LANGUAGES[tag],
        label_visibility="collapsed",
    )
    return current_language() if chosen in (None, own) else str(chosen)


def describe_version(version: "GuidelineVersion") -> str:
    """Return a sentence with number, date and author of a version."""
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
    draw_definitions(rubric.grades[::-1], rubric.language)


def draw_definitions(definitions: "Sequence[GradeDefinition]", language: str) -> None:
    """Draw these grades in order with their examples. `language`: a tag, or "" if unknown."""
    sections = "".join(_describe(definition) for definition in definitions)
    st.html(f"<div{_mark_language(language)}>{sections}</div>")


def draw_guideline(text: str, language: str) -> None:
    """Draw the rendered guideline. `language`: a tag, or "" if unknown."""
    st.html(
        f'<div class="annotator-published" dir="auto"{_mark_language(language)}>{render_guideline(text)}</div>'
    )


def _mark_language(language: str) -> str:
    return f' lang="{escape(language)}"' if language else ""


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
