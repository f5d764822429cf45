"""A page as one document, and a page split at its headings into one document for each.

`read_page` finds title, metadata and headings; the YAML front matter of Markdown becomes metadata and is cut
from the text. `split_sections` gives every section the id `path#heading-slug` and the headings above it as its
title. Put together, the sections are the page's text again: nothing is lost or moved. A heading with nothing
under it is no section; it lives on in the titles below it.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import Document
from annotator.formats.yaml_text import load_yaml, resolve
from annotator.importing.headings import Heading
from annotator.importing.html_headings import find_html_headings
from annotator.importing.markdown_headings import find_markdown_headings
from annotator.importing.rst_headings import find_rst_headings, has_own_text

BETWEEN = " › "
TITLE_KEYS = ("title", "제목", "タイトル")
LONGEST_SLUG = 200
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A file as one document, and its headings as offsets into the document's text."""

    document: Document
    headings: tuple[Heading, ...]


def read_page(doc_id: str, text: str, media_type: str) -> Page:
    """The page of a file's text. Its title is said by the file, or is its first heading, or its file name."""
    title = ""
    metadata: dict[str, Any] = {}
    headings: list[Heading] = []
    if media_type == "text/markdown":
        metadata, text = _cut_front_matter(text)
        title = next((metadata[key] for key in TITLE_KEYS if isinstance(metadata.get(key), str)), "").strip()
        headings = find_markdown_headings(text)
    elif media_type == "text/x-rst":
        headings = find_rst_headings(text)
    elif media_type == "text/html":
        headings, title = find_html_headings(text)
    title = title or next((heading.title for heading in headings if heading.title), "")
    title = title or PurePosixPath(doc_id).name
    document = Document(doc_id, title, text, None, media_type, metadata)
    return Page(document, tuple(headings))


def split_sections(page: Page) -> list[Document]:
    """The text before the first heading under the page's own id, then a document for each heading."""
    document, headings = page.document, page.headings
    sections: list[Document] = []
    before = document.text[: headings[0].start] if headings else document.text
    if before.strip():
        sections.append(replace(document, text=before))
    slugs: set[str] = set()
    above: list[Heading] = []
    for index, heading in enumerate(headings):
        end = headings[index + 1].start if index + 1 < len(headings) else len(document.text)
        slug = _make_slug(heading.title, slugs)
        above = [*(outer for outer in above if outer.level < heading.level), heading]
        if _has_own_text(document.text[heading.body : end], document.media_type):
            title = _path_of(document.title, above)
            text = document.text[heading.start : end]
            sections.append(replace(document, doc_id=f"{document.doc_id}#{slug}", title=title, text=text))
    return sections


def _has_own_text(body: str, media_type: str) -> bool:
    return has_own_text(body) if media_type == "text/x-rst" else bool(body.strip())


def _path_of(title: str, above: list[Heading]) -> str:
    names = [heading.title for heading in above if heading.title]
    return BETWEEN.join(names if names[:1] == [title] else [title, *names])


def _make_slug(title: str, taken: set[str]) -> str:
    """Lower case, letters and digits of any script kept, the rest "-"; -2, -3 … when it is taken."""
    kept = "".join(character if _is_kept(character) else "-" for character in title.lower())
    slug = re.sub("-+", "-", kept).strip("-")[:LONGEST_SLUG].rstrip("-") or "section"
    unique, number = slug, 1
    while unique in taken:
        number += 1
        unique = f"{slug}-{number}"
    taken.add(unique)
    return unique


def _is_kept(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _cut_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Front matter and the text after it; no front matter when what stands there is no YAML mapping."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    try:
        tree = load_yaml((found.group(1) or "").encode("utf-8"), "front matter")
    except BadInput:
        return {}, text
    content = None if tree.faults else tree.value
    return (resolve(content), text[found.end() :]) if isinstance(content, dict) else ({}, text)
