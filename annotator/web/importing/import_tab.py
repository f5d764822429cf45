"""Draw the tab Import: upload, recognized content, reading options, the changes, and the import.

The check is the dry run of the same service, repeated after every change of an option; only a checked file
can be imported. The options say how a file is read: its kind, format, encoding and columns, and those of its kind.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.ground_truth import DECLARED, ImportKind
from annotator.formats.registry import FORMATS
from annotator.formats.syntax.tables import KINDS
from annotator.importing.uploads.import_service import was_imported
from annotator.importing.uploads.recognition import COLUMNS, ORDER, REQUIRED, ImportChoices, suggest_names
from annotator.web.importing.file_jobs import FILE_JOBS, FileJob
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
from annotator.web.importing.result_view import draw_changes, draw_preview, draw_refusal
from annotator.web.importing.words import CUT_NAMES, DECLARED_NAMES, KIND_HELP, name_kind
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext, require_context

PURPOSE = "import"
ALL = "all"  # of the results: one button imports every file that waits


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
    imports_all = False
    if not job.is_busy:
        imports_all = bool(job.results.pop(ALL, None)) and job.ended == "done"
        if job.results.get("import", {}).get("stored"):
            done[job.requests.pop("import")["path"]] = job.results.pop("import")
    paths = [item["path"] for item in items]
    left = [path for path in paths if path not in done]
    if imports_all and left and "import" not in job.results:
        _import_next(context, job, next(item for item in items if item["path"] == left[0]))
    for path, counts in done.items():
        st.success(escape_markdown(_describe_done(path, counts)), icon=":material/check:")
    if not left:
        _draw_field(context, job.dataset)  # the next files take the place of these
        FILE_JOBS.discard(job)  # so that what was imported is not announced again
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
    waiting = [item for item in items if item["path"] in left]
    is_next = path == left[0] and all(each["is_certain"] and not each.get("fault") for each in waiting)
    _draw_item(context, job, item, len(waiting) if is_next else 0)


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


def _draw_item(context: PageContext, job: FileJob, item: Mapping[str, Any], waiting: int) -> None:
    """`waiting`: how many files can be imported with one button, this one first."""
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
    _draw_confirm(job, result, request, waiting)


def _draw_again(job: FileJob, request: dict[str, Any]) -> None:
    with st.container(horizontal=True):
        st.button(
            tr("Check again"),
            key=f"import retry {job.number}",
            on_click=restart,
            args=(job.dataset, PURPOSE, request),
        )
        draw_discard(job, PURPOSE)


def _draw_confirm(job: FileJob, result: Mapping[str, Any], request: dict[str, Any], waiting: int) -> None:
    st.subheader(tr("What changes"))
    draw_changes(result)
    count = result["added"] + result["changed"]
    with st.container(horizontal=True):
        if waiting > 1:
            st.button(
                tr_n("Import all {n:,} files", "Import all {n:,} files", waiting),
                type="primary",
                key=f"import all {job.number} {request['path']}",
                on_click=_import,
                args=(job.dataset, {**request, "dry_run": False}),
                kwargs={"all_files": True},
                help=tr(
                    "In this order. The import stops at the first file with a problem and stores nothing of it."
                ),
            )
        if count:
            label = tr_n("Import {n:,} record", "Import {n:,} records", count)
            st.button(
                label,
                type="secondary" if waiting > 1 else "primary",
                key=f"import confirm {job.number} {request['path']}",
                on_click=_import,
                args=(job.dataset, {**request, "dry_run": False}),
            )
        else:
            st.text(tr("All of it is already in the dataset."))
        draw_discard(job, PURPOSE)


def _import(dataset: str, request: dict[str, Any], *, all_files: bool = False) -> None:
    context = require_context()
    job = find_job(context, dataset, PURPOSE)
    if job is None:
        return
    _start_import(context, job, request)
    if all_files:
        job.results[ALL] = {"begun": True}
    note_press()


def _start_import(context: PageContext, job: FileJob, request: dict[str, Any]) -> None:
    database, actor, now = context.database, context.actor, context.now
    start_task(context, job, request, was_stored=lambda: was_imported(database, actor, job.dataset, at=now))


def _import_next(context: PageContext, job: FileJob, item: Mapping[str, Any]) -> None:
    """Import the next file as it was recognised."""
    request = {"task": "import", "path": item["path"], "choices": item["choices"], "dry_run": False}
    _start_import(context, job, request)
    job.results[ALL] = {"begun": True}


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


TABLE_KINDS = ("queries", "documents", "pairs", "judgments")


class ChoicesForm:
    """The fields of one file. `key` makes widget keys that differ from file to file."""

    def __init__(self, job: FileJob, item: Mapping[str, Any]) -> None:
        self.item, self.prefix = item, f"choice {job.purpose} {job.number} {item['path']}"
        self.options: dict[str, Any] = {}

    def key(self, name: str) -> str:
        return f"{self.prefix} {name}"

    def ask(self, name: str, label: str, *, text_help: str | None = None) -> str | None:
        """Draw a text field; return its text, None if empty."""
        return st.text_input(label, key=self.key(name), max_chars=500, help=text_help).strip() or None


def draw_choices(job: FileJob, item: Mapping[str, Any]) -> ImportChoices:
    form = ChoicesForm(job, item)
    first, second, third = st.columns(3)
    with first:
        kind = st.selectbox(
            tr("Content"),
            ORDER,
            ORDER.index(item["kind"]),
            format_func=name_kind,
            key=form.key("kind"),
        )
    with second:
        format_name = _draw_format(form, kind)
    with third:
        encoding = choose_encoding(item["encoding"], form.key("encoding"))
    header = True
    columns: dict[str, str] = {}
    if item["columns"] and kind in TABLE_KINDS:
        header = _draw_header(form, kind)
        if header:
            columns = _draw_columns(form, kind)
    options = _draw_options(form, kind)
    return ImportChoices(
        kind=kind, format=format_name, encoding=encoding, columns=columns, header=header, **options
    )


def _draw_format(form: ChoicesForm, kind: ImportKind) -> str | None:
    formats = [""]
    if kind in TABLE_KINDS:
        formats += KINDS
    if kind in ("queries", "qrels"):
        formats += [item.name for item in FORMATS if item.name not in formats]
    recognized = form.item["format"] if kind == form.item["kind"] else None
    recognized = recognized if recognized in formats else ""
    chosen = st.selectbox(
        tr("Format"),
        formats,
        formats.index(recognized),
        format_func=lambda name: name or tr("By its content"),
        key=form.key(f"format {kind}"),
    )
    return chosen or None


def _draw_header(form: ChoicesForm, kind: ImportKind) -> bool:
    if kind != "queries" or form.item["format"] not in ("csv", "tsv") or len(form.item["columns"]) != 2:
        return True
    return not st.checkbox(
        tr("The first line is a query, not the names of the columns"), key=form.key("no header")
    )


def _draw_columns(form: ChoicesForm, kind: ImportKind) -> dict[str, str]:
    present = list(form.item["columns"])
    suggested = suggest_names(kind, tuple(present))
    is_open = bool(suggested) or not form.item["is_certain"]
    columns: dict[str, str] = {}
    with st.expander(tr("Columns"), expanded=is_open):
        st.caption(tr("Columns that are not named here are kept as further fields."))
        likely_names = {
            name for name in COLUMNS[kind] if name in suggested or set(_list_own(name)) & set(present)
        }
        further = st.toggle(tr("Show all possible columns"), key=form.key(f"every column {kind}"))
        names = [
            name
            for name in COLUMNS[kind]
            if further or name in REQUIRED[kind] or name in likely_names or name in ("title", "text")
        ]
        shown = st.columns(2)
        for index, name in enumerate(names):
            own = next((column for column in _list_own(name) if column in present), None)
            likely = suggested.get(name) or own
            options = ["", *present]
            with shown[index % 2]:
                chosen = st.selectbox(
                    tr("Column of {name}", name=name)
                    if name in REQUIRED[kind]
                    else tr("Column of {name} (optional)", name=name),
                    options,
                    options.index(likely) if likely else 0,
                    format_func=lambda column: column or tr("none"),
                    key=form.key(f"column {kind} {name}"),
                )
            if chosen and chosen != own:
                columns[name] = chosen
    return columns


def _list_own(name: str) -> tuple[str, ...]:
    return {
        "query_id": ("query_id", "_id", "query-id"),
        "doc_id": ("doc_id", "_id", "corpus-id"),
        "text": ("text", "query"),
    }.get(name, (name,))


def _draw_options(form: ChoicesForm, kind: ImportKind) -> dict[str, Any]:
    if kind == "documents":
        return {} if form.item["columns"] else _draw_document_options(form)
    if kind == "run":
        return _draw_run_options(form)
    if kind == "judgments":
        return _draw_judgment_options(form)
    if kind == "qrels":
        return _draw_qrel_options(form)
    return {}


def _draw_document_options(form: ChoicesForm) -> dict[str, Any]:
    cut = st.selectbox(
        tr("One document per"),
        tuple(CUT_NAMES),
        format_func=lambda name: tr(CUT_NAMES[name]),
        key=form.key("cut"),
    )
    with st.expander(tr("Ids and titles")):
        st.caption(
            tr(
                "Patterns of path, stem, name, heading, own_heading and front.KEY in braces. Empty: the id is the path, the title the "
                "first heading."
            )
        )
        doc_id = form.ask("doc id", tr("Pattern of the ids, such as {example}", example="{stem}"))
        title = form.ask(
            "title", tr("Pattern of the titles, such as {example}", example="{own_heading|name}")
        )
    return {
        "sections": cut == "sections",
        "cut": None if cut in ("", "sections") else cut,
        "doc_id": doc_id,
        "title": title,
    }


def _draw_run_options(form: ChoicesForm) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if form.item["files"] == 1:
        options["system"] = form.ask(
            "system", tr("System"), text_help=tr("Empty: the name in the file, or else the file's name.")
        )
    with st.expander(tr("More options")):
        by_rank = st.checkbox(tr("Order by the ranks in the file, not by score"), key=form.key("rank"))
        first = st.checkbox(
            tr("If a query lists a document twice, keep the better rank"), key=form.key("first")
        )
        skip = st.checkbox(tr("Leave out queries that the dataset does not have"), key=form.key("skip"))
        options["id_field"] = form.ask("id field", tr("JSON field with the id of the document"))
    options["order"] = "rank" if by_rank else "score"
    options["duplicates"] = "first" if first else "refuse"
    options["skip_unknown_queries"] = skip
    return options


def _draw_judgment_options(form: ChoicesForm) -> dict[str, Any]:
    with st.expander(tr("More options")):
        simulated = st.checkbox(tr("New annotators are simulated, not people"), key=form.key("simulated"))
        mapping = _draw_mapping(form)
    return {"simulated": simulated, "map_grades": mapping, "declared": _draw_declared(form)}


def _draw_qrel_options(form: ChoicesForm) -> dict[str, Any]:
    with st.expander(tr("More options")):
        rejudge = st.checkbox(
            tr("Have the pairs judged here; the grades are suggestions for leads"), key=form.key("rejudge")
        )
        own = st.checkbox(
            tr("Take the annotators' own grades in the file as their judgments"), key=form.key("own")
        )
        mapping = _draw_mapping(form)
        grades_by = form.ask(
            "grades by",
            tr("Grades for a file without grades"),
            text_help=tr(
                "{position}: from the length of the list down to 1. {all}: one grade for all. {places}: by rank.",
                position="position",
                all="all=1",
                places="places=3:3,6:2,10:1",
            ),
        )
    return {
        "rejudge": rejudge,
        "as_judgments": own,
        "map_grades": mapping,
        "grades_by": grades_by,
        "declared": _draw_declared(form),
    }


def _draw_mapping(form: ChoicesForm) -> str | None:
    return form.ask(
        "map grades",
        tr("Grades of another scale, such as {example}", example="4=3,-1=unrateable"),
        text_help=tr("Value in the file = grade 0–3 or unrateable, separated by commas."),
    )


def _draw_declared(form: ChoicesForm) -> dict[str, Any] | None:
    """Draw the fields for how the grades were made; return the declaration, None if all are empty."""
    declared: dict[str, Any] = {}
    with st.expander(tr("How the grades were made")):
        st.caption(tr("The datasheet of each release repeats it."))
        for name in DECLARED:
            if name == "blind":
                options: list[bool | None] = [None, True, False]
                answers = {None: tr("not known"), True: tr("yes"), False: tr("no")}
                value: Any = st.selectbox(
                    tr(DECLARED_NAMES[name]), options, format_func=answers.__getitem__, key=form.key(name)
                )
            else:
                value = form.ask(name, tr(DECLARED_NAMES[name]))
            if value is not None:
                declared[name] = value
    return declared or None
