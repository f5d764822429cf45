"""The texts that a release carries, its datasheet and its changes, as pages instead of Markdown.

Plain CommonMark with tables: Streamlit's own Markdown would take `$`, `:red[` and `->` for more than they are. HTML in
it is shown as text; pictures and links to other files of the release lead to them.
"""

from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

import streamlit as st

from annotator.web.downloads import list_address
from annotator.web.guidance import draw_note

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from annotator.releases.service import Release

LIMIT = 200_000
LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}


def draw_published(release: "Release", name: str) -> None:
    """The file of that name, as far as LIMIT characters."""
    if name not in release.files or release.folder != "whole":
        st.text(f"{name} is not on this machine as it was published.")
        return
    with (release.path / name).open(encoding="utf-8", errors="replace") as file:
        text = file.read(LIMIT + 1)
    st.html(f'<div class="annotator-published" dir="auto">{render(text[:LIMIT], release)}</div>')
    if len(text) > LIMIT:
        draw_note(f"The first {LIMIT:,} characters. The file itself holds all of it: see Files.")


def render(text: str, release: "Release") -> str:
    """The Markdown as HTML that holds nothing active."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        token.tag = LOWER.get(token.tag, token.tag)
        for child in token.children or ():
            for attribute in ("src", "href"):
                if attribute in child.attrs:
                    _point(child.attrs, attribute, release)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _point(attrs: "dict[str, str | int | float]", attribute: str, release: "Release") -> None:
    """Files of the release are found at their addresses; pictures from elsewhere are not shown."""
    asked = unquote(str(attrs[attribute]))
    if asked in release.files:
        attrs[attribute] = list_address(release.dataset, release.version, asked)
    elif attribute == "src":
        attrs[attribute] = ""


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")
