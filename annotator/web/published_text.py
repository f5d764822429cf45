"""The texts that a release carries, its datasheet and its changes, as pages instead of Markdown.

Pictures and links to other files of the release lead to them.
"""

from typing import TYPE_CHECKING
from urllib.parse import unquote

import streamlit as st

from annotator.web.downloads import list_address
from annotator.web.guidance import draw_note
from annotator.web.markdown_text import render_markdown
from annotator.web.messages import tr

if TYPE_CHECKING:
    from annotator.releases.service import Release

LIMIT = 200_000


def draw_published(release: "Release", name: str) -> None:
    """The file of that name, as far as LIMIT characters."""
    if name not in release.files or release.folder != "whole":
        st.text(tr("{name} is not on this machine as it was published.", name=name))
        return
    with (release.path / name).open(encoding="utf-8", errors="replace") as file:
        text = file.read(LIMIT + 1)
    st.html(f'<div class="annotator-published" dir="auto">{render(text[:LIMIT], release)}</div>')
    if len(text) > LIMIT:
        draw_note(tr("The first {n:,} characters. The file itself holds all of it: see Files.", n=LIMIT))


def render(text: str, release: "Release") -> str:
    """The Markdown as HTML that holds nothing active."""
    return render_markdown(text, lambda piece: _point(piece.attrs, release))


def _point(attrs: "dict[str, str | int | float]", release: "Release") -> None:
    """Files of the release are found at their addresses; pictures from elsewhere are not shown."""
    for attribute in ("src", "href"):
        asked = unquote(str(attrs.get(attribute, "")))
        if asked in release.files:
            attrs[attribute] = list_address(release.dataset, release.version, asked)
        elif attribute == "src" and attribute in attrs:
            attrs[attribute] = ""
