"""Draw a comparison of two texts: removed and added lines with their changed words marked.

Signs and words carry the same meaning as the colours. All text is escaped, because people wrote it.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.messages import LANGUAGE_NAMES, say
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note

if TYPE_CHECKING:
    from annotator.guideline.compare import DiffLine, GuidelineComparison, TranslationChange

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
    """Draw the differences in one language."""
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
    """Draw the lines of a comparison."""
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
