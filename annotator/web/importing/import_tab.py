"""Draw the tab Import: upload, recognized content, reading options, the changes, and the import.

The check is the dry run of the same service, repeated after every change of an option; only a checked file
can be imported.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.importing.uploads.import_service import was_imported
from annotator.web.importing.choices_form import draw_choices
from annotator.web.importing.file_jobs import FileJob
from annotator.web.importing.file_upload import (
    draw_discard,
    draw_ended,
    draw_running,
    draw_upload,
    find_job,
    restart,
    start_task,
)
from annotator.web.importing.result_view import draw_changes, draw_preview, draw_refusal
from annotator.web.importing.words import KIND_HELP, name_kind
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext, require_context

PURPOSE = "import"


def draw(context: PageContext, dataset: str) -> None:
    job = find_job(context, dataset, PURPOSE)
    if job is None:
        _draw_field(context, dataset)
        return
    if "look" not in job.results and not job.is_busy and not job.ended:
        start_task(context, job, {"task": "look", "then": "import"})
    looked = job.results.get("look")
    if looked is None or "items" not in looked:
        if draw_running(job):
            return
        draw_ended(job)
        if looked is not None:
            draw_refusal(job, looked)
        draw_discard(job, PURPOSE)
        return
    _draw_items(context, job, looked["items"])


def _draw_field(context: PageContext, dataset: str) -> None:
    draw_upload(context, dataset, PURPOSE)
    with st.expander(tr("What can be imported")):
        for kind, explanation in KIND_HELP.items():
            draw_note(f"{name_kind(kind)}: {tr(explanation)}")


def _draw_items(context: PageContext, job: FileJob, items: list[dict[str, Any]]) -> None:
    done = job.results.setdefault("imported", {})
    latest = {} if job.is_busy else job.results.get("import", {})
    if latest.get("stored"):
        done[job.requests.pop("import")["path"]] = job.results.pop("import")
    paths = [item["path"] for item in items]
    left = [path for path in paths if path not in done]
    for path, counts in done.items():
        st.success(escape_markdown(_describe_done(path, counts)), icon=":material/check:")
    if not left:
        _draw_field(context, job.dataset)  # the next files take the place of these
        return
    if len(paths) > 1:
        names = {item["path"]: _describe_item(item) for item in items}
        path = st.selectbox(
            tr("File to import next"),
            left,
            format_func=names.__getitem__,
            key=f"import next {job.number} {len(done)}",
            help=tr("Import queries first, then documents, then the rest: each needs the ones before it."),
        )
    else:
        path = left[0]
    item = next(item for item in items if item["path"] == path)
    _draw_item(context, job, item)


def _describe_item(item: Mapping[str, Any]) -> str:
    name = name_kind(item["kind"])
    if item["files"] > 1:
        return tr_n(
            "{path} ({kind}, {n} file)",
            "{path} ({kind}, {n} files)",
            item["files"],
            path=item["path"],
            kind=name,
        )
    return tr("{path} ({kind})", path=item["path"], kind=name)


def _draw_item(context: PageContext, job: FileJob, item: Mapping[str, Any]) -> None:
    st.subheader(_describe_item(item))
    if not item["is_certain"]:
        st.warning(
            tr("The content of this file is not certain. Check the kind and the columns."),
            icon=":material/help:",
        )
    if item.get("fault"):
        st.warning(tr(item["fault"]), icon=":material/help:")
    choices = draw_choices(
        job, item
    )  # also while a task runs: fields that are not drawn forget what was chosen
    if draw_running(job):
        return
    request = {"task": "import", "path": item["path"], "choices": asdict(choices), "dry_run": True}
    checked = job.requests.get("import")
    if checked is None or not all(checked[name] == request[name] for name in ("path", "choices")):
        start_task(context, job, request)  # a new file as it was recognised, then again after each change
        st.rerun()
    result = job.results.get("import", {})
    if job.ended != "done" or not result:
        draw_ended(job)
        _draw_again(job, request)
        return
    draw_preview(result)
    if draw_refusal(job, result):
        _draw_again(job, request)
        return
    _draw_confirm(job, result, request)


def _draw_again(job: FileJob, request: dict[str, Any]) -> None:
    with st.container(horizontal=True):
        st.button(
            tr("Check again"),
            key=f"import retry {job.number}",
            on_click=restart,
            args=(job.dataset, PURPOSE, request),
        )
        draw_discard(job, PURPOSE)


def _draw_confirm(job: FileJob, result: Mapping[str, Any], request: dict[str, Any]) -> None:
    st.subheader(tr("What changes"))
    draw_changes(result)
    count = result["added"] + result["changed"]
    with st.container(horizontal=True):
        if count:
            label = tr_n("Import {n:,} record", "Import {n:,} records", count)
            st.button(
                label,
                type="primary",
                key=f"import confirm {job.number} {request['path']}",
                on_click=_import,
                args=(job.dataset, {**request, "dry_run": False}),
            )
        else:
            st.text(tr("All of it is already in the dataset."))
        draw_discard(job, PURPOSE)


def _import(dataset: str, request: dict[str, Any]) -> None:
    context = require_context()
    job = find_job(context, dataset, PURPOSE)
    if job is None:
        return
    database, actor, now = context.database, context.actor, context.now
    start_task(context, job, request, was_stored=lambda: was_imported(database, actor, dataset, at=now))
    note_press()


def _describe_done(path: str, counts: Mapping[str, int]) -> str:
    if "added" not in counts:
        return tr("{path} is imported.", path=path)
    return tr(
        "{path} is imported: {added} new, {changed} changed, {unchanged} unchanged.",
        path=path,
        added=show_number(counts["added"]),
        changed=show_number(counts["changed"]),
        unchanged=show_number(counts["unchanged"]),
    )
