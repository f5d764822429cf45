"""The tasks on uploaded files: recognize, check, import, try, convert, new ids, checks; and on search
endpoints.

Each task calls the same service as its command and returns plain JSON for the page. A service's refusal is
also a result: `refused` (a sentence) or `problems` (the first MOST_PROBLEMS bad places; `problems.csv` in the
folder next to the files has all). `endpoint_tasks.py` has the tasks on search endpoints.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from annotator.domain.errors import AnnotatorError, BadInput, DatabaseUnavailable, FormatError
from annotator.domain.people import Actor
from annotator.formats.syntax.spreadsheet import write_sheet
from annotator.importing.uploads.recognition import ImportChoices
from annotator.storage.database import Database
from annotator.web.importing.words import to_json

MOST_PROBLEMS = 20_000
OUT = Path("../out")
PROBLEM_FILE = "problems.csv"
PROBLEM_COLUMNS = ("file", "line", "expected", "found")
Progress = Callable[[str], None]
Result = dict[str, Any]


def run_task(request: Mapping[str, Any], *, report_progress: Progress) -> Result:
    task = TASKS[request["task"]]
    (OUT / PROBLEM_FILE).unlink(missing_ok=True)
    try:
        return {"preview": _preview(request), **task(request, report_progress)}
    except BadInput as error:
        return {"preview": _preview(request), **describe_problems(error.problems, error.hint)}
    except DatabaseUnavailable as error:
        return {"refused": to_json(error.args[0])}
    except AnnotatorError as error:
        return {"preview": _preview(request), "refused": to_json(error.args[0] if error.args else str(error))}


def describe_problems(problems: Sequence[FormatError], hint: str) -> Result:
    """Return the problems for the page, and write all of them to the download file."""
    rows = [(problem.path, problem.line, problem.expected, problem.found) for problem in problems]
    text = "".join(write_sheet(PROBLEM_COLUMNS, rows))
    (OUT / PROBLEM_FILE).write_text(text, encoding="utf-8", newline="")
    return {"problems": to_json(rows[:MOST_PROBLEMS]), "problem_count": len(rows), "hint": to_json(hint)}


def _preview(request: Mapping[str, Any]) -> Result | None:
    if "choices" not in request:
        return None
    from annotator.importing.uploads.preview import preview_file

    return asdict(preview_file(Path(request["path"]), ImportChoices(**request["choices"])))


def _look(request: Mapping[str, Any], report_progress: Progress) -> Result:
    """Recognize the content of every file, and check the first one (`then`: the request and its result)."""
    from annotator.importing.uploads.recognition import recognize_upload

    items = recognize_upload(Path())
    shown = [{**asdict(item), "choices": asdict(item.make_choices())} for item in items]
    if not items or request["then"] != "import":
        return {"items": shown}
    first = shown[0]
    following = {"task": "import", "path": first["path"], "choices": first["choices"], "dry_run": True}
    return {
        "items": shown,
        "then": [following, run_task({**request, **following}, report_progress=report_progress)],
    }


def _import(request: Mapping[str, Any], report_progress: Progress) -> Result:
    from annotator.importing.uploads.import_service import import_file

    report = import_file(
        Database(request["database"]),
        _read_actor(request),
        request["dataset"],
        Path(request["path"]),
        ImportChoices(**request["choices"]),
        now=datetime.fromisoformat(request["now"]),
        dry_run=request["dry_run"],
        report_progress=report_progress,
    )
    counts = {"read": report.read, "added": report.added, "changed": report.changed}
    return {
        "kind": report.kind,
        **counts,
        "unchanged": report.unchanged,
        "notes": to_json(report.notes),
        "stored": not report.dry_run,
        "files": [
            [file.path, file.added, file.changed, file.unchanged, to_json(file.notes)]
            for file in getattr(report, "files", ())
        ],
    }


def _remap(request: Mapping[str, Any], report_progress: Progress) -> Result:
    del report_progress
    from annotator.importing.remapping.remapping_service import remap_documents

    report = remap_documents(
        Database(request["database"]),
        _read_actor(request),
        request["dataset"],
        Path(request["path"]),
        now=datetime.fromisoformat(request["now"]),
        encoding=request["encoding"],
        dry_run=request["dry_run"],
    )
    figures = asdict(report)
    for name in ("renamed", "split", "merged"):
        figures[name] = [[key, value] for key, value in list(figures[name].items())[:FIRST_IDS]]
        figures[f"{name}_count"] = len(getattr(report, name))
    for name in ("unknown", "left_over"):
        figures[f"{name}_count"] = len(figures[name])
        figures[name] = list(figures[name])[:FIRST_IDS]
    return {"remap": figures, "stored": not report.dry_run}


FIRST_IDS = 20


def _checks(request: Mapping[str, Any], report_progress: Progress) -> Result:
    del report_progress
    from annotator.formats.syntax.source import read_regular
    from annotator.formats.syntax.text import to_utf8
    from annotator.labeling.calibration_service import import_checks

    path = Path(request["path"])
    changes = import_checks(
        Database(request["database"]),
        _read_actor(request),
        request["dataset"],
        to_utf8(read_regular(path), str(path), request["encoding"]),
        str(path),
        now=datetime.fromisoformat(request["now"]),
        dry_run=request["dry_run"],
    )
    counts = {"added": changes.added, "changed": changes.changed, "unchanged": changes.unchanged}
    return {"checks": counts, "stored": not changes.dry_run}


def _try(request: Mapping[str, Any], report_progress: Progress) -> Result:
    from annotator.dataset.coverage_service import check_file, read_requirements
    from annotator.formats.content_warnings import describe_empty_lists, describe_repeated_texts

    requirements = request.get("requirements")
    report = check_file(
        _open(request),
        format_name=request.get("format"),
        grades_by=request.get("grades_by"),
        requirements=read_requirements(requirements) if requirements else None,
        report_progress=report_progress,
    )
    if not report.valid:
        return {"format": report.format, **describe_problems(report.problems, report.hint)}
    warnings = (
        *(str(wrong) for wrong in report.wrong_counts),
        *describe_repeated_texts(report.file, report.repeated_texts),
        *describe_empty_lists(report.file, report.empty_lists),
    )
    rows = report.coverage.rows if report.coverage else ()
    return {
        "format": report.format,
        "counts": [report.queries, report.qrels, report.documents],
        "by_grade": [[str(grade), count] for grade, count in (report.by_grade or {}).items()],
        "grades_by": report.grades_by,
        "warnings": list(warnings),
        "coverage": [[to_json(row.name), row.met, str(row.required), str(row.measured)] for row in rows],
    }


def _convert(request: Mapping[str, Any], report_progress: Progress) -> Result:
    import shutil

    from annotator.formats.registry import find_format
    from annotator.importing.conversion_service import (
        is_folder,
        prepare_conversion,
        write_conversion,
    )

    target_format = find_format(request["target"])
    stem = Path(request["path"]).name.split(".")[0]
    suffix = "" if is_folder(target_format) else target_format.suffixes[0]
    target = OUT / f"{stem}.{target_format.name}{suffix}"
    for old in OUT.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink()
    prepared = prepare_conversion(
        _open(request),
        str(target),
        source_format=request.get("format"),
        target_format=target_format.name,
        grades_by=request.get("grades_by"),
        list_grade_0=request.get("list_grade_0", False),
        report_progress=lambda _: None,
    )
    losses = [to_json(loss.what) for loss in prepared.losses]
    if not prepared.can_be_written:
        return {"losses": losses, "converted": None, "notes": to_json(prepared.notes)}
    report_progress(f"{stem} → {target_format.name}")
    write_conversion(prepared)
    if target.is_dir():
        shutil.make_archive(str(target), "zip", target)
        shutil.rmtree(target)
        target = target.with_name(f"{target.name}.zip")
    return {"losses": losses, "converted": target.name, "notes": to_json(prepared.notes)}


def _open(request: Mapping[str, Any]) -> Any:
    from annotator.formats.syntax.grade_scale import GradeScale, parse_mapping
    from annotator.formats.syntax.source import InputSource

    scale = GradeScale(parse_mapping(request.get("map_grades")))
    return InputSource(request["path"], encoding=request.get("encoding"), scale=scale)


def _use_endpoint(request: Mapping[str, Any], report_progress: Progress) -> Result:
    from annotator.web.importing.endpoint_tasks import fetch_from_endpoint, try_endpoint

    if request["task"] == "try_endpoint":
        return try_endpoint(request, report_progress)
    return fetch_from_endpoint(request, report_progress, describe_problems)


def _read_actor(request: Mapping[str, Any]) -> Actor:
    return Actor(request["person_id"], request["username"])


TASKS: Mapping[str, Callable[[Mapping[str, Any], Progress], Result]] = {
    "look": _look,
    "import": _import,
    "remap": _remap,
    "checks": _checks,
    "try": _try,
    "convert": _convert,
    "try_endpoint": _use_endpoint,
    "fetch": _use_endpoint,
}
