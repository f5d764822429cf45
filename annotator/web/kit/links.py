"""Write links as plain HTML, for mouse and keyboard alike, and name the fields that their addresses name."""

from html import escape

import streamlit as st

from annotator.web.kit.messages import tr
from annotator.web.kit.words import name_word

SHORT = 16  # a link in a table: not to be broken


def write_link(label: str, address: str, *, says: str = "") -> str:
    """Return an HTML link that opens in this tab. `says`: what a screen reader reads instead of the label."""
    named = f' aria-label="{escape(says)}"' if says else ""
    style = ' style="white-space: nowrap"' if len(label) <= SHORT else ""
    return (
        f'<a class="annotator-link" href="{escape(address)}" target="_self"{named}{style}>{escape(label)}</a>'
    )


def draw_file_link(label: str, address: str) -> None:
    """Draw a link that downloads a file."""
    st.html(f'<a class="annotator-link annotator-file" href="{escape(address)}" download>{escape(label)}</a>')


def name_field(by: str) -> str:
    """Return what pairs are grouped by, in the reader's language; for an attribute of documents "document: ATTRIBUTE"."""
    kind, colon, attribute = by.partition(":")
    if colon and kind == "document":
        return tr("document: {attribute}", attribute=attribute)
    named = {
        "guideline_version": tr("guideline version"),
        "week": tr("week"),
        "annotator": tr("annotator"),
        "annotators": tr("two annotators"),
    }
    return named.get(by) or name_word(by)
