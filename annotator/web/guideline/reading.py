"""Draw the guideline as annotators read it, its translations, and comparisons of two texts.

In a comparison, signs and words carry the same meaning as the colours. All text is escaped, because people wrote it.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.grades import Rubric, RubricReading, read_in_language
from annotator.domain.messages import LANGUAGE_NAMES, Message, join, say
from annotator.guideline.compare import list_outdated_translations
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import LANGUAGES, current_language, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown, render_guideline, show_as

if TYPE_CHECKING:
    from annotator.domain.grades import GradeDefinition, Rubric
    from annotator.guideline.compare import DiffLine, GuidelineComparison, TranslationChange
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


def describe_missing(reading: RubricReading, own: str) -> str:
    """Return a sentence about the texts that are missing in the reader's language, or ""."""
    if not reading.missing:
        return ""
    wanted, shown = (LANGUAGE_NAMES[tag] for tag in (reading.language, own))
    if reading.missing == "guideline":
        return tr(
            "The text of this guideline has no {wanted} version yet; you see the {shown} one.",
            wanted=wanted,
            shown=shown,
        )
    return tr(
        "This guideline has no {wanted} version yet; you see the {shown} one.", wanted=wanted, shown=shown
    )


def describe_translated(language: str | None) -> str:
    """Return a sentence about the reader's new guideline language; "" for None."""
    return (
        tr("You now see the guideline in {language}.", language=LANGUAGE_NAMES[language]) if language else ""
    )


def draw_outdated_translations(before: Rubric, after: Rubric) -> None:
    """Draw a warning for each translation that lacks changes of the authoritative texts."""
    for tag, fields in list_outdated_translations(before, after).items():
        names = tr(join([_name_field(field) for field in fields]))
        st.warning(
            tr(
                "You changed {fields}, and the {language} translation is as before. Change it too, or publish it as it is.",
                fields=names,
                language=LANGUAGE_NAMES[tag],
            ),
            icon=":material/translate:",
        )


def _name_field(field: str) -> Message:
    if field in ("title", "guideline"):
        return say("the title") if field == "title" else say("the guideline")
    return say("grade {grade}", grade=field.removeprefix("grade "))


SIGNS = {"same": " ", "removed": "⊖", "added": "⊕"}
"""No Markdown list begins with these signs."""


def draw_comparison(comparison: "GuidelineComparison") -> None:
    """Draw the differences in title, grades and guideline, language by language."""
    if comparison.is_empty:
        draw_note(tr("There are no differences."))
    if comparison.language:
        before, after = (tr(LANGUAGE_NAMES.get(tag, say("Not stated"))) for tag in comparison.language)
        draw_note(tr("Language of this guideline: {before} → {after}", before=before, after=after))
    _draw_texts(comparison)
    for change in comparison.translations:
        _draw_translation(change)


def _draw_translation(change: "TranslationChange") -> None:
    language = LANGUAGE_NAMES.get(change.language, change.language)
    if change.comparison is None:
        added = change.kind == "added"
        draw_note(
            tr("New translation: {language}", language=language)
            if added
            else tr("Removed translation: {language}", language=language)
        )
        return
    st.html(f'<p class="annotator-step">{escape(tr("Translation into {language}", language=language))}</p>')
    _draw_texts(change.comparison)


def _draw_texts(comparison: "GuidelineComparison") -> None:
    if comparison.title:
        draw_note(tr("Title"))
        st.html(
            _block(
                tr("Title"),
                [_row("removed", escape(comparison.title[0])), _row("added", escape(comparison.title[1]))],
            )
        )
    for grade in comparison.grades:
        name = f"{grade.grade} · {grade.after.name}"
        draw_note(name)
        draw_lines(name, grade.lines)
    if comparison.guideline.lines:
        draw_note(tr("Guideline"))
        draw_lines(tr("Guideline"), comparison.guideline.lines)
        if comparison.guideline.cut:
            draw_note(tr("Only the beginning of the changes is shown."))


def draw_lines(label: str, lines: Sequence["DiffLine"]) -> None:
    st.html(_block(label, [_line(line) for line in lines]))


def _block(label: str, rows: Sequence[str]) -> str:
    return (
        f'<div class="annotator-diff" role="region" tabindex="0" aria-label="{escape(label)}" dir="auto">'
        f"{''.join(rows)}</div>"
    )


def _line(line: "DiffLine") -> str:
    if line.skipped:
        skipped = tr_n("{n:,} unchanged line", "{n:,} unchanged lines", line.skipped)
        if line.kind != "same":
            skipped = tr_n("{n:,} more line", "{n:,} more lines", line.skipped)
        return f'<p class="annotator-skipped">… {escape(skipped)}</p>'
    parts = [
        f"<mark>{escape(part.text)}</mark>" if part.changed else escape(part.text) for part in line.parts
    ]
    return _row(line.kind, "".join(parts) or escape(line.text))


def _row(kind: str, html: str) -> str:
    spoken = {"removed": tr("removed:"), "added": tr("added:")}.get(kind)
    unseen = f'<span class="annotator-unseen">{escape(spoken)} </span>' if spoken else ""
    return (
        f'<p class="annotator-{kind}" dir="auto"><span aria-hidden="true">{SIGNS[kind]}</span>{unseen}'
        f"<span>{html or '&nbsp;'}</span></p>"
    )
