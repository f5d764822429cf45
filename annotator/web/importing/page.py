"""Draw the page Queries and documents, for leads: the dataset's content, and all ways to bring in files.

Separate processes read the files (`file_jobs.py`), with the services of `annotator import`, `check`,
`convert`, `remap` and `calibration import`. A reload, or another tab, shows the same files and the same task.
"""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.importing.uploads.import_service import show_contents
from annotator.importing.uploads.recognition import DatasetContents
from annotator.web.importing import fetch_tab, import_tab, table_tabs, try_tab
from annotator.web.importing.words import CONTENT_NAMES, name_kind
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, require_dataset
from annotator.web.kit.tables import draw_table
from annotator.web.page_context import PageContext

TABS: dict[Message, Callable[[PageContext, str], None]] = {
    say("Import"): import_tab.draw,
    say("Fetch a run"): fetch_tab.draw,
    say("Try a file"): try_tab.draw,
    say("New document ids"): table_tabs.draw_remapping,
    say("Checks from a file"): table_tabs.draw_checks,
}


def draw(context: PageContext) -> None:
    st.title(tr("Queries and documents"))
    dataset = require_dataset(context)
    contents = context.call(show_contents, dataset)
    with st.container():
        _draw_contents(context, contents)
    draw_url_tabs({title: partial(draw_tab, context, dataset) for title, draw_tab in TABS.items()})
    keep_focus()


def _draw_contents(context: PageContext, contents: DatasetContents) -> None:
    if not any(item.count for item in contents.counts):
        st.text(
            tr("This dataset is empty. Import its queries first, then its documents; then make the pool.")
        )
        return
    rows = []
    for item in contents.counts:
        if not item.count and item.last is None:
            continue
        last = "–"
        if item.last is not None:
            last = tr(
                "{file}, {time}, {name}",
                file=PurePath(item.last.path).name,
                time=show_time(item.last.imported_at),
                name=item.last.by or tr("on the server"),
            )
        rows.append((name_kind(item.kind, names=CONTENT_NAMES), show_number(item.count), last))
    draw_table(tr("Contents of the dataset"), (tr("kind"), tr("number"), tr("last import")), rows)
    if contents.without_text:
        draw_note(
            tr_n(
                "{n:,} document has no text yet: import it as a document.",
                "{n:,} documents have no text yet: import them as documents.",
                contents.without_text,
            )
        )
    if not contents.count("queries"):
        st.text(tr("Next: import the queries."))
    elif contents.without_text == contents.count("documents"):
        st.text(tr("Next: import the documents."))
    elif not contents.count("pairs"):
        st.text(tr("Next: import runs if you have some, or make the pool from the documents."))
        draw_link(context, "pool")
