"""Mounts the labeling panel on a Streamlit page: its HTML, CSS and JavaScript, and what it is told.

The panel is told who labels what and by which standard, as one JSON text in a dict (anything else in `data=`
would import pandas). Pairs never come this way: the panel fetches them from `/api/judgments`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.datasets.service import Dataset
from annotator.domain.grades import Rubric
from annotator.domain.people import Actor
from annotator.web.panel.document_words import document_words
from annotator.web.panel.words import WORDS

FOLDER = Path(__file__).parent
SCRIPTS = ("marks.js", "sheet.js", "document.js", "outbox.js", "list.js", "panel.js")
STYLES = ("panel.css", "document.css", "list.css")


def draw_panel(actor: Actor, dataset: Dataset, rubric: Rubric) -> None:
    """Draw the panel for this annotator, dataset and rubric."""
    told = {
        "username": actor.username,
        "dataset": dataset.name,
        "title": dataset.title,
        "guideline": rubric.guideline,
        "grades": [
            {"grade": definition.grade, "name": definition.name, "definition": definition.definition}
            for definition in rubric.grades
        ],
        "words": {**WORDS, **document_words()},
    }
    _component()(key=f"panel-{dataset.name}", data={"told": json.dumps(told, ensure_ascii=False)})


@cache
def _component() -> Any:
    return st.components.v2.component(
        "annotator_panel",
        html=_read("panel.html"),
        css="\n".join(_read(name) for name in STYLES if (FOLDER / name).exists()),
        js="\n".join(_read(name) for name in SCRIPTS if (FOLDER / name).exists()),
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
