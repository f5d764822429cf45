"""DATASHEET.md on what came from files: what the importer declared of it, and what of it is not known.

This program saw how the judgments in it were made. Of what was brought in it knows the file and the moment, and repeats what was
declared, as declared. Runs are named where something about them was not as it should be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from annotator.domain.import_records import DECLARED, ImportRecord
from annotator.formats.markdown import escape_markdown
from annotator.releases.datasheet_figures import say_count

if TYPE_CHECKING:
    from annotator.releases.datasheet import Datasheet

NOT_KNOWN = "not known"
GRADED = {"judgments": "judgment", "qrels": "qrel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetImport:
    """One import that the release rests on. `count`: of its judgments that are current, or of its qrels that are kept.
    `imported_at` None, `path` "": from before imports were recorded."""

    kind: str
    path: str = ""
    format: str | None = None
    imported_at: datetime | None = None
    count: int = 0
    declared: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SheetRun:
    """A run with something to say of it: `remarks` in words."""

    system: str
    path: str
    remarks: tuple[str, ...]


def list_runs(records: Sequence[ImportRecord]) -> list[SheetRun]:
    """Return the imports of runs with something to say of them; of a run that was read anew, how it is stored now."""
    found = []
    last = {record.system: record for record in records if record.kind == "run"}
    for record in last.values():
        remarks = tuple(_list_remarks(record))
        if remarks:
            found.append(SheetRun(record.system or "", PurePath(record.path).name, remarks))
    return found


def write_imports(sheet: "Datasheet") -> Iterator[str]:
    """The section, where there is something to say."""
    if not sheet.imports and not sheet.runs:
        return
    yield from ("## What came from files", "")
    if sheet.imports:
        yield "What follows was not made in this program. How it came about is told as its importer declared it."
        yield ""
    for item in sheet.imports:
        yield from _write_import(item)
    for run in sheet.runs:
        yield f"- Run {_quote(run.system)} ({_quote(run.path)}): {'; '.join(run.remarks)}."
    yield ""


def _write_import(item: SheetImport) -> Iterator[str]:
    count = say_count(item.count, GRADED[item.kind])
    known = f", {escape_markdown(item.format)}" if item.format else ""
    if item.imported_at is None and not item.path:
        yield f"- {count}, imported before imports were recorded."
    else:
        when = NOT_KNOWN if item.imported_at is None else f"{item.imported_at:%Y-%m-%d}"
        yield f"- {count} from {_quote(item.path)}{known}; imported: {when}."
    declared = item.declared or {}
    for name, words in DECLARED.items():
        if name in declared or name != "note":
            yield f"    - {words}: {_say_declared(declared.get(name))}"
    mapped = item.options.get("map_grades")
    if isinstance(mapped, Mapping) and mapped:
        said = ", ".join(f"{old} as {new}" for old, new in mapped.items())
        yield f"    - Grades of another scale were read as: {escape_markdown(said)}"
    if item.options.get("grades_by"):
        yield f"    - The file holds no grades; they are by {escape_markdown(str(item.options['grades_by']))}"


def _say_declared(value: Any) -> str:
    if value is None:
        return NOT_KNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_markdown(str(value))


def _list_remarks(record: ImportRecord) -> Iterator[str]:
    figures = record.figures
    contradictions = figures.get("rank_contradictions")
    if isinstance(contradictions, Mapping) and contradictions.get("results"):
        by = "rank" if record.options.get("order") == "rank" else "score"
        results = say_count(contradictions["results"], "result")
        queries = say_count(contradictions.get("queries", 0), "query")
        yield f"its ranks contradict its scores for {results} of {queries}; it was read by {by}"
    if figures.get("duplicates"):
        yield f"{say_count(figures['duplicates'], 'result')} left out, whose documents stood in a query before"
    if figures.get("skipped_unknown_queries"):
        queries = say_count(figures["skipped_unknown_queries"], "query")
        yield f"{queries} left out, which the dataset does not have"


def _quote(text: str) -> str:
    return f'"{escape_markdown(text)}"'
