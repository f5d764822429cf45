"""Read rows of CSV, TSV and JSONL files with their line numbers. Every reader of tables uses it.

CSV and TSV have a header line, quote with `"` (doubled inside) and allow line breaks in quotes. JSONL is one
JSON object per line. Empty cells are absent; cells are never trimmed. Refused, each with its line: a missing
header, a repeated column, a row with another number of cells, broken quoting, a line that is not a JSON
object, a repeated key.
"""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, NamedTuple, TextIO

from annotator.domain.errors import Problems, ValidationError, refuse
from annotator.domain.messages import say
from annotator.formats.syntax.json_text import parse_object
from annotator.formats.syntax.source import MAX_LINE, InputSource, named_errors
from annotator.formats.syntax.text import (
    BOM_WITHIN,
    ID_LIMIT,
    check_encoding,
    describe,
    describe_bytes,
    drop_mark,
    is_too_long,
    note_marks,
    read_text,
)
from annotator.formats.syntax.tree import MAX_TEXT, TEXT_LIMIT

Kind = Literal["csv", "tsv", "jsonl"]
KINDS: tuple[Kind, ...] = ("csv", "tsv", "jsonl")
ColumnNames = Mapping[str, str]
"""{name that the reader expects: column of the file}."""
MAX_CELL = 32_000_000
CELL_LIMIT = say("cells of at most {n} characters", n=MAX_CELL)
LONG_NAME, MOST_OF_NAMES, MOST_TIMES_THE_TEXTS = 40, 100_000_000, 10
"""Column names are stored again with each row. Names longer than LONG_NAME may take MOST_OF_NAMES characters in all
rows together, or MOST_TIMES_THE_TEXTS times as many as the cells."""
_SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


class TableLine(NamedTuple):
    """One row: its first line (from 1), and its cells by column name."""

    line: int
    cells: dict[str, Any]


class RowMaker:
    """Makes the rows of a CSV or TSV file, without empty cells. A name is stored with each cell under it.

    BadInput if the names are repeated too often: a column named by a megabyte would fill the disk.
    """

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        self._path, self._columns = path, columns
        self._is_counted = any(len(name) > LONG_NAME for name in columns)
        self._names = self._texts = 0

    def make(self, cells: Sequence[str], line: int) -> dict[str, Any]:
        """Return {column: cell} of a row."""
        row = {name: cell for name, cell in zip(self._columns, cells, strict=True) if cell}
        if self._is_counted:
            self._names += sum(map(len, row))
            self._texts += sum(map(len, row.values()))
            if self._names > max(MOST_OF_NAMES, MOST_TIMES_THE_TEXTS * self._texts):
                expected = say(
                    "names of columns of at most {n} characters in all rows together", n=f"{MOST_OF_NAMES:,}"
                )
                raise refuse(self._path, line, expected, f"{self._names:,}")
        return row


@dataclass(frozen=True, slots=True)
class Table:
    """A table's rows. `columns` is the header of a CSV or TSV file; None for JSONL, whose rows differ."""

    path: str
    kind: Kind
    columns: tuple[str, ...] | None
    rows: Sequence[TableLine]


def read_table(source: InputSource, *, kind: str | None = None) -> bytes:
    """Return the content of a table in UTF-8. BadInput names a too long line or cell, before the rest is read."""
    _refuse_long_cells(source, kind)
    return source.read_bytes(longest_line=MAX_LINE)


def _refuse_long_cells(source: InputSource, kind: str | None) -> None:
    """Look for a too long quoted cell over many lines of a CSV or TSV file, without storing it.

    Only in files larger than the limit of a cell: this takes as long as splitting the file into cells. The
    reader finds other problems, also too long lines.
    """
    with source.open() as file, named_errors(source.path):
        head = file.read(65_536)
        kind = kind or detect_kind(head, source.path)
        if kind not in ("csv", "tsv") or file.seek(0, io.SEEK_END) <= MAX_CELL:
            return
        file.seek(0)
        name = source.encoding or "utf-8"
        with io.TextIOWrapper(file, check_encoding(name), errors="replace", newline="\n") as text:
            start = _find_long_cell(text, "\t" if kind == "tsv" else ",")
    if start is not None:
        raise refuse(source.path, start, CELL_LIMIT, say("a longer one"))


def _find_long_cell(text: TextIO, delimiter: str) -> int | None:
    """Return the line of the first row with a cell over the limit; None if another problem comes first."""
    csv.field_size_limit(MAX_CELL)
    lines = iter(lambda: text.readline(MAX_LINE + 1), "")
    rows = csv.reader(takewhile(lambda line: len(line) <= MAX_LINE, lines), delimiter=delimiter, strict=True)
    start = 0
    try:
        for _ in rows:
            start = rows.line_num
    except csv.Error as error:
        return start + 1 if "field limit" in str(error) else None
    return None


def detect_kind(data: bytes, path: str) -> Kind | None:
    """Return the kind of table by the name's suffix, else by the first line; None if neither decides."""
    return kind_of_name(path) or _kind_of_content(data)


def kind_of_name(path: str) -> Kind | None:
    """Return the kind of table by the file's suffix, or None."""
    for suffix, kind in _SUFFIXES.items():
        if path.lower().endswith(suffix):
            return kind
    return None


def _kind_of_content(data: bytes) -> Kind | None:
    head = data[:65_536].removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    if head.startswith(b"{") and head.rstrip().endswith(b"}"):
        return "jsonl"
    names = (b"query_id", b"doc_id", b"_id")
    if any(name in head for name in names):
        return "tsv" if b"\t" in head else "csv" if b"," in head else None
    return None


def read_rows(
    data: bytes,
    path: str,
    *,
    kind: str | None = None,
    columns: tuple[str, ...] = (),
    names: ColumnNames | None = None,
    problems: Problems | None = None,
) -> Table:
    """Return all rows of a table. BadInput names every malformed line; ValidationError for an unknown kind.

    `columns`: of a CSV or TSV file without a header. `names`: see `rename_columns`. `problems`: if given,
    malformed lines are noted there instead, and the caller raises them with its own.
    """
    kind = kind or detect_kind(data, path)
    if kind not in KINDS:
        if (binary := describe_bytes(data)) is not None:
            raise refuse(path, None, say("a text file"), binary)
        kinds = ", ".join(KINDS)
        raise ValidationError(
            f"{path}: the content does not say which format this is; name it, one of: {kinds}"
        )
    errors = Problems(path) if problems is None else problems
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        errors.add(None, say("rows of a table"), say("an empty file"))
        errors.raise_if_any()
    if kind == "jsonl":
        table = Table(path, "jsonl", None, list(_jsonl_rows(_decode_lines(data, path), errors)))
    else:
        table = _csv_table(data, path, kind, errors, columns)
    if names:
        table = rename_columns(table, names, errors)
    if problems is None:
        errors.raise_if_any()
    return table


def rename_columns(table: Table, names: ColumnNames, problems: Problems) -> Table:
    """Return the table with the file's columns under the names that its reader expects.

    `names`: {expected name: column of the file}, such as `{"text": "質問"}`. Another column that already has an
    expected name is kept as "text (file)". Missing and repeated columns are noted.
    """
    wanted = {column: name for name, column in names.items()}
    if len(wanted) < len(names):
        problems.add(1, say("another column of the file for each name"), ", ".join(names.values()))
    present = (
        table.columns if table.columns is not None else {name for row in table.rows for name in row.cells}
    )
    for column in wanted:
        if column not in present:
            problems.add(
                1, say("a column {names}", names=column), ", ".join(sorted(map(str, present))) or "no columns"
            )

    def rename(column: str) -> str:
        return wanted.get(column, f"{column} (file)" if column in names else column)

    columns = None if table.columns is None else tuple(map(rename, table.columns))
    rows = [
        TableLine(row.line, {rename(name): cell for name, cell in row.cells.items()}) for row in table.rows
    ]
    return Table(table.path, table.kind, columns, rows)


def open_table(
    data: bytes,
    path: str,
    required: Sequence[Sequence[str]],
    *,
    kind: str | None = None,
    columns: tuple[str, ...] = (),
    names: ColumnNames | None = None,
) -> tuple[Table, Problems]:
    """Return a table that has the required columns, and the collector of problems in its rows.

    `required`: the alternative names of each column. `columns`: of a file without a header. `names`: see
    `rename_columns`. BadInput for malformed rows and missing columns. Problems in single lines of JSONL stay
    in the collector, and the caller raises them with its own.
    """
    problems = Problems(path)
    table = read_rows(data, path, kind=kind, columns=columns, problems=problems)
    bad_lines = problems.noted
    if names:
        table = rename_columns(table, names, problems)
    check_columns(table, required, problems)
    if table.kind != "jsonl" or problems.noted > bad_lines:
        problems.raise_if_any()
    return table, problems


def check_columns(table: Table, required: Sequence[Sequence[str]], problems: Problems) -> None:
    """Note every required column that a CSV or TSV file lacks. `required`: the alternative names of each."""
    if table.columns is None:
        return
    missing = [" or ".join(names) for names in required if not set(names) & set(table.columns)]
    if missing:
        problems.add(
            1,
            say("a column {names}", names=", ".join(missing)),
            ", ".join(table.columns).strip() or "no name of a column",
        )


def take(cells: dict[str, Any], names: Sequence[str]) -> Any:
    """Remove and return the first of these columns that has a value, or None."""
    for name in names:
        value = cells.pop(name, None)
        if value is not None:
            return value
    return None


def take_id(row: TableLine, names: Sequence[str], problems: Problems) -> str | None:
    """Remove and return an id as `check_id` does, from the first of these columns that has a value."""
    value = row.cells.pop(names[0], None)
    if value is None:
        value = take(row.cells, names[1:])
    return check_id(names[0], value, row.line, problems)


def check_id(name: str, value: Any, line: int, problems: Problems) -> str | None:
    """Return an id exactly as written, a JSON number as its digits; None after noting a problem."""
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str) or not value:
        problems.add(line, say("{name} to be a text that is not empty", name=name), describe(value))
    elif is_too_long(value):
        problems.add(
            line, say("{name} of {limit}", name=name, limit=ID_LIMIT), say("{n} characters", n=len(value))
        )
    else:
        return value
    return None


def take_text(row: TableLine, names: Sequence[str], problems: Problems) -> str | None:
    """Remove and return a text; None if it is absent, or after noting another type."""
    value = take(row.cells, names)
    if value is None or isinstance(value, str):
        return value
    problems.add(row.line, say("{name} to be a text", name=names[0]), describe(value))
    return None


def check_length(name: str, text: str, line: int, problems: Problems) -> None:
    """Note a problem if the text is longer than any text of a tree may be."""
    if len(text) > MAX_TEXT:
        expected = say("{place} to be {expected}", place=name, expected=TEXT_LIMIT)
        problems.add(line, expected, say("{n} characters", n=len(text)))


def take_texts(row: TableLine, names: Sequence[str], problems: Problems) -> list[str | None]:
    """Remove and return the texts of several columns, as `take_text` does. Faster for a million rows."""
    pop, texts = row.cells.pop, list[str | None]()
    for name in names:
        value = pop(name, None)
        if value is not None and not isinstance(value, str):
            problems.add(row.line, say("{name} to be a text", name=name), describe(value))
            value = None
        texts.append(value)
    return texts


def unfold_metadata(row: TableLine) -> None:
    """Move the keys of a nested `metadata` (BEIR) up to the other columns, except names that exist there."""
    nested = row.cells.get("metadata")
    if nested is None:
        return
    if isinstance(nested, Mapping) and not set(nested) & set(row.cells):
        del row.cells["metadata"]
        row.cells.update(nested)


def _decode_lines(data: bytes, path: str) -> Iterator[str]:
    """Yield the lines with their ends, one at a time, so the whole text and its rows never need memory together."""
    for number, line in enumerate(io.BytesIO(data)):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            read_text(data, path)  # says what is wrong, and on which line
        yield drop_mark(text, path) if number == 0 else text


def _csv_table(data: bytes, path: str, kind: Kind, problems: Problems, columns: tuple[str, ...]) -> Table:
    csv.field_size_limit(MAX_CELL)
    marks: set[int] = set()
    lines = note_marks(_decode_lines(data, path), marks)
    reader = csv.reader(lines, delimiter="\t" if kind == "tsv" else ",", strict=True)
    rows: list[TableLine] = []
    maker: RowMaker | None = None
    start = 0
    try:
        for cells in reader:
            start, line = reader.line_num, start + 1
            if not cells:
                continue
            if problems.is_full:
                break
            if not columns:
                columns = _read_header(cells, line, problems)
            elif line in marks:
                problems.add(line, *BOM_WITHIN)
            elif len(cells) != len(columns):
                problems.add(line, say("{n} cells", n=len(columns)), str(len(cells)))
            else:
                maker = maker or RowMaker(path, columns)
                rows.append(TableLine(line, maker.make(cells, line)))
    except csv.Error as error:
        if "field limit" in str(error):
            problems.add(start + 1, CELL_LIMIT, say("a longer one"))
        else:
            problems.add(start + 1, say("a CSV row") if kind == "csv" else say("a TSV row"), str(error))
    return Table(path, kind, columns, rows)


def _read_header(cells: list[str], line: int, problems: Problems) -> tuple[str, ...]:
    columns = tuple(cell.strip() for cell in cells)
    for name in (name for name, count in Counter(columns).items() if count > 1):
        problems.add(line, say("each column once"), say("{item} again", item=describe(name)))
    if "" in columns:
        problems.add(line, say("a name for every column"), say("an empty one"))
    return columns


def _jsonl_rows(lines: Iterable[str], problems: Problems) -> Iterator[TableLine]:
    for line, ended in enumerate(lines, 1):
        if ended.isspace():
            continue
        if problems.is_full:
            break
        value = parse_object(ended.removesuffix("\n"), line, problems)
        if value is not None:
            yield TableLine(line, value)


def check_kind(kind: str) -> Kind:
    """Raise ValidationError unless it is csv, tsv or jsonl."""
    if kind in KINDS:
        return kind
    raise ValidationError(f"no table format named {kind!r}; there are: {', '.join(KINDS)}")
