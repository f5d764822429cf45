"""`csv` and `jsonl`: a row or a flat JSON object for each qrel. Read and written; of `csv` TSV is read too.

`qrel_rows.py` defines the columns that both share, and what is refused.

`csv`: only used columns are written. Every cell is text and an empty cell is absent: numbers, lists and other
metadata values are written as JSON and read back as text. Also refused: a repeated column, a row with another
number of cells, broken quoting.

`jsonl`: typed values. Also refused, with the line: anything but a JSON object, a repeated key, a grade that is text.

    {"query_id": "Q1", "doc_id": "d", "grade": 3, "query": "…", "category": "…", "query.weight": 0.5}
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from json.encoder import encode_basestring as quote
from typing import Any

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.format import ONE_FILE, FileWriter, Format, list_fields
from annotator.formats.judgments import quote_cell
from annotator.formats.qrel_rows import (
    GRADE_NAMES,
    JUDGMENTS,
    QREL_FIELDS,
    QUERY_PREFIX,
    REQUIRED,
    ROW_FEATURES,
    RowReader,
    list_annotators,
    name_column,
    name_qrel_key,
    sort_annotators,
)
from annotator.formats.syntax.json_text import parse_object
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import CELL_LIMIT, MAX_CELL, RowMaker
from annotator.formats.syntax.text import BOM_WITHIN, describe, note_marks

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def _collect(source: InputSource) -> RowReader:
    problems = Problems(source.path)
    csv.field_size_limit(MAX_CELL)
    reader: RowReader | None = None
    maker: RowMaker | None = None
    try:
        for line, columns, cells in _read_rows(source, problems):
            reader = reader or RowReader(problems, header=columns, scale=source.scale)
            maker = maker or RowMaker(source.path, columns)
            reader.add(line, maker.make(cells, line))
    except BadInput as error:
        problems.errors.extend(error.problems)
    return reader or RowReader(problems)


def lay_out(truth: GroundTruth) -> tuple[FileWriter, ...]:
    """Return the writer for this truth, with the columns that it uses."""
    fields = [name for name in QUERY_FIELDS if any(getattr(query, name) for query in truth.queries)]
    of_query = {key: f"{QUERY_PREFIX}{key}" for query in truth.queries for key in _list_used(query.metadata)}
    of_qrel = _QrelColumns(truth.qrels)
    texts = ["query"] if any(query.text for query in truth.queries) else []
    header = [*REQUIRED, *texts, *fields, *of_qrel.names, *of_query.values(), *of_qrel.metadata.values()]

    def begin(_: Metadata, __: int) -> str:
        return ",".join(map(_cell, header)) + "\n"

    def add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
        query_id = _cell(query.query_id)
        before = "".join(f",{_cell(getattr(query, name))}" for name in fields)
        before = f",{_cell(query.text)}{before}" if texts else before
        after = "".join(f",{_cell(query.metadata.get(key))}" for key in of_query)
        if not qrels:
            return f"{query_id},,{before}{of_qrel.nothing}{after}{',' * len(of_qrel.metadata)}\n"
        if not of_qrel.names and not of_qrel.metadata:
            rest = before + after
            return "".join([f"{query_id},{_cell(qrel.doc_id)},{qrel.grade}{rest}\n" for qrel in qrels])
        return "".join(
            f"{query_id},{_cell(qrel.doc_id)},{qrel.grade}{before}{of_qrel.write(qrel)}{after}"
            f"{of_qrel.write_metadata(qrel)}\n"
            for qrel in qrels
        )

    return (FileWriter(ONE_FILE, begin=begin, add=add, by_qrel=True),)


class _QrelColumns:
    """The used columns that say more about a qrel than its grade."""

    def __init__(self, qrels: Sequence[Qrel]) -> None:
        used: set[str] = set()
        self.metadata: dict[str, str] = {}
        for qrel in qrels:
            if qrel.origin != "imported":
                used.add("origin")
            if qrel.description:
                used.add("description")
            if qrel.note:
                used.add("note")
            if qrel.annotator_grades:
                used.update(name for name, _ in list_annotators(qrel))
            for key in _list_used(qrel.metadata):
                if key not in self.metadata:
                    self.metadata[key] = name_qrel_key(key)
        self.fields = [name for name in QREL_FIELDS if name in used]
        self.annotators = sort_annotators(name for name in used if name not in QREL_FIELDS)
        self.names = [*self.fields, *self.annotators]
        self.nothing = "," * len(self.names)

    def write(self, qrel: Qrel) -> str:
        """Return the cells of the fields and of the annotators, each after a comma."""
        cells = [f",{_cell(getattr(qrel, name))}" for name in self.fields]
        if self.annotators:
            grades = dict(list_annotators(qrel))
            cells += [f",{grades.get(name, '')}" for name in self.annotators]
        return "".join(cells)

    def write_metadata(self, qrel: Qrel) -> str:
        """Return the cells of the metadata, each after a comma."""
        return "".join([f",{_cell(qrel.metadata.get(key))}" for key in self.metadata])


def _read_rows(source: InputSource, problems: Problems) -> Iterator[tuple[int, tuple[str, ...], list[str]]]:
    """Yield (first line, columns, cells) of every row below the header."""
    lines = (text for _, text in source.read_lines(keep_ends=True))
    first = next(lines, "")
    delimiter = "\t" if "\t" in first and "," not in first else ","
    marks: set[int] = set()
    rows = csv.reader(note_marks(chain([first], lines), marks), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] = ()
    start = 0
    try:
        for cells in rows:
            start, line = rows.line_num, start + 1
            if not cells:
                continue
            if not columns:
                columns = _read_header(cells, line, problems)
                if problems:
                    return
            elif line in marks:
                problems.add(line, *BOM_WITHIN)
            elif len(cells) != len(columns):
                problems.add(line, say("{n} cells", n=len(columns)), str(len(cells)))
            else:
                yield line, columns, cells
    except csv.Error as error:
        if "field limit" in str(error):
            problems.add(start + 1, CELL_LIMIT, say("a longer one"))
        else:
            problems.add(start + 1, say("a CSV row"), str(error))
    if not columns and not problems:
        problems.add(None, say("a header with {names}", names=", ".join(REQUIRED)), say("an empty file"))


def _read_header(cells: Sequence[str], line: int, problems: Problems) -> tuple[str, ...]:
    """Return the columns as written. Notes repeated, empty and missing columns, and a column `annotator`."""
    names = [cell.strip() for cell in cells]
    columns = [name_column(cell) for cell in cells]
    counts = Counter(columns)
    for name in dict.fromkeys(
        name for name, column in zip(names, columns, strict=True) if counts[column] > 1
    ):
        problems.add(line, say("each column once"), say("{item} again", item=describe(name)))
    if "" in names:
        problems.add(line, say("a name for every column"), say("an empty one"))
    parts = {column.part for column in columns}
    missing = [name for name in REQUIRED if name not in parts]
    if missing:
        problems.add(line, say("a column {names}", names=", ".join(missing)), ", ".join(names))
    if JUDGMENTS in names:
        problems.add(
            line, say("qrels, settled"), say("judgments (a column annotator: import judgments reads these)")
        )
    return tuple(cells)


def _list_used(metadata: Metadata) -> list[str]:
    """Return the keys whose value is not an empty cell."""
    return [key for key, value in metadata.items() if value is not None and value != ""] if metadata else []


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _ENCODE(value)
    return quote_cell(text)


def _is_certain(head: bytes) -> bool:
    """Check whether the first line has the columns of qrels, and not those of judgments."""
    line = head.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "ignore")
    cells = [cell.strip().strip('"') for cell in line.split("\t" if "\t" in line else ",")]
    parts = {name_column(cell).part for cell in cells}
    return parts.issuperset(REQUIRED) and JUDGMENTS not in parts


def _refuse_stream(_: Metadata, __: int) -> str:
    raise ValidationError(
        "a csv has the columns that its ground truth uses: it is laid out for the whole of it"
    )


_HOLDS = (
    "queries",
    "query metadata",
    "grades, 0 included",
    "notes",
    "descriptions",
    "every annotator's grade",
    "origins",
)

CSV = Format(
    name="csv",
    about="one row for each qrel, for spreadsheets and data frames (TSV is read too)",
    suffixes=(".csv", ".tsv"),
    holds=(*_HOLDS, "further columns"),
    cannot_hold=("what the file says of itself", "types of metadata: all is text"),
    features=ROW_FEATURES,
    read=lambda source: _collect(source).finish(),
    files=(FileWriter(ONE_FILE, begin=_refuse_stream),),
    certain=_is_certain,
    tells_grade_0=True,
    find_query_lines=lambda source: list(_collect(source).first_row.values()),
    lay_out=lay_out,
)


_ENCODE_OBJECT = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _collect_objects(source: InputSource) -> RowReader:
    problems = Problems(source.path)
    rows = RowReader(problems, scale=source.scale)
    for line, value in read_objects(source, problems):
        rows.add(line, value)
    _note_missing_names(rows, problems)
    return rows


def _note_missing_names(rows: RowReader, problems: Problems) -> None:
    """Replace the problems of all rows by one if no row has a query_id, or none with a document has a grade."""
    names = dict.fromkeys(name for row_names in rows.plans for name in row_names)
    parts = {name_column(name).part for name in names}
    missing = [name for name in REQUIRED if name not in parts]
    is_other_table = not rows.first_row or ("doc_id" in parts and not rows.qrels.qrels and not rows.judgments)
    if problems.errors and names and missing and is_other_table and JUDGMENTS not in names:
        line = problems.errors[0].line
        problems.errors.clear()
        problems.add(line, f"a column {', '.join(missing)}", ", ".join(names))


def read_objects(source: InputSource, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of each line. Notes every line that is not an object; skips blank lines.

    Notes a file without any line. A file without qrels has a blank line.
    """
    line = 0
    try:
        for line, content in source.read_lines():
            if not content or content.isspace():
                continue
            value = parse_object(content, line, problems, path=source.path)
            if value is not None:
                yield line, value
    except BadInput as error:
        problems.errors.extend(error.problems)
        return
    if not line:
        problems.add(None, say("JSON objects, one a line"), say("an empty file"), path=source.path)


def write_object(value: dict[str, Any]) -> str:
    """Return one line. ValidationError for what JSON cannot hold."""
    try:
        return f"{_ENCODE_OBJECT(value)}\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(f"expected values that JSON can hold: {error}") from None


def end_lines(queries: int) -> str:
    """Return a blank line if the file has no other line: an empty file would suggest an error."""
    return "" if queries else "\n"


def _add_objects(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    about: dict[str, Any] = {"query": query.text} if query.text else {}
    about |= list_fields(query)
    about |= {f"{QUERY_PREFIX}{key}": value for key, value in query.metadata.items()}
    start = f'{{"query_id": {quote(query.query_id)}'
    rest = f", {write_object(about)[1:-2]}" if about else ""
    if not qrels:
        return f"{start}{rest}}}\n"
    start += ', "doc_id": '
    return "".join(
        [f'{start}{quote(qrel.doc_id)}, "grade": {qrel.grade}{rest}{_write_rest(qrel)}}}\n' for qrel in qrels]
    )


def _write_rest(qrel: Qrel) -> str:
    """Return the end of an object: everything after the grade."""
    rest: dict[str, Any] = {}
    if qrel.origin != "imported":
        rest["origin"] = qrel.origin
    if qrel.description is not None:
        rest["description"] = qrel.description
    if qrel.note is not None:
        rest["note"] = qrel.note
    if qrel.annotator_grades:
        rest.update(list_annotators(qrel))
    if qrel.metadata:
        rest.update({name_qrel_key(key): value for key, value in qrel.metadata.items()})
    return f", {write_object(rest)[1:-2]}" if rest else ""


def _is_certain_jsonl(head: bytes) -> bool:
    """Check whether every complete line is an object, and one of them is a qrel and not a judgment."""
    lines = head.split(b"\n")
    has_qrel = False
    for line in lines[:-1] if len(lines) > 1 else lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict) or "query_id" not in value or JUDGMENTS in value:
            return False
        has_qrel = has_qrel or ("doc_id" in value and any(name in value for name in GRADE_NAMES))
    return has_qrel


JSONL = Format(
    name="jsonl",
    about="one JSON object a line for each qrel",
    suffixes=(".jsonl", ".ndjson"),
    holds=(*_HOLDS, "further keys"),
    cannot_hold=("what the file says of itself",),
    features=ROW_FEATURES | {"typed_metadata", "empty_texts"},
    read=lambda source: _collect_objects(source).finish(),
    files=(FileWriter(ONE_FILE, add=_add_objects, end=end_lines, by_qrel=True),),
    certain=_is_certain_jsonl,
    tells_grade_0=True,
    find_query_lines=lambda source: list(_collect_objects(source).first_row.values()),
    schema="jsonl.schema.json",
)
