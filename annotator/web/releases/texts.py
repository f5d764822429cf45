"""Draw the texts of a release, its datasheet and its changes, as pages instead of Markdown.

Pictures and links to other files of the release are turned into addresses of those files.
"""

from codecs import iterdecode
from pathlib import Path
from urllib.parse import unquote

import streamlit as st

from annotator.domain.errors import ConflictError, NotFound
from annotator.domain.people import Actor
from annotator.releases.records import Release
from annotator.storage.database import Database
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import render_markdown
from annotator.web.page_context import PageContext
from annotator.web.releases.downloads import list_address

LIMIT = 200_000


def draw_published(context: PageContext, release: Release, name: str) -> None:
    try:
        text = read_published(context.database, context.actor, release, name, context.settings.exports_dir)
    except (NotFound, ConflictError):
        st.text(tr("The published file {name} is missing or changed on this server.", name=name))
        return
    st.html(f'<div class="annotator-published" dir="auto">{render(text[:LIMIT], release)}</div>')
    if len(text) > LIMIT:
        draw_note(tr("The first {n:,} characters. Download the whole file from the tab Files.", n=LIMIT))


def read_published(database: Database, actor: Actor, release: Release, name: str, exports_dir: Path) -> str:
    """Return a little more than the first LIMIT characters of a file. Raises ConflictError if it is not as published."""
    from annotator.releases.files_service import open_release

    opened = open_release(database, actor, release.dataset, release.version, name, exports_dir=exports_dir)
    try:
        text = ""
        for piece in iterdecode(opened.files[name].read(), "utf-8", "replace"):
            text += piece
            if len(text) > LIMIT:
                break
        return text
    finally:
        opened.close()


def render(text: str, release: Release) -> str:
    """Return the Markdown as HTML without active content."""
    return render_markdown(text, lambda piece: _point(piece.attrs, release))


def _point(attrs: "dict[str, str | int | float]", release: Release) -> None:
    """Point to the release's files by their addresses, and drop pictures from elsewhere."""
    for attribute in ("src", "href"):
        path = unquote(str(attrs.get(attribute, "")))
        if path in release.files:
            attrs[attribute] = list_address(release.dataset, release.version, path)
        elif attribute == "src" and attribute in attrs:
            attrs[attribute] = ""
