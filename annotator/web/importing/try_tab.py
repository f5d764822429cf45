"""Draw the tab Try a file: check and convert a ground-truth file without storing it in the dataset."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotator.dataset.settings import TEMPLATES
from annotator.domain.figures import show_number
from annotator.formats.registry import FORMATS
from annotator.web.importing.file_jobs import FileJob
from annotator.web.importing.file_upload import (
    choose_encoding,
    draw_discard,
    draw_ended,
    draw_running,
    draw_upload,
    find_job,
    restart,
    start_task,
)
from annotator.web.importing.result_view import draw_refusal, list_file_address
from annotator.web.importing.words import show_text
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_file_link, draw_table
from annotator.web.page_context import PageContext

PURPOSE = "try"


def draw(context: PageContext, dataset: str) -> None:
    st.text(
        tr("Check a ground-truth file and convert it into another format. Nothing is stored in the dataset.")
    )
    job = find_job(context, dataset, PURPOSE)
    if job is None:
        draw_upload(context, dataset, PURPOSE, stores=False)
        return
    if "look" not in job.results and not job.is_busy and not job.ended:
        start_task(context, job, {"task": "look", "then": "try"})
    items = job.results.get("look", {}).get("items")
    if not items:
        if draw_running(job):
            return
        draw_ended(job)
        draw_discard(job, PURPOSE)
        return
    _draw_file(context, job, items)


def _draw_file(context: PageContext, job: FileJob, items: list[dict[str, Any]]) -> None:
    by_path = {item["path"]: item for item in items}
    path = next(iter(by_path))
    if len(by_path) > 1:
        path = st.selectbox(tr("File"), tuple(by_path), key=f"try file {job.number}")
    request = {"path": path, **_draw_reading(job, by_path[path])}
    if job.task != "convert" and draw_running(job):
        return
    checked = job.requests.get("try")
    is_checked = checked is not None and all(checked.get(name) == value for name, value in request.items())
    if not is_checked and not job.is_busy:
        start_task(context, job, {"task": "try", **request})
        st.rerun()
    draw_ended(job)
    result = job.results.get("try")
    if result is not None and not draw_refusal(job, result):
        _draw_checked(result)
        _draw_conversion(job, request, result)
    if draw_running(job):
        return
    draw_discard(job, PURPOSE)


def _draw_reading(job: FileJob, item: Mapping[str, Any]) -> dict[str, Any]:
    key = f"try {job.number} {item['path']}"
    first, second, third = st.columns(3)
    formats = ["", *(file_format.name for file_format in FORMATS)]
    recognized = item["format"] if item["format"] in formats and item["kind"] == "qrels" else ""
    format_name = first.selectbox(
        tr("Format"),
        formats,
        formats.index(recognized),
        format_func=lambda name: name or tr("By its content"),
        key=f"{key} format",
    )
    with second:
        encoding = choose_encoding(item["encoding"], f"{key} encoding")
    requirements = third.selectbox(
        tr("Requirements"),
        ("", *TEMPLATES),
        format_func=lambda name: name or tr("none"),
        key=f"{key} required",
    )
    mapping = st.text_input(
        tr("Grades of another scale, such as {example}", example="4=3,-1=unrateable"),
        key=f"{key} mapping",
        max_chars=500,
    )
    return {
        "format": format_name or None,
        "encoding": encoding,
        "requirements": requirements or None,
        "map_grades": mapping.strip() or None,
    }


def _draw_checked(result: Mapping[str, Any]) -> None:
    queries, qrels, documents = result["counts"]
    st.success(
        tr(
            "The file is correct ({format}). Queries: {queries}; grades: {qrels}; documents: {documents}.",
            format=result["format"],
            queries=show_number(queries),
            qrels=show_number(qrels),
            documents=show_number(documents),
        ),
        icon=":material/check:",
    )
    if result["by_grade"]:
        draw_table(
            tr("Grades in the file"),
            (tr("grade"), tr("number")),
            [(grade, show_number(count)) for grade, count in result["by_grade"]],
        )
    for warning in result["warnings"]:
        draw_note(warning)
    if result["coverage"]:
        with st.expander(
            tr("Coverage"), expanded=any(met is not None for _, met, _, _ in result["coverage"])
        ):
            draw_table(
                tr("Coverage"),
                (tr("requirement"), tr("met"), tr("required"), tr("measured")),
                [
                    (
                        show_text(name),
                        "–" if met is None else tr("yes") if met else tr("no"),
                        "–" if required == "None" else required,
                        measured,
                    )
                    for name, met, required, measured in result["coverage"]
                ],
            )


def _draw_conversion(job: FileJob, request: Mapping[str, Any], checked: Mapping[str, Any]) -> None:
    st.subheader(tr("Convert"))
    targets = [file_format.name for file_format in FORMATS if file_format.name != checked["format"]]
    key = f"try convert {job.number} {request['path']}"
    target = st.selectbox(tr("Into the format"), targets, key=f"{key} target")
    grade_0 = st.checkbox(
        tr("List grade 0 also where the evaluator counts every listed document as relevant"),
        key=f"{key} zero",
    )
    reading = {name: request[name] for name in ("path", "format", "encoding", "map_grades")}
    conversion = {**reading, "task": "convert", "target": target, "list_grade_0": grade_0}
    if checked["grades_by"]:
        conversion["grades_by"] = checked["grades_by"]
    if job.is_busy:
        return
    done, result = job.requests.get("convert"), job.results.get("convert")
    if done is None or result is None or any(done.get(name) != value for name, value in conversion.items()):
        st.button(
            tr("Convert"),
            type="primary",
            key=f"{key} start",
            on_click=restart,
            args=(job.dataset, PURPOSE, conversion),
        )
        return
    if draw_refusal(job, result):
        return
    if result["losses"]:
        st.text(tr("Not supported by the format {format}:", format=target))
        for loss in result["losses"]:
            draw_note(show_text(loss))
    if result["converted"]:
        draw_file_link(tr("Download {file}", file=result["converted"]), list_file_address(job, "converted"))
    else:
        st.error(tr("The file would be wrong in this format. It was not written."), icon=":material/block:")
