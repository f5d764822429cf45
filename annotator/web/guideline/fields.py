"""Draw the fields of the next guideline version: its languages, and a tab with grades and text for each language.

The authoritative texts have a preview next to them, a translation its original. All tabs are always drawn, so
text in a hidden tab is not lost.
"""

from typing import TypedDict

import streamlit as st

from annotator.domain.grades import GRADES, Rubric
from annotator.domain.messages import LANGUAGE_NAMES, LANGUAGES
from annotator.guideline.service import GuidelineVersion
from annotator.web.guideline.draft import (
    LANGUAGE,
    TRANSLATED,
    GuidelineDraft,
    field_name,
    read_fields,
    read_translated,
    to_rubric,
    widget_key,
    write_field,
)
from annotator.web.guideline.reading import draw_definitions, draw_grades, draw_guideline
from annotator.web.kit.messages import LANGUAGES as OWN_NAMES
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note

OPENED = "guideline language opened"


class _HeldField(TypedDict):
    key: str
    value: str


def draw_fields(dataset: str, base: GuidelineVersion, draft: GuidelineDraft) -> None:
    fields = read_fields(draft, base)
    translated = read_translated(fields)
    _draw_languages(dataset, base, draft, fields[LANGUAGE], translated)
    rubric = to_rubric(fields)
    if not translated:
        _draw_own_texts(draft, rubric)
        return
    names = [OWN_NAMES[tag] for tag in rubric.languages]
    opened = st.session_state.get(OPENED)
    default = OWN_NAMES[opened] if opened in rubric.languages else names[0]
    for tag, tab in zip(rubric.languages, st.tabs(names, default=default), strict=True):
        with tab:
            if tag == rubric.language:
                _draw_own_texts(draft, rubric)
            else:
                _draw_translation(dataset, base, draft, rubric, tag)


def _draw_languages(
    dataset: str, base: GuidelineVersion, draft: GuidelineDraft, own: str, translated: tuple[str, ...]
) -> None:
    if translated:
        note = tr(
            "Language of this guideline: {language}. To change it, remove the translations.",
            language=LANGUAGE_NAMES[own],
        )
        draw_note(note)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not translated:
            _draw_own_language(dataset, base, draft, own)
        for tag in LANGUAGES if own else ():
            if tag != own and tag not in translated:
                st.button(
                    tr("Add {language}", language=LANGUAGE_NAMES[tag]),
                    key=f"guideline add {tag} {draft.mark}",
                    icon=":material/translate:",
                    on_click=_set_translated,
                    args=(dataset, base, (*translated, tag), tag),
                )
    if not own:
        draw_note(tr("Choose the language of this guideline to add translations."))


def _draw_own_language(dataset: str, base: GuidelineVersion, draft: GuidelineDraft, own: str) -> None:
    choices = ("", *LANGUAGES)
    key = f"guideline language {draft.mark}"
    st.selectbox(
        tr("Language of this guideline"),
        choices,
        choices.index(own),
        key=key,
        format_func=lambda tag: OWN_NAMES[tag] if tag else tr("Not stated"),
        width=240,
        help=tr(
            "The authoritative language. Releases show it, and annotators without a translation read it."
        ),
        on_change=lambda: write_field(dataset, base, LANGUAGE, st.session_state[key]),
    )


def _set_translated(
    dataset: str, base: GuidelineVersion, translated: tuple[str, ...], opened: str | None
) -> None:
    st.session_state[OPENED] = opened
    write_field(dataset, base, TRANSLATED, " ".join(tag for tag in LANGUAGES if tag in translated))


def _draw_own_texts(draft: GuidelineDraft, rubric: Rubric) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("The next version"))
        st.text_input(tr("Title"), **_hold(draft, "", "title"))
        for grade in reversed(GRADES):
            _draw_grade(draft, "", grade)
    with right:
        st.header(tr("Preview"))
        draw_grades(rubric)
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_text(draft, "")
    with right:
        draw_note(tr("Guideline"))
        draw_guideline(rubric.guideline, rubric.language)


def _draw_translation(
    dataset: str, base: GuidelineVersion, draft: GuidelineDraft, rubric: Rubric, tag: str
) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("Translation into {language}", language=LANGUAGE_NAMES[tag]))
        st.text_input(tr("Title"), **_hold(draft, tag, "title"))
    with right:
        st.header(tr("Original in {language}", language=LANGUAGE_NAMES[rubric.language]))
        if rubric.title:
            st.text(rubric.title)
    for definition in reversed(rubric.grades):
        left, right = st.columns(2, gap="medium")
        with left:
            _draw_grade(draft, tag, definition.grade)
        with right:
            draw_definitions([definition], rubric.language)
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_text(draft, tag)
        draw_note(tr("Without a text here, annotators read the original text."))
    with right:
        draw_note(tr("Guideline"))
        draw_guideline(rubric.guideline, rubric.language)
    st.button(
        tr("Remove {language}", language=LANGUAGE_NAMES[tag]),
        key=f"guideline remove {tag} {draft.mark}",
        icon=":material/delete:",
        on_click=_set_translated,
        args=(dataset, base, tuple(other for other in rubric.languages[1:] if other != tag), None),
    )


def _draw_grade(draft: GuidelineDraft, tag: str, grade: int) -> None:
    """Draw the fields of a grade in one language; "" for the authoritative one."""
    with st.expander(tr("Grade {grade}", grade=grade), expanded=True):
        st.text_input(tr("Name"), **_hold(draft, tag, f"name{grade}"))
        st.text_area(tr("Definition"), height="content", **_hold(draft, tag, f"definition{grade}"))
        st.text_area(
            tr("Examples, one per line"),
            height="content",
            help=tr("A line that starts with two spaces continues the example above it."),
            **_hold(draft, tag, f"positive{grade}"),
        )
        st.text_area(
            tr("Not this grade, one per line"),
            height="content",
            **_hold(draft, tag, f"negative{grade}"),
        )


def _draw_text(draft: GuidelineDraft, tag: str) -> None:
    st.text_area(tr("Guideline, in Markdown"), height=480, **_hold(draft, tag, "guideline"))


def _hold(draft: GuidelineDraft, tag: str, name: str) -> _HeldField:
    field = field_name(tag, name)
    return {"key": widget_key(draft, field), "value": draft.shown[field]}
