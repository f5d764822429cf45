"""Mounts the decision panel: the view of one dispute after the other, drawn when the address of the page names a pair.

Like the labeling panel it is told who decides what and by which standard, as one JSON text in a dict. Disputes never come
this way: the panel fetches them from `/api/cases`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.dataset.service import read_current_rubric
from annotator.web.adjudication.panel.words import deciding_words, list_keys
from annotator.web.adjudication.queue_url import read_address, write_address
from annotator.web.guideline.api import describe_standard
from annotator.web.kit.messages import current_language
from annotator.web.kit.page_parts import require_dataset
from annotator.web.labeling.panel import component
from annotator.web.page_context import PageContext

FOLDER = Path(__file__).parent
SHARED_SCRIPTS = (
    "elements.js",
    "keys.js",
    "timing.js",
    "empty_words.js",
    "marks.js",
    "sheet.js",
    "document.js",
    "standard.js",
    "ask.js",
)
SCRIPTS = (
    "unsent.js",
    "exchange.js",
    "saved.js",
    "form.js",
    "drawing.js",
    "windows.js",
    "deciding.js",
    "painting.js",
)
SHARED_STYLES = ("panel.css", "dialogs.css", "narrow.css", "document.css", "list.css", "touch.css")
STYLES = ("deciding.css",)
ROOM = """<style>
.stMainBlockContainer { padding-top: 4rem; padding-bottom: 0; }
@media (min-width: 821px) { .stMainBlockContainer { padding-top: 3.25rem; padding-left: 2.25rem; padding-right: 2.25rem; } }
.stApp.stApp::after { display: none; }
</style>"""  # the panel says by itself when the server cannot be reached


def draw_deciding(context: PageContext) -> None:
    """One dispute after the other: the one that the address names, then the head of the queue as its words ask for it."""
    name = require_dataset(context)
    dataset = next(item for item in context.datasets if item.name == name)
    version, rubric = read_current_rubric(context.database, context.actor, name)
    pair = st.query_params.get("pair")
    told = {
        "username": context.actor.username,
        "dataset": name,
        "title": dataset.title,
        "language": current_language(),
        "document_language": dataset.language,
        "idle_seconds": dataset.idle_seconds,
        "pair": None if pair == "next" else pair,
        "filter": write_address(read_address(st.query_params)),
        "standard": describe_standard(version, rubric),
        "keys": list_keys(),
        "words": deciding_words(),
    }
    st.html(ROOM)
    _component()(key=f"deciding-{name}", data={"told": json.dumps(told, ensure_ascii=False)})


@cache
def _component() -> Any:
    return st.components.v2.component(
        "annotator_deciding",
        html=_read(FOLDER, "deciding.html"),
        css=_join(SHARED_STYLES, STYLES),
        js=_join(SHARED_SCRIPTS, SCRIPTS),
    )


def _join(shared: tuple[str, ...], own: tuple[str, ...]) -> str:
    return "\n".join(
        [*(_read(component.FOLDER, name) for name in shared), *(_read(FOLDER, name) for name in own)]
    )


def _read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")
