"""Draw the decision panel, which shows one disagreement after the other.

Like the labeling panel, it gets the lead, the dataset and the guideline as one JSON text in a dict. The panel
fetches the disagreements from `/api/cases`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.dataset.service import read_current_rubric
from annotator.web.adjudication.panel.words import decision_words, list_keys
from annotator.web.adjudication.queue_url import read_address, write_address
from annotator.web.guideline.api import describe_rubric
from annotator.web.kit.messages import current_language
from annotator.web.kit.modules import join_modules
from annotator.web.kit.page_parts import require_dataset
from annotator.web.labeling.panel import component
from annotator.web.page_context import PageContext

FOLDER = Path(__file__).parent
SHARED_STYLES = ("panel.css", "dialogs.css", "narrow.css", "document.css", "list.css", "touch.css")
STYLES = (*(component.FOLDER / name for name in SHARED_STYLES), FOLDER / "deciding.css")
ROOM = """<style>
.stMainBlockContainer { padding-top: 4rem; padding-bottom: 0; }
@media (min-width: 821px) { .stMainBlockContainer { padding-top: 3.25rem; padding-left: 2.25rem; padding-right: 2.25rem; } }
.stApp.stApp::after { display: none; }
</style>"""  # the panel says by itself when the server cannot be reached


def draw_deciding(context: PageContext) -> None:
    """Draw the decision panel: the pair in the address, then the queue with the address's filter."""
    name = require_dataset(context)
    dataset = next(item for item in context.datasets if item.name == name)
    version, rubric = read_current_rubric(context.database, context.actor, name)
    pair, address = st.query_params.get("pair"), write_address(read_address(st.query_params))
    message = {
        "username": context.actor.username,
        "dataset": name,
        "title": dataset.title,
        "language": current_language(),
        "document_language": dataset.language,
        "idle_seconds": dataset.idle_seconds,
        "pair": None if pair == "next" else pair,
        "filter": address,
        "guideline": describe_rubric(version, rubric),
        "keys": list_keys(),
        "words": decision_words(is_filtered=any(name != "sort" for name in address)),
    }
    st.html(ROOM)
    _component()(key=f"deciding-{name}", data={"message": json.dumps(message, ensure_ascii=False)})


@cache
def _component() -> Any:
    return st.components.v2.component(
        "annotator_deciding",
        html=_read(FOLDER / "deciding.html"),
        css="\n".join(_read(path) for path in STYLES),
        js=join_modules(FOLDER / "panel.js"),
    )


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
