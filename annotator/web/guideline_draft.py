"""A lead's draft of the standard's next version: its fields, and that nothing typed is ever lost.

The draft lives in the session and, letter by letter, in the lead's own browser (`guideline_draft.js`), which hands it
back after a reload. It knows the version it was begun from, so that another lead's version is merged, not overwritten.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import streamlit as st

from annotator.domain.grades import GRADES, GradeDefinition, Rubric
from annotator.standard.service import read_examples, write_examples

if TYPE_CHECKING:
    from annotator.standard.service import Version
    from annotator.web.page_context import PageContext

OF_A_GRADE = ("name", "definition", "positive", "negative")
CHOSEN = "lessons"
"""What of disputes the version answers: kept like a field, typed by nobody (`guideline_choice.py`)."""
FIELDS = ("title", *(f"{name}{grade}" for grade in GRADES for name in OF_A_GRADE), "guideline", CHOSEN)
MOST = 1_000_000


@dataclass
class Draft:
    """What is typed so far, by field. `base`: the version it was begun from. `merged`: what a merge with another lead's
    version brought: their name, their version, the version both began with, and the own fields as they were."""

    base: int
    fields: dict[str, str]
    merged: dict[str, Any] | None = None
    restored: bool = False
    nonce: str = field(default_factory=lambda: secrets.token_hex(4))


def to_fields(rubric: Rubric) -> dict[str, str]:
    """A standard as the form's fields."""
    found = {"title": rubric.title, "guideline": rubric.guideline, CHOSEN: ""}
    for definition in rubric.grades:
        grade = definition.grade
        found[f"name{grade}"], found[f"definition{grade}"] = definition.name, definition.definition
        found[f"positive{grade}"] = write_examples(definition.positive_examples)
        found[f"negative{grade}"] = write_examples(definition.negative_examples)
    return found


def to_rubric(fields: Mapping[str, str]) -> Rubric:
    """The standard that the fields hold."""
    grades = tuple(
        GradeDefinition(
            grade,
            fields[f"name{grade}"],
            fields[f"definition{grade}"],
            read_examples(fields[f"positive{grade}"]),
            read_examples(fields[f"negative{grade}"]),
        )
        for grade in GRADES
    )
    return Rubric(grades=grades, guideline=fields["guideline"], title=fields["title"])


def find_draft(dataset: str, present: "Version") -> Draft:
    """The session's draft. One in which nothing is typed yet goes along with the version in force."""
    draft: Draft | None = st.session_state.get(_name(dataset))
    if draft is None or (draft.base != present.version and not draft.fields):
        draft = Draft(present.version, {})
        st.session_state[_name(dataset)] = draft
    return draft


def read_fields(draft: Draft, base: "Version") -> dict[str, str]:
    """What is typed, and the version it was begun from where nothing is."""
    return to_fields(base.rubric) | draft.fields


def note_typed(draft: Draft, base: "Version", typed: Mapping[str, str]) -> None:
    """Keep what differs from the version it was begun from."""
    before = to_fields(base.rubric)
    draft.fields = {name: text for name, text in typed.items() if text != before[name]}


def set_draft(dataset: str, draft: Draft) -> None:
    """Another draft, in the fields too. Only before they are drawn, in a callback."""
    st.session_state[_name(dataset)] = draft
    for name in FIELDS:
        st.session_state.pop(widget_key(dataset, name), None)


def widget_key(dataset: str, name: str) -> str:
    """The key of a field's widget."""
    return f"{_prefix(dataset)}{name}"


def read_typed(dataset: str, draft: Draft, base: "Version") -> dict[str, str]:
    """What the fields hold at this moment, also where the page was not drawn with it yet."""
    known = read_fields(draft, base)
    return {name: st.session_state.get(widget_key(dataset, name), known[name]) or "" for name in FIELDS}


def draw_keeper(context: "PageContext", dataset: str, draft: Draft, base: "Version") -> None:
    """The piece of the page that keeps the draft in the browser; draws nothing."""
    session = st.session_state.setdefault("guideline session", secrets.token_hex(4))
    told = {
        "store": f"annotator:guideline:{context.actor.person_id}:{dataset}",
        "prefix": _prefix(dataset),
        "session": session,
        "set": draft.nonce,
        "base": draft.base,
        "all": read_fields(draft, base),
        "fields": draft.fields or None,
    }
    key = f"keeper {dataset}"
    _component()(
        key=key,
        data={"told": json.dumps(told, ensure_ascii=False)},
        on_found_change=lambda: _restore(dataset, st.session_state[key]["found"]),
    )


def _restore(dataset: str, found: object) -> None:
    """Take the browser's draft, as far as it is one."""
    try:
        kept = json.loads(str(found)[:MOST])
        base, fields = kept["base"], kept["fields"]
        typed = {name: fields[name] for name in FIELDS if isinstance(fields.get(name), str)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    if type(base) is int and base > 0 and typed:
        set_draft(dataset, Draft(base, typed, restored=True))


def _name(dataset: str) -> str:
    return f"guideline draft {dataset}"


def _prefix(dataset: str) -> str:
    return f"guide{crc32(dataset.encode()):08x}_"


@cache
def _component() -> Any:
    script = (Path(__file__).parent / "guideline_draft.js").read_text(encoding="utf-8")
    return st.components.v2.component("annotator_guideline_draft", js=script)
