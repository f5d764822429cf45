"""Draw the results of tasks on files: the preview, the problems, page by page, and what an import changes."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.figures import show_number
from annotator.web.importing.file_jobs import FileJob
from annotator.web.importing.words import show_text
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_file_link, draw_table
from annotator.web.kit.text import escape_markdown

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
    return f"{FILES_ADDRESS}?{urlencode({'dataset': job.dataset, 'purpose': job.purpose, 'file': file})}"


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
