"""Draw the labeling page: nothing but the panel, with as much room as the window has.

The panel's data (person, dataset, rubric) is one JSON text. It never has pairs: the panel fetches these from
`/api/judgments`.
"""

from pathlib import Path

import streamlit as st

from annotator.dataset.service import read_current_rubric
from annotator.dataset.settings import Dataset
from annotator.domain.grades import Rubric
from annotator.domain.people import includes
from annotator.web.guideline.api import describe_rubric
from annotator.web.kit.components import load_component, write_message
from annotator.web.kit.messages import current_language, read_words, tr
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    dataset = next((item for item in context.datasets if item.name == context.dataset), None)
    if dataset is None:
        st.title(tr("Label"))
        require_dataset(context)
        return
    version, rubric = context.call(read_current_rubric, dataset.name)
    draw_panel(context, dataset, version, rubric, pair=st.query_params.get("pair"))


FOLDER = Path(__file__).parent / "panel"
STYLES = tuple(FOLDER / f"{name}.css" for name in ("panel", "dialogs", "narrow", "document", "list", "touch"))


def draw_panel(
    context: PageContext, dataset: Dataset, version: int, rubric: Rubric, *, pair: str | None
) -> None:
    """Draw the panel for this person, dataset and version of the rubric.

    `pair`: an answered pair to open first.
    """
    message = {
        "username": context.actor.username,
        "name": context.person.name or context.actor.username,
        "is_lead": context.role is not None and includes(context.role, "lead"),
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
    panel = load_component("annotator_panel", FOLDER / "panel.js", styles=STYLES)
    panel(key=f"panel-{dataset.name}", data=write_message(message))


def panel_words(folder: Path = FOLDER) -> dict[str, str]:
    """Return {name in the panel's scripts: text in the reader's language} of `words.yaml`. The panel fills in `{…}`."""
    return {name: tr(text) for name, text in read_words(folder / "words.yaml")["words"].items()}


def list_keys(folder: Path = FOLDER) -> list[tuple[list[str], str]]:
    """Return (keys, effect) for the sheet of keys."""
    return [
        (keys.split(", "), tr(effect)) for keys, effect in read_words(folder / "words.yaml")["keys"].items()
    ]
