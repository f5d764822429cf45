"""Draw the page Queries and documents, for leads: the dataset's content, and all ways to bring in files.

The tabs for one table are here: New document ids, and Checks from a file. Each has an upload, a check, the changes, and a
button that applies them.

Separate processes read the files (`file_jobs.py`), with the services of `annotator import`, `check`,
`convert`, `remap` and `calibration import`. A reload, or another tab, shows the same files and the same task.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.importing.uploads.import_service import show_contents
from annotator.importing.uploads.recognition import DatasetContents
from annotator.importing.uploads.staging import guess_encoding
from annotator.web.importing import fetch_tab, import_tab, try_tab
from annotator.web.importing.file_jobs import FileJob
from annotator.web.importing.file_upload import (
    choose_encoding,
    choose_file,
    draw_discard,
    draw_ended,
    draw_running,
    draw_upload,
    find_job,
    list_files,
    restart,
    start_task,
)
from annotator.web.importing.result_view import draw_refusal
from annotator.web.importing.words import CONTENT_NAMES, name_kind
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, require_dataset
from annotator.web.kit.tables import draw_table
from annotator.web.page_context import PageContext

_HEAD = 65_536


def draw_table_task(
    context: PageContext,
    dataset: str,
    task: str,
    *,
    draw_result: Callable[[Mapping[str, Any]], None],
    changes_something: Callable[[Mapping[str, Any]], bool],
    button: str,
) -> None:
    """Draw the upload of one table, its check, the changes, and the apply button."""
    job = find_job(context, dataset, task)
    if job is None:
        draw_upload(context, dataset, task, folders=False)
        return
    path = choose_file(job, list_files(job))
    request = {"task": task, "path": path, "encoding": _draw_encoding(job, path), "dry_run": True}
    if draw_running(job):  # after the fields: those that are not drawn forget what was chosen
        return
    checked, result = job.requests.get(task), job.results.get(task, {})
    if checked is None or any(checked[name] != request[name] for name in ("path", "encoding")):
        start_task(context, job, request)
        st.rerun()
    draw_ended(job)
    if result.get("stored"):
        st.success(tr("Done. The dataset has been changed as shown."), icon=":material/check:")
    if job.ended == "done" and not draw_refusal(job, result):
        draw_result(result)
        if not result.get("stored") and changes_something(result):
            st.button(
                button,
                type="primary",
                key=f"{task} apply {job.number}",
                on_click=restart,
                args=(dataset, task, {**request, "dry_run": False}),
            )
    draw_discard(job, task)


def _draw_encoding(job: FileJob, path: str) -> str | None:
    with (job.files / path).open("rb") as file:
        head = file.read(_HEAD)
    guessed = guess_encoding(head, whole=len(head) < _HEAD)
    return choose_encoding(guessed, f"{job.purpose} encoding {job.number} {path}")


def draw_remapping(context: PageContext, dataset: str) -> None:
    st.text(
        tr(
            "For a rebuilt corpus: a CSV file with the columns old_doc_id and new_doc_id. A renamed document keeps its pairs and judgments. Documents that are split or merged get new pairs to judge, with the old grades as suggestions for leads."
        )
    )
    draw_table_task(
        context,
        dataset,
        "remap",
        draw_result=_draw_remapped,
        changes_something=lambda result: any(
            result["remap"][f"{name}_count"] for name in ("renamed", "split", "merged")
        ),
        button=tr("Give the documents their new ids"),
    )


def _draw_remapped(result: Mapping[str, Any]) -> None:
    if "remap" not in result:
        return
    figures = result["remap"]
    st.subheader(tr("What changes"))
    rows = (
        (tr("documents renamed"), figures["renamed_count"]),
        (tr("documents split"), figures["split_count"]),
        (tr("documents made of several"), figures["merged_count"]),
        (tr("pairs that keep their judgments"), figures["pairs_carried"]),
        (tr("pairs that leave the pool"), figures["pairs_retired"]),
        (tr("new pairs to judge"), figures["pairs_new"]),
        (tr("old grades kept as suggestions"), figures["suggestions"]),
        (tr("new documents without a text"), figures["documents_new"]),
        (tr("ids that this file has changed before"), figures["applied"]),
    )
    shown = [(name, show_number(count)) for name, count in rows if count]
    if shown:
        draw_table(tr("What changes"), (tr("what"), tr("number")), shown)
    else:
        st.text(tr("This file changes nothing."))
    examples = [(old, new) for old, new in figures["renamed"]]
    examples += [(old, ", ".join(new)) for old, new in figures["split"]]
    examples += [(", ".join(old), new) for new, old in figures["merged"]]
    if examples:
        with st.expander(tr("First new ids")):
            draw_table(tr("First new ids"), (tr("old id"), tr("new id")), examples)
    _draw_ids(
        figures,
        "unknown",
        tr_n(
            "{n:,} old id is not in the dataset.",
            "{n:,} old ids are not in the dataset.",
            figures["unknown_count"],
        ),
    )
    _draw_ids(
        figures,
        "left_over",
        tr_n(
            "{n:,} document with pairs is not in the file.",
            "{n:,} documents with pairs are not in the file.",
            figures["left_over_count"],
        ),
    )


def _draw_ids(figures: Mapping[str, Any], name: str, words: str) -> None:
    count = figures[f"{name}_count"]
    if count:
        more = ", …" if count > len(figures[name]) else ""
        draw_note(f"{words} {', '.join(figures[name])}{more}")


def draw_checks(context: PageContext, dataset: str) -> None:
    st.text(
        tr(
            "Training and gold pairs: a CSV file with the columns query_id, doc_id, kind (training or gold), grade and explanation. The "
            "pairs have to be in the pool; a training pair needs an explanation."
        )
    )
    draw_link(context, "calibration")
    draw_table_task(
        context,
        dataset,
        "checks",
        draw_result=_draw_checks,
        changes_something=lambda result: bool(result["checks"]["added"] + result["checks"]["changed"]),
        button=tr("Save the checks"),
    )


def _draw_checks(result: Mapping[str, Any]) -> None:
    if "checks" not in result:
        return
    counts = result["checks"]
    draw_table(
        tr("What changes"),
        (tr("new"), tr("changed"), tr("unchanged")),
        [tuple(show_number(counts[name]) for name in ("added", "changed", "unchanged"))],
    )


TABS: dict[Message, Callable[[PageContext, str], None]] = {
    say("Import"): import_tab.draw,
    say("Fetch a run"): fetch_tab.draw,
    say("Try a file"): try_tab.draw,
    say("New document ids"): draw_remapping,
    say("Checks from a file"): draw_checks,
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
