"""Keep a lead's draft of the next guideline version, so nothing typed is lost, and draw its fields.

The draft is stored in the session and, after every key press, in the lead's browser (`guideline_draft.js`),
which sends it back after a reload. It remembers its base version, so another lead's version is merged and not
overwritten. `GuidelineDraft.fields` is the truth. When the fields appear, or code changes them, they become
new widgets (`mark`) with the text as default. Late reports of old widgets are ignored, and no text depends on
a single message. The authoritative texts have a preview next to them, a translation its original. All tabs are
always drawn, so text in a hidden tab is not lost.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

import streamlit as st

from annotator.domain.grades import GRADES, GradeDefinition, Rubric
from annotator.domain.messages import LANGUAGE_NAMES, LANGUAGES
from annotator.guideline.service import GuidelineVersion
from annotator.guideline.validation import read_examples, write_examples
from annotator.web.guideline.reading import draw_definitions, draw_grades, draw_guideline
from annotator.web.kit.components import load_component, write_message
from annotator.web.kit.messages import LANGUAGES as OWN_NAMES
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.page_context import PageContext

OF_A_GRADE = ("name", "definition", "positive", "negative")
CHOSEN = "lessons"
"""The decisions and questions that the version answers, stored like a field (`feedback.py`)."""
LANGUAGE, TRANSLATED = "language", "translated"
"""The tag of the authoritative language ("" if not stated), and the tags of translations, separated by spaces."""
TEXTS = ("title", *(f"{name}{grade}" for grade in GRADES for name in OF_A_GRADE), "guideline")
FIELDS = (
    *TEXTS,
    CHOSEN,
    LANGUAGE,
    TRANSLATED,
    *(f"{tag}_{name}" for tag in LANGUAGES for name in TEXTS),  # of translations
)
MOST = 3_000_000
PREFIX = "guide_"


@dataclass
class GuidelineDraft:
    """A draft of the guideline. `fields`: {field: text}.

    `base`: the version it started from. `merged`: after a merge, the other lead's name and version, the
    common base version, and the own fields before the merge. `mark`: part of the widget keys on the screen;
    `shown`: their initial texts.
    """

    base: int
    fields: dict[str, str]
    merged: dict[str, Any] | None = None
    restored: bool = False
    mark: str = field(default_factory=lambda: secrets.token_hex(4))
    shown: dict[str, str] = field(default_factory=dict)


def to_fields(rubric: Rubric) -> dict[str, str]:
    """Return a rubric as {field: text}. The fields of missing languages are empty."""
    translated = " ".join(texts.language for texts in rubric.translations)
    fields = dict.fromkeys(FIELDS, "") | {LANGUAGE: rubric.language, TRANSLATED: translated}
    for texts in (rubric, *rubric.translations):
        before = "" if texts is rubric else texts.language
        fields |= {field_name(before, name): text for name, text in _list_texts(texts).items()}
    return fields


def field_name(tag: str, name: str) -> str:
    """Return the name of a text's field in a translation; "" for the authoritative texts."""
    return f"{tag}_{name}" if tag else name


def read_translated(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tags of the translations, in the order of LANGUAGES."""
    given = fields[TRANSLATED].split()
    return tuple(tag for tag in LANGUAGES if tag in given and tag != fields[LANGUAGE])


def _list_texts(rubric: Rubric) -> dict[str, str]:
    fields = {"title": rubric.title, "guideline": rubric.guideline}
    for definition in rubric.grades:
        grade = definition.grade
        fields[f"name{grade}"], fields[f"definition{grade}"] = definition.name, definition.definition
        fields[f"positive{grade}"] = write_examples(definition.positive_examples)
        fields[f"negative{grade}"] = write_examples(definition.negative_examples)
    return fields


def to_rubric(fields: Mapping[str, str]) -> Rubric:
    translations = (_read_texts(fields, tag, tag) for tag in read_translated(fields))
    return replace(_read_texts(fields, "", fields[LANGUAGE]), translations=tuple(translations))


def _read_texts(fields: Mapping[str, str], tag: str, language: str) -> Rubric:
    def read(name: str) -> str:
        return fields[field_name(tag, name)]

    grades = tuple(
        GradeDefinition(
            grade,
            read(f"name{grade}"),
            read(f"definition{grade}"),
            read_examples(read(f"positive{grade}")),
            read_examples(read(f"negative{grade}")),
        )
        for grade in GRADES
    )
    return Rubric(grades=grades, guideline=read("guideline"), title=read("title"), language=language)


def find_draft(dataset: str, present: GuidelineVersion) -> GuidelineDraft:
    """Return the session's draft. An untouched draft moves to the current version."""
    draft: GuidelineDraft | None = st.session_state.get(_name(dataset))
    if draft is None or (draft.base != present.version and not draft.fields):
        draft = GuidelineDraft(present.version, {})
        st.session_state[_name(dataset)] = draft
    return draft


def read_fields(draft: GuidelineDraft, base: GuidelineVersion) -> dict[str, str]:
    """Return {field: text}: the draft's text, or the base version's text for untouched fields."""
    return to_fields(base.rubric) | draft.fields


def note_typed(draft: GuidelineDraft, base: GuidelineVersion, typed: Mapping[str, str]) -> None:
    before = to_fields(base.rubric)
    draft.fields = {name: text for name, text in typed.items() if text != before[name]}


def set_draft(dataset: str, draft: GuidelineDraft) -> None:
    """Replace the draft and its fields. Call it before the fields are drawn, in a callback."""
    st.session_state[_name(dataset)] = draft


def write_field(dataset: str, base: GuidelineVersion, name: str, text: str) -> None:
    """Set the text of a field by code. Call it before the fields are drawn, in a callback."""
    draft = find_draft(dataset, base)
    note_typed(draft, base, read_typed(draft, base) | {name: text})
    if name != CHOSEN:  # the fields that it adds or fills appear anew
        draft.mark = secrets.token_hex(4)


def widget_key(draft: GuidelineDraft, name: str) -> str:
    return f"{PREFIX}{draft.mark}_{name}"


def bring_to_screen(draft: GuidelineDraft, base: GuidelineVersion) -> None:
    """Give fields that were not on the screen new keys and the draft's texts. Call it before they are drawn."""
    if not draft.shown or widget_key(draft, "title") not in st.session_state:
        draft.mark, draft.shown = secrets.token_hex(4), read_fields(draft, base)


def read_typed(draft: GuidelineDraft, base: GuidelineVersion) -> dict[str, str]:
    """Return the current texts of the fields, including text that arrived after the last run."""
    fields = read_fields(draft, base)
    return {name: st.session_state.get(widget_key(draft, name), fields[name]) or "" for name in FIELDS}


def draw_keeper(context: PageContext, dataset: str, draft: GuidelineDraft, base: GuidelineVersion) -> None:
    """Draw the invisible component that stores the draft in the browser.

    Draw it before the draft's fields: then every text that a lead sees is stored already.
    """
    session = st.session_state.setdefault("guideline session", secrets.token_hex(4))
    message = {
        "store": f"annotator:guideline:{context.actor.person_id}:{dataset}",
        "prefix": PREFIX,
        "session": session,
        "heard": _heard(dataset) in st.session_state,
        "mark": draft.mark,
        "base": draft.base,
        "all": read_fields(draft, base),
        "fields": draft.fields or None,
    }
    key = f"keeper {dataset}"
    load_component("annotator_guideline_draft", Path(__file__).parent / "guideline_draft.js")(
        key=key,
        data=write_message(message),
        on_found_change=lambda: _restore(dataset, base, st.session_state[key]["found"]),
    )


def _restore(dataset: str, base: GuidelineVersion, stored: object) -> None:
    """Restore the browser's draft if it is valid. Text that was typed before it arrived stays."""
    if _heard(dataset) in st.session_state:
        return
    st.session_state[_heard(dataset)] = True
    try:
        kept = json.loads(str(stored)[:MOST])
        begun, fields = kept["base"], kept["fields"]
        typed = {name: fields[name] for name in FIELDS if isinstance(fields.get(name), str)}
        if typed.get(LANGUAGE, "") not in ("", *LANGUAGES):
            del typed[LANGUAGE]
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    if type(begun) is int and begun > 0 and typed:
        present = find_draft(dataset, base)
        note_typed(present, base, read_typed(present, base))
        set_draft(dataset, GuidelineDraft(begun, typed | present.fields, restored=True))


def _heard(dataset: str) -> str:
    return f"guideline heard {dataset}"


def _name(dataset: str) -> str:
    return f"guideline draft {dataset}"


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
