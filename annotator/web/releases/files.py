"""Draw the files of a release, each with its purpose, its size and a link that downloads it, and its README and data card.

In the texts, pictures and links to other files of the release become addresses of those files.
"""

from codecs import iterdecode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import unquote

import streamlit as st

from annotator.domain.errors import ConflictError, NotFound
from annotator.domain.messages import Message, say
from annotator.domain.people import Actor
from annotator.releases.records import Release
from annotator.releases.writing.files import (
    CHANGES,
    CONFUSION_PICTURE,
    DATASHEET,
    GRADES_PICTURE,
    JUDGMENTS,
    MANIFEST,
    PROBABILITIES,
    SIGNATURE,
    SUMS,
    TRUTH_FILES,
)
from annotator.storage.database import Database
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table
from annotator.web.kit.text import render_markdown
from annotator.web.page_context import PageContext
from annotator.web.releases.downloads import list_address

LIMIT = 200_000
SIZES = ((1_000_000, "MB"), (1_000, "kB"))
PURPOSES: Sequence[tuple[Message, Mapping[str, Message]]] = (
    (
        say("Ground truth, one file for each evaluator"),
        {
            TRUTH_FILES["trec"]: say(
                "Every grade, in the format of TREC: trec_eval, ir_measures, pytrec_eval"
            ),
            f"{TRUTH_FILES['beir']}/queries.jsonl": say(
                "The queries, in the format of BEIR: its loader, MTEB"
            ),
            f"{TRUTH_FILES['beir']}/corpus.jsonl": say(
                "All documents of the dataset, also those without a grade, in the format of BEIR"
            ),
            f"{TRUTH_FILES['beir']}/qrels/test.tsv": say("Every grade, in the format of BEIR"),
            TRUTH_FILES["nablarch"]: say("For the evaluator of Nablarch search"),
            TRUTH_FILES["law"]: say(
                "For the evaluator of law search, with the annotators' grades; its NDCG function needs law-compact.json"
            ),
            TRUTH_FILES["law-compact"]: say(
                "For the evaluator of law search and its NDCG function: one grade for each document"
            ),
            TRUTH_FILES["ranked"]: say(
                "For the evaluator of survey templates: the relevant documents of each query, best first"
            ),
            TRUTH_FILES["assay"]: say("For the evaluator of code search; refers to queries by their ids"),
            TRUTH_FILES["assay-queries"]: say(
                "For the evaluator of code search; includes the texts of the queries"
            ),
            PROBABILITIES: say(
                "Every grade with the probability that its pair came into the pool, for infAP and other estimates from samples"
            ),
        },
    ),
    (
        say("Documentation"),
        {
            DATASHEET: say("For readers: how the ground truth was made, how reliable it is, and its limits"),
            CHANGES: say("For readers: what changed since the previous release, pair by pair"),
            GRADES_PICTURE: say("Picture of the datasheet: how often each grade was given"),
            CONFUSION_PICTURE: say(
                "Picture of the datasheet: which grades two annotators gave the same pairs"
            ),
        },
    ),
    (
        say("Evidence and checksums"),
        {
            JUDGMENTS: say("Every judgment behind the grades, with pseudonyms, to measure agreement again"),
            MANIFEST: say("For programs: version, counts, gates, settings, and the checksum of every file"),
            SUMS: say("Checksums of all files, to verify the release without this program"),
            SIGNATURE: say("Signature of SHA256SUMS, which shows who published the release"),
        },
    ),
)
"""What each file of a release is for, by its path within the release, in the order to show them."""


def draw_files(release: Release, why_not: Message | None) -> None:
    """Draw the folder, the download of everything, and the files by purpose. `why_not`: why none can be downloaded."""
    previous = release.previous or tr("none")
    draw_note(
        tr(
            "Content checksum: {checksum}. Previous release: {previous}. Folder:",
            checksum=release.content_sha256,
            previous=previous,
        )
    )
    st.code(str(release.path.resolve()), language=None)
    if why_not is not None:
        st.warning(tr("Downloads are not available: {why}.", why=why_not), icon=":material/folder_off:")
        return
    st.html(
        f'<p><a class="annotator-link annotator-all" href="{escape(list_address(release.dataset, release.version))}" '
        f'target="_self" download>{escape(tr("Download everything (zip)"))}</a></p>'
    )
    for heading, names in list_files(release.files):
        st.subheader(tr(heading), anchor=False)
        columns = (tr("file"), tr("what it is for"), tr("size"))
        draw_link_table(tr(heading), columns, [_describe(release, name) for name in names], tall=True)


def list_files(names: Sequence[str]) -> list[tuple[Message, list[str]]]:
    """Return the files of a release by purpose, in the order to show them; those that are not known come last."""
    listed = [(heading, [name for name in uses if name in names]) for heading, uses in PURPOSES]
    unknown = [name for name in names if not any(name in uses for _, uses in PURPOSES)]
    listed.append((say("Further files"), unknown))
    return [(heading, some) for heading, some in listed if some]


def _describe(release: Release, name: str) -> list[Cell]:
    path = release.path / name
    size = describe_size(path.stat().st_size) if path.is_file() else tr("missing")
    use = next((uses[name] for _, uses in PURPOSES if name in uses), None)
    address = list_address(release.dataset, release.version, name)
    return [Link(name, address), tr(use) if use is not None else "", size]


def describe_size(size: int) -> str:
    """Return a number of bytes for people: "312 bytes", "4.1 kB", "12.5 MB"."""
    for factor, unit in SIZES:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return tr("{size} bytes", size=size)


def draw_published(context: PageContext, release: Release, name: str) -> None:
    try:
        text = context.call(read_published, release, name, context.settings.exports_dir)
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
