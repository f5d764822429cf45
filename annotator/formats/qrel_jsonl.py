"""`jsonl`: one flat JSON object per line and qrel, with the columns of `csv` and typed values. Read and
written.

    {"query_id": "Q1", "doc_id": "d", "grade": 3, "query": "…", "category": "…", "query.weight": 0.5}

`qrel_rows.py` defines the columns and what is refused. Also refused, with the line: anything but a JSON
object, a repeated key, a grade that is text.
"""

import json
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring as quote
from typing import Any

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import Qrel, Query
from annotator.domain.messages import say
from annotator.formats.format import ONE_FILE, FileWriter, Format, list_fields
from annotator.formats.qrel_rows import (
    GRADE_NAMES,
    JUDGMENTS,
    QUERY_PREFIX,
    REQUIRED,
    ROW_FEATURES,
    RowReader,
    list_annotators,
    name_column,
    name_qrel_key,
)
from annotator.formats.syntax.json_text import parse_object
from annotator.formats.syntax.source import InputSource

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _collect(source: InputSource) -> RowReader:
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
        return f"{_ENCODE(value)}\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(f"expected values that JSON can hold: {error}") from None


def end_lines(queries: int) -> str:
    """Return a blank line if the file has no other line: an empty file would suggest an error."""
    return "" if queries else "\n"


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
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


def _is_certain(head: bytes) -> bool:
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


FORMAT = Format(
    name="jsonl",
    about="one JSON object a line for each qrel",
    suffixes=(".jsonl", ".ndjson"),
    holds=(
        "queries",
        "query metadata",
        "grades, 0 included",
        "notes",
        "descriptions",
        "every annotator's grade",
        "origins",
        "further keys",
    ),
    cannot_hold=("what the file says of itself",),
    features=ROW_FEATURES | {"typed_metadata", "empty_texts"},
    read=lambda source: _collect(source).finish(),
    files=(FileWriter(ONE_FILE, add=_add, end=end_lines, by_qrel=True),),
    certain=_is_certain,
    tells_grade_0=True,
    find_query_lines=lambda source: list(_collect(source).first_row.values()),
    schema="jsonl.schema.json",
)
