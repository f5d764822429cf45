"""Draw the upload fields with their limits, stage the files, and draw a running task with its progress.

Each upload gets a new field, so that Streamlit frees the memory of the old one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.importing.uploads.staging import ENCODINGS, LIMITS
from annotator.web.importing.file_jobs import FILE_JOBS, FileJob
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import join_sentences, show_refusal, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext, require_context
from annotator.web.server.uploads import MOST_IMPORT_FILES, MOST_IMPORT_MB, draw_import_field

POLL_SECONDS = 1.0


def draw_upload(
    context: PageContext, dataset: str, purpose: str, *, folders: bool = True, stores: bool = True
) -> None:
    """Draw the limits and the field; store an upload in place of earlier files, and redraw the page.

    `stores`: whether the dataset changes later, after a confirmation.
    """
    before = [tr("You see what would change before anything is stored.")] if stores else []
    draw_note(join_sentences([describe_limits(folders=folders), *before]))
    turn = st.session_state.get(f"{purpose} uploads", 0)
    whole_folder = folders and st.toggle(
        tr("Upload a whole folder"), key=f"{purpose} folder", help=tr("Includes its subfolders.")
    )
    label = tr("Folder") if whole_folder else tr("Files or a zip archive") if folders else tr("File")
    with st.container():
        refused = st.session_state.get(f"{purpose} refused")
        if refused:
            st.error(escape_markdown(refused), icon=":material/block:")
    files = draw_import_field(
        label,
        person_id=context.actor.person_id,
        key=f"{purpose} files {turn} {whole_folder}",
        folder=bool(whole_folder),
    )
    if not files:
        return
    try:
        FILE_JOBS.stage(
            context.actor.person_id,
            context.person.name,
            dataset,
            purpose,
            [(file.name, file) for file in files],
        )
        st.session_state.pop(f"{purpose} refused", None)
    except AnnotatorError as error:
        st.session_state[f"{purpose} refused"] = show_refusal(error)
    st.session_state[f"{purpose} uploads"] = turn + 1
    st.rerun()


def describe_limits(*, folders: bool) -> str:
    """Return the upload limits as a sentence. `folders`: several files, folders and zip archives are allowed."""
    if not folders:
        return tr("At most {mb} MB.", mb=show_number(MOST_IMPORT_MB))
    return tr(
        "Up to {mb} MB and {files} files (zip: {unpacked} MB unpacked).",
        mb=show_number(MOST_IMPORT_MB),
        files=show_number(MOST_IMPORT_FILES),
        unpacked=show_number(LIMITS.unpacked_mb),
    )


def find_job(context: PageContext, dataset: str, purpose: str) -> FileJob | None:
    return FILE_JOBS.find(context.actor.person_id, dataset, purpose)


def start_task(
    context: PageContext,
    job: FileJob,
    request: Mapping[str, Any],
    *,
    was_stored: Callable[[], bool] | None = None,
) -> None:
    whole = {
        "person_id": context.actor.person_id,
        "username": context.actor.username,
        "dataset": job.dataset,
        "now": context.now.isoformat(),
        **request,
    }
    FILE_JOBS.start(job, whole, database=context.database, was_stored=was_stored)


def draw_running(job: FileJob) -> bool:
    """Draw the progress of a task and its cancel button; return whether one is running."""
    if not job.is_busy:
        return False
    st.fragment(_draw_progress, run_every=POLL_SECONDS)(job.dataset, job.purpose)
    return True


def _draw_progress(dataset: str, purpose: str) -> None:
    context = require_context()
    job = find_job(context, dataset, purpose)
    if job is None or not job.is_busy:
        st.rerun()
        return
    words = tr(job.step) if job.step else tr("The files are being read.")
    if job.waits_for:
        words = tr(
            "{name} is importing into this dataset. Your import starts afterwards.", name=job.waits_for
        )
    with st.container(border=True):
        st.html('<div role="status" aria-live="polite" class="annotator-unseen"></div>')
        st.progress(_estimate(job), text=escape_markdown(words[:1].upper() + words[1:]))
        if job.task == "import" or job.requests[job.task].get("dry_run", True):
            key = f"{purpose} cancel {job.number}"
            st.button(tr("Cancel"), key=key, on_click=end, args=(dataset, purpose, FILE_JOBS.cancel))


def _estimate(job: FileJob) -> float:
    """Return the fraction done, estimated from the steps: the remaining work is unknown."""
    if not job.step:
        return 0.05
    template = getattr(job.step, "template", "")
    return 0.75 if template.startswith("storing") else 0.5 if template.startswith("checking") else 0.25


def restart(dataset: str, purpose: str, request: Mapping[str, Any]) -> None:
    context = require_context()
    job = find_job(context, dataset, purpose)
    if job is not None:
        start_task(context, job, request)
        note_press()


def end(dataset: str, purpose: str, act: Callable[[FileJob], None]) -> None:
    """Cancel or discard the job, in the callback of a button."""
    job = find_job(require_context(), dataset, purpose)
    if job is not None:
        act(job)
        note_press()


def draw_ended(job: FileJob) -> None:
    if job.ended == "cancelled":
        st.info(tr("Cancelled. Nothing was stored."), icon=":material/block:")
    elif job.ended == "no_memory":
        st.error(
            tr(
                "Stopped: the file needs more than {mb} MB of memory, or the server has no memory left. Nothing was "
                "stored. Upload it in several parts, import it with the command line, or ask the operator to raise "
                "ANNOTATOR_IMPORT_MEMORY_MB.",
                mb=show_number(job.limits.memory_mb),
            ),
            icon=":material/error:",
        )
    elif job.ended == "late":
        st.error(
            tr(
                "Stopped: reading the file took longer than {minutes} minutes. Nothing was stored. Upload it in several "
                "parts, import it with the command line, or ask the operator to raise ANNOTATOR_IMPORT_MINUTES.",
                minutes=show_number(math.ceil(job.limits.seconds / 60)),
            ),
            icon=":material/timer:",
        )
    elif job.ended == "failed":
        st.error(
            tr(
                "The file could not be read. Nothing was stored. Error number in the log: {number}.",
                number=job.error_id,
            ),
            icon=":material/error:",
        )


def draw_discard(job: FileJob, purpose: str) -> None:
    st.button(
        tr("Choose other files"),
        key=f"{purpose} discard {job.number}",
        on_click=end,
        args=(job.dataset, purpose, FILE_JOBS.discard),
    )


def choose_encoding(recognized: str | None, key: str) -> str | None:
    """Draw the choice of the encoding; return None for UTF-8."""
    names = list(ENCODINGS)
    chosen = st.selectbox(
        tr("Encoding"),
        names,
        names.index(recognized or "utf-8"),
        format_func=ENCODINGS.__getitem__,
        key=key,
    )
    return None if chosen == "utf-8" else chosen


def choose_file(job: FileJob, names: Sequence[str]) -> str:
    """Draw the choice among several files; return the chosen path in the folder."""
    if len(names) == 1:
        return names[0]
    return st.selectbox(tr("File"), names, key=f"{job.purpose} file {job.number}")


def list_files(job: FileJob) -> list[str]:
    return sorted(path.relative_to(job.files).as_posix() for path in job.files.rglob("*") if path.is_file())
