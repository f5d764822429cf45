"""Show the first records of a file as they would be read, so people see whether it was understood.

A preview never fails because of the file's content: if it cannot be read as chosen, its first lines are
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path

from annotator.domain.errors import AnnotatorError, Problems
from annotator.domain.excerpts import EXCERPT_OF, read_words
from annotator.domain.ground_truth import Document, GroundTruth, Query
from annotator.formats.registry import read_truth
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import KINDS, Table, detect_kind, read_rows
from annotator.formats.syntax.text import describe_bytes, to_utf8
from annotator.importing.sources import MEDIA_TYPE_BY_SUFFIX, make_layout, read_folder, read_single_file
from annotator.importing.texts.office_files import MACROS, MODULES
from annotator.importing.uploads.recognition import ImportChoices, list_table_columns

FIRST = 5
LONGEST = 160
_HEAD = 262_144
_MOST_TRUTH = 20_000_000
_TEXT_FILES_READ = 20
_TEXTS = (*MEDIA_TYPE_BY_SUFFIX, *MODULES, *MACROS)


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The first records. `columns`: of the table; empty if `rows` are plain lines of the file."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def preview_file(path: Path, choices: ImportChoices) -> FilePreview:
    """Return the first records of a file or folder as it would be read."""
    try:
        preview = _read(path, choices)
    except (AnnotatorError, OSError, UnicodeError):
        preview = None
    if preview is not None and preview.rows:
        return preview
    return _show_lines(path, choices.encoding)


def _read(path: Path, choices: ImportChoices) -> FilePreview | None:
    if choices.kind == "documents" and (path.is_dir() or choices.format is None):
        shown = _read_texts(path, choices)
        if shown is not None:
            return shown
    if path.is_dir():
        return _read_truth(path, choices) if choices.kind in ("qrels", "queries") else None
    if choices.kind in ("qrels", "queries") and choices.format not in KINDS and not choices.columns:
        try:
            return _read_truth(path, choices)
        except AnnotatorError:
            pass
    if choices.kind == "run":
        return None
    return _read_table(path, choices)


def _read_texts(path: Path, choices: ImportChoices) -> FilePreview | None:
    """Return the first documents of text files; None for a table of documents."""
    layout = make_layout(
        sections=choices.sections, cut=choices.cut, doc_id=choices.doc_id, title=choices.title
    )
    if path.is_dir():
        source = read_folder(path, layout=layout, encoding=choices.encoding, at_most=_TEXT_FILES_READ)
    elif path.suffix.lower() in _TEXTS and detect_kind(_read_head(path), path.name) is None:
        source = read_single_file(InputSource(str(path), encoding=choices.encoding), layout=layout)
    else:
        return None
    return _show_records([line.document for line in source.documents[:FIRST]])


def _show_records(records: Sequence[Query | Document]) -> FilePreview:
    """Show every field that one of the records has: first the known ones, then the file's own."""
    known = [field.name for field in fields(records[0]) if field.name != "metadata"] if records else []
    cells = [{**record.metadata, **{name: getattr(record, name) for name in known}} for record in records]
    columns = [name for name in dict.fromkeys(chain(known, *cells)) if any(row.get(name) for row in cells)]
    rows = tuple(tuple(_show_cell(row, name) for name in columns) for row in cells)
    return FilePreview(tuple(columns), rows)


def _read_truth(path: Path, choices: ImportChoices) -> FilePreview | None:
    if path.is_file() and path.stat().st_size > _MOST_TRUTH:
        return None
    source = InputSource(str(path), encoding=choices.encoding, scale=GradeScale(lenient=True))
    _, truth = read_truth(source, format_name=choices.format, grades_by=choices.grades_by)
    counts = _count_qrels(truth)
    if choices.kind == "queries":
        return _show_records(truth.queries[:FIRST])
    texts = {query.query_id: query.text for query in truth.queries}
    shown = [
        (query_id, _shorten(texts.get(query_id, "")), _shorten(", ".join(grades)))
        for query_id, grades in list(counts.items())[:FIRST]
    ]
    return FilePreview(("query_id", "text", "doc_id: grade"), tuple(shown))


def _count_qrels(truth: GroundTruth) -> dict[str, list[str]]:
    by_query: dict[str, list[str]] = {}
    for qrel in truth.qrels:
        by_query.setdefault(qrel.query_id, []).append(f"{qrel.doc_id}: {qrel.grade}")
    return by_query


def _read_table(path: Path, choices: ImportChoices) -> FilePreview | None:
    data = to_utf8(_read_head(path), path.name, choices.encoding)
    kind = choices.format if choices.format in KINDS else detect_kind(data, path.name)
    if kind is None:
        return None
    columns = () if choices.header else ("query_id", "text")
    table = read_rows(
        data,
        path.name,
        kind=kind,
        columns=columns,
        names=choices.columns or None,
        problems=Problems(path.name),
    )
    return _show_table(table)


def _show_table(table: Table) -> FilePreview:
    rows = table.rows[:FIRST]
    shown = table.columns if table.columns is not None else list_table_columns(table)
    return FilePreview(
        tuple(shown), tuple(tuple(_show_cell(row.cells, name) for name in shown) for row in rows)
    )


def _show_cell(cells: Mapping[str, object], name: str) -> str:
    """Return the cell on one line: the text of a document that states its type without its markup."""
    value, media_type = cells.get(name), cells.get("media_type")
    if name == "text" and isinstance(value, str) and isinstance(media_type, str):
        return _shorten_text(value, media_type)
    return _show(value)


def _show(value: object) -> str:
    return "" if value is None else _shorten(str(value))


def _show_lines(path: Path, encoding: str | None) -> FilePreview:
    """Return the first lines of the file, or the first file names of the folder."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        return FilePreview((), tuple((name,) for name in names[:FIRST]))
    head = _read_head(path)
    if describe_bytes(head) is not None:
        return FilePreview((), ())
    text = head.decode(encoding or "utf-8", "replace")
    return FilePreview((), tuple((_shorten(line),) for line in _list_lines(text)))


def _list_lines(text: str) -> Sequence[str]:
    return [line for line in text.splitlines() if line.strip()][:FIRST]


def _read_head(path: Path) -> bytes:
    """Return the first lines of a file, up to 256 kB."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    cut = head.rfind(b"\n")
    return head[: cut + 1] if len(head) == _HEAD and cut > 0 else head


def _shorten_text(text: str, media_type: str) -> str:
    return _shorten(read_words(text[:EXCERPT_OF], media_type))


def _shorten(text: str) -> str:
    line = "".join(character if character.isprintable() else "�" for character in " ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
