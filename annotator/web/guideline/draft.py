"""Keep a lead's draft of the next guideline version, so nothing typed is lost.

The draft is stored in the session and, after every key press, in the lead's browser (`guideline_draft.js`),
which sends it back after a reload. It remembers its base version, so another lead's version is merged and not
overwritten. `GuidelineDraft.fields` is the truth. When the fields appear, or code changes them, they become
new widgets (`mark`) with the text as default. Late reports of old widgets are ignored, and no text depends on
a single message.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.domain.grades import GRADES, GradeDefinition, Rubric
from annotator.domain.messages import LANGUAGES
from annotator.guideline.service import GuidelineVersion
from annotator.guideline.validation import read_examples, write_examples
from annotator.web.kit.components import load_component, write_message
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
    """Store the texts that differ from the base version."""
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
