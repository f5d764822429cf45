"""Mount the labeling panel on a Streamlit page: its HTML, CSS and JavaScript, and its data.

The data (person, dataset, rubric) is one JSON text in a dict: anything else in `data=` would import pandas.
It never has pairs: the panel fetches these from `/api/judgments`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.dataset.settings import Dataset
from annotator.domain.grades import Rubric
from annotator.domain.people import Actor
from annotator.web.guideline.api import describe_rubric
from annotator.web.kit.messages import current_language
from annotator.web.kit.modules import join_modules
from annotator.web.labeling.panel.words import list_keys, panel_words

FOLDER = Path(__file__).parent
STYLES = ("panel.css", "dialogs.css", "narrow.css", "document.css", "list.css", "touch.css")


def draw_panel(actor: Actor, dataset: Dataset, version: int, rubric: Rubric, *, pair: str | None) -> None:
    """Draw the panel for this annotator, dataset and version of the rubric.

    `pair`: an answered pair to open first.
    """
    message = {
        "username": actor.username,
        "dataset": dataset.name,
        "title": dataset.title,
        "language": current_language(),
        "idle_seconds": dataset.idle_seconds,
        "lease_minutes": dataset.lease_minutes,
        "pair": pair,
        "guideline": describe_rubric(version, rubric),
        "keys": list_keys(),
        "words": panel_words(),
    }
    _component()(key=f"panel-{dataset.name}", data={"message": json.dumps(message, ensure_ascii=False)})


@cache
def _component() -> Any:
    return st.components.v2.component(
        "annotator_panel",
        html=_read("panel.html"),
        css="\n".join(_read(name) for name in STYLES),
        js=join_modules(FOLDER / "panel.js"),
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
