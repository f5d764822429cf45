"""The releases that are out, and the chosen one: its qrels, gates, datasheet, changes and files."""

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.messages import say
from annotator.web.kit.controls import heed_tab
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.row_table import draw_rows
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext
from annotator.web.releases.downloads import list_address
from annotator.web.releases.gates import draw_kept_gates
from annotator.web.releases.qrels import draw_qrels
from annotator.web.releases.texts import draw_published

if TYPE_CHECKING:
    from annotator.releases.service import Release

PARTS = (say("Qrels"), say("Gates"), say("Datasheet"), say("Changes"), say("Files"))
FOLDERS = {
    "whole": say(
        "its files are in place, and each is checked against its published checksum when it is sent"
    ),
    "missing": say("its folder is not on this machine"),
    "changed": say("its folder is not as it was published: see annotator release verify"),
}
COLUMNS = (say("version"), say("published"), say("qrels"), say("by"), say("note"), say("marks"))
SIZES = ((1_000_000, "MB"), (1_000, "kB"))
NOTES = {"law.json": say("the law-search evaluator's NDCG function needs law-compact.json")}
"""What somebody who takes the file has to know."""


def draw_releases(context: PageContext, dataset: str, listed: "list[Release]") -> None:
    """The list, the latest first, and below it the chosen release."""
    if not listed:
        st.text(tr("Nothing is published yet. What the first release needs stands under Next release."))
        return
    newest = list(reversed(listed))
    release = _find_chosen(newest)
    rows = [(one.version, _describe(one)) for one in newest]
    draw_rows(
        f"releases {dataset}", tr("The releases. Choose one to see it."), [tr(name) for name in COLUMNS], rows,
        chosen=release.version, on_choose=_choose, leads_to=".annotator-release",
    )  # fmt: skip
    _draw_head(release)
    heed_tab("part", PARTS)
    parts = st.tabs([tr(name) for name in PARTS], key="part", bind="query-params")
    for name, part in zip(PARTS, parts, strict=True):
        if part.open:
            with part:
                _draw_part(name, context, release, newest)


def _find_chosen(newest: "list[Release]") -> "Release":
    """The one in the address; the latest without one."""
    asked = st.query_params.get("version")
    found = next((one for one in newest if one.version == asked), None)
    if asked is not None and found is None:
        st.warning(tr("There is no such version. This is the latest."), icon=":material/search_off:")
    return found or newest[0]


def _choose(version: str) -> None:
    st.query_params["version"] = version
    st.session_state["page"] = 1


def _describe(release: "Release") -> list[str]:
    gates = ", ".join(name_word(gate) for gate in release.overridden)
    marks = [tr("overridden: {gates}", gates=gates)] if gates else []
    marks += [tr("simulated judgments")] if release.simulated else []
    marks += [tr("folder {state}", state=name_word(release.folder))] if release.folder != "whole" else []
    note = release.note if len(release.note) < 120 else f"{release.note[:119]}…"
    return [
        release.version, show_time(release.created_at), f"{release.qrels:,}", release.published_by, note, "; ".join(marks),
    ]  # fmt: skip


def _draw_head(release: "Release") -> None:
    said = tr_n(
        "{n:,} qrel. Published {time}, by {lead}; {folder}.",
        "{n:,} qrels. Published {time}, by {lead}; {folder}.",
        release.qrels,
        time=show_time(release.created_at), lead=release.published_by, folder=FOLDERS[release.folder],
    )  # fmt: skip
    st.html(
        f'<div class="annotator-release" data-key="{escape(release.version)}">'
        f"<h2>{escape(f'{release.dataset} {release.version}')}</h2>"
        + (show_as("said", release.note) if release.note else "")
        + show_as("note", said)
        + "</div>"
    )


def _draw_part(name: str, context: PageContext, release: "Release", newest: "list[Release]") -> None:
    if name == "Qrels":
        place = newest.index(release)
        earlier = [one.version for one in newest[place + 1 :]]
        draw_qrels(context, release.dataset, release.version, earlier)
    elif name == "Gates":
        draw_kept_gates(release.gates)
    elif name == "Datasheet":
        draw_published(context, release, "DATASHEET.md")
    elif name == "Changes":
        draw_published(context, release, "CHANGES.md")
    else:
        _draw_files(release)


def _draw_files(release: "Release") -> None:
    previous = release.previous or tr("none")
    draw_note(tr(
        "Content {checksum}; previous release: {previous}. Its folder:",
        checksum=release.content_sha256, previous=previous,
    ))  # fmt: skip
    st.code(str(release.path.resolve()), language=None)
    if release.folder != "whole":
        said = tr("Nothing can be downloaded: {why}.", why=FOLDERS[release.folder])
        st.warning(said, icon=":material/folder_off:")
        return
    items = "".join(f"<li>{_link(release, name)}</li>" for name in release.files)
    st.html(
        f'<p><a class="annotator-link annotator-all" href="{escape(list_address(release.dataset, release.version))}" '
        f'target="_self" download>{escape(tr("Download everything (zip)"))}</a></p><ul class="annotator-files">{items}</ul>'
    )


def _link(release: "Release", name: str) -> str:
    address = escape(list_address(release.dataset, release.version, name))
    path = release.path / name
    size = say_size(path.stat().st_size) if path.is_file() else tr("gone")
    note = f" · {tr(NOTES[name])}" if name in NOTES else ""
    return (
        f'<a class="annotator-link" href="{address}" target="_self" download>{escape(name)}</a> '
        f'<span class="annotator-soft">{size}{escape(note)}</span>'
    )


def say_size(size: int) -> str:
    """Bytes for people: "312 bytes", "4.1 kB", "12.5 MB"."""
    for factor, unit in SIZES:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return tr("{size} bytes", size=size)
