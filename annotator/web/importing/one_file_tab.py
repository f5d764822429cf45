"""Draw the common parts of the tabs for one table: upload, check, changes, apply."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from annotator.importing.uploads.encodings import ENCODINGS, guess_encoding
from annotator.web.importing.file_jobs import FileJob
from annotator.web.importing.file_upload import (
    choose_file,
    draw_discard,
    draw_ended,
    draw_running,
    draw_upload,
    find_job,
    list_files,
    start_task,
)
from annotator.web.importing.result_view import draw_refusal
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr
from annotator.web.page_context import PageContext, require_context

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
                on_click=_start,
                args=(dataset, {**request, "dry_run": False}),
            )
    draw_discard(job, task)


def _draw_encoding(job: FileJob, path: str) -> str | None:
    names = list(ENCODINGS)
    with (job.files / path).open("rb") as file:
        head = file.read(_HEAD)
    guessed = guess_encoding(head, whole=len(head) < _HEAD) or "utf-8"
    chosen = st.selectbox(
        tr("Encoding"),
        names,
        names.index(guessed),
        format_func=ENCODINGS.__getitem__,
        key=f"{job.purpose} encoding {job.number} {path}",
    )
    return None if chosen == "utf-8" else chosen


def _start(dataset: str, request: dict[str, Any]) -> None:
    context = require_context()
    job = find_job(context, dataset, request["task"])
    if job is not None:
        start_task(context, job, request)
        note_press()
