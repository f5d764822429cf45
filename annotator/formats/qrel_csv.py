"""`csv`: one row per qrel, for spreadsheets and data frames. Read and written; TSV is read too.

`qrel_rows.py` defines the columns; only used ones are written. Every cell is text and an empty cell is
absent: numbers, lists and other metadata values are written as JSON and read back as text. Also refused: a
repeated column, a row with another number of cells, broken quoting.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.format import ONE_FILE, FileWriter, Format
from annotator.formats.judgments import quote_cell
from annotator.formats.qrel_rows import (
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
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import CELL_LIMIT, MAX_CELL
from annotator.formats.syntax.text import BOM_WITHIN, describe, note_marks

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def _collect(source: InputSource) -> RowReader:
    problems = Problems(source.path)
    csv.field_size_limit(MAX_CELL)
    reader: RowReader | None = None
    try:
        for line, columns, cells in _read_rows(source, problems):
            reader = reader or RowReader(problems, header=columns, scale=source.scale)
            reader.add(line, {name: cell for name, cell in zip(columns, cells, strict=True) if cell})
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
    """Return a value as a cell, in quotes where it needs them."""
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


FORMAT = Format(
    name="csv",
    about="one row for each qrel, for spreadsheets and data frames (TSV is read too)",
    suffixes=(".csv", ".tsv"),
    holds=(
        "queries",
        "query metadata",
        "grades, 0 included",
        "notes",
        "descriptions",
        "every annotator's grade",
        "origins",
        "further columns",
    ),
    cannot_hold=("what the file says of itself", "types of metadata: all is text"),
    features=ROW_FEATURES,
    read=lambda source: _collect(source).finish(),
    files=(FileWriter(ONE_FILE, begin=_refuse_stream),),
    certain=_is_certain,
    tells_grade_0=True,
    find_query_lines=lambda source: list(_collect(source).first_row.values()),
    lay_out=lay_out,
)
