"""Draw the results of tasks on files: the preview, the problems, page by page, and what an import changes.

Also serves the files of tasks, the list of problems and a converted file. Each person gets only their own.

    GET /api/import?dataset=…&purpose=import|try|remap|checks|fetch&file=problems|converted
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from annotator.domain.errors import NotFound
from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.downloads import name_as
from annotator.web.importing.file_jobs import FILE_JOBS, FileJob
from annotator.web.importing.file_tasks import PROBLEM_FILE
from annotator.web.importing.words import show_text
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_file_link, draw_table
from annotator.web.kit.text import escape_markdown
from annotator.web.navigation import make_url
from annotator.web.session import require_same_origin, require_signed_in

SHOWN_AT_ONCE = 50
FILES_ADDRESS = "/api/import"


def draw_preview(result: Mapping[str, Any]) -> None:
    preview = result.get("preview")
    if not preview or not preview["rows"]:
        return
    st.subheader(tr("First records"))
    columns = preview["columns"] or [tr("first lines of the file")]
    draw_table(tr("First records"), columns, preview["rows"])


def draw_refusal(job: FileJob, result: Mapping[str, Any]) -> bool:
    """Draw why the files were refused; return whether they were."""
    if "refused" in result:
        st.error(escape_markdown(show_text(result["refused"])), icon=":material/block:")
        return True
    if "problems" not in result:
        return False
    count = result["problem_count"]
    st.error(
        tr_n(
            "{n:,} problem. Nothing is stored until the file is correct.",
            "{n:,} problems. Nothing is stored until the file is correct.",
            count,
        ),
        icon=":material/block:",
    )
    problems = result["problems"]
    start = _choose_start(job, len(problems))
    draw_problems(problems[start : start + SHOWN_AT_ONCE], with_file=True)
    if result["hint"]:
        draw_note(show_text(result["hint"]))
    draw_file_link(tr("All problems as a CSV file"), list_file_address(job, "problems"))
    return True


def draw_problems(problems: Sequence[Any], *, with_file: bool) -> None:
    """Draw problems: (file, line, expected, found) as JSON."""
    rows = [
        (path, None if line is None else show_number(line), show_text(expected), show_text(found))
        for path, line, expected, found in problems
    ]
    columns = (tr("file"), tr("line"), tr("expected"), tr("found"))
    first = 0 if with_file else 1
    draw_table(tr("Problems"), columns[first:], [row[first:] for row in rows])


def list_file_address(job: FileJob, file: str) -> str:
    """Return the URL of a file that a task wrote: problems, or converted."""
    return make_url(FILES_ADDRESS, dataset=job.dataset, purpose=job.purpose, file=file)


def _choose_start(job: FileJob, count: int) -> int:
    pages = (count - 1) // SHOWN_AT_ONCE + 1
    if pages <= 1:
        return 0
    page = st.number_input(
        tr("Page (of {pages})", pages=show_number(pages)),
        1,
        pages,
        1,
        key=f"{job.purpose} problems {job.number}",
        width=160,
    )
    return (int(page) - 1) * SHOWN_AT_ONCE


def draw_changes(result: Mapping[str, Any]) -> None:
    """Draw the numbers of new, changed and unchanged items, and the notes of the import."""
    draw_table(
        tr("What changes"),
        (tr("read"), tr("new"), tr("changed"), tr("unchanged")),
        [tuple(show_number(result[name]) for name in ("read", "added", "changed", "unchanged"))],
    )
    if result.get("files"):
        draw_table(
            tr("By file"),
            (tr("file"), tr("new"), tr("changed"), tr("unchanged")),
            [
                (path, show_number(added), show_number(changed), show_number(unchanged))
                for path, added, changed, unchanged, _ in result["files"]
            ],
        )
    notes = [*result["notes"], *(note for file in result.get("files", ()) for note in file[4])]
    for note in notes[:SHOWN_AT_ONCE]:
        words = show_text(note)
        draw_note(words[:1].upper() + words[1:])


NOTHING = say("This file is no longer available. Upload it again.")


def routes(database: Database) -> list[Route]:
    async def get_file(request: Request) -> Response:
        from annotator.importing.uploads.import_service import show_contents

        query, actor = request.query_params, require_signed_in(request).actor
        require_same_origin(request)
        dataset, purpose, wanted = query.get("dataset", ""), query.get("purpose", ""), query.get("file", "")
        await run_in_threadpool(show_contents, database, actor, dataset)  # refuses whoever does not lead it
        path = _find(actor.person_id, dataset, purpose, wanted)
        media_type = "text/csv" if wanted == "problems" else "application/octet-stream"
        return FileResponse(path, media_type=media_type, headers=name_as(path.name))

    return [Route(FILES_ADDRESS, get_file, methods=["GET"])]


def _find(person_id: int | None, dataset: str, purpose: str, wanted: str) -> Path:
    job = FILE_JOBS.find(person_id, dataset, purpose)
    if job is None:
        raise NotFound(NOTHING)
    name = PROBLEM_FILE if wanted == "problems" else job.results.get("convert", {}).get("converted")
    path = job.out / name if isinstance(name, str) else None
    if path is None or wanted not in ("problems", "converted") or not path.is_file():
        raise NotFound(NOTHING)
    return path
