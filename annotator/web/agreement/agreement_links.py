"""The links of the agreement page: to lists of pairs, back, and to files. Plain HTML: quiet in a sentence, the same for a
mouse and a keyboard, and an address that can be sent to somebody."""

from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.agreement.records import Selection
from annotator.web.agreement.links import Parameters, list_page_address
from annotator.web.kit.messages import tr

SHORT = 16  # a link in a table: not to be broken


def write_link(label: str, address: str, *, says: str = "") -> str:
    """HTML: a link in this tab. `says`: what a screen reader reads in place of the label."""
    named = f' aria-label="{escape(says)}"' if says else ""
    style = ' style="white-space: nowrap"' if len(label) <= SHORT else ""
    return (
        f'<a class="annotator-link" href="{escape(address)}" target="_self"{named}{style}>{escape(label)}</a>'
    )


def draw_sentence(dataset: str, sentence: str, pairs: Selection | None) -> None:
    """A sentence, with the way to the pairs it is about."""
    way = ""
    if pairs is not None:
        label = tr("Show the pairs")
        way = " " + write_link(label, list_page_address(dataset, pairs), says=f"{label}: {sentence}")
    st.html(f'<p class="annotator-step">{escape(sentence)}{way}</p>')


def draw_page_links(dataset: str, links: list[tuple[str, Parameters]], *, said: str = "") -> None:
    """Links within the page in one line, and what is said behind them."""
    drawn = [
        write_link(label, "/agreement?" + urlencode([("dataset", dataset), *told])) for label, told in links
    ]
    st.html(f'<p class="annotator-step">{" &nbsp; ".join([*drawn, escape(said)] if said else drawn)}</p>')


def draw_file_link(label: str, address: str) -> None:
    """A link to a file that is kept, not shown."""
    st.html(f'<a class="annotator-link annotator-file" href="{escape(address)}" download>{escape(label)}</a>')
