"""Draw a text to pass on, such as a link that is shown once, with a button that copies it.

Streamlit's own code block shows its copy button only while the pointer is over it.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.web.kit.messages import tr
from annotator.web.kit.modules import join_modules

HERE = Path(__file__).parent


def draw_copy_field(key: str, label: str, text: str) -> None:
    """Draw the text in a field that cannot be edited, with its label and the button."""
    message = {
        "label": label,
        "text": text,
        "copy": tr("Copy"),
        "copied": tr("Copied"),
        "select": tr("Copy the selected text by keyboard."),
    }
    _component()(key=key, data={"message": json.dumps(message, ensure_ascii=False)})


@cache
def _component() -> Any:
    html, css = ((HERE / f"copy_field.{kind}").read_text(encoding="utf-8") for kind in ("html", "css"))
    js = join_modules(HERE / "copy_field.js")
    return st.components.v2.component("annotator_copy_field", html=html, css=css, js=js)
