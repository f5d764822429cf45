"""Read and write external judgments: CSV, TSV or JSONL
`query_id,doc_id,annotator,grade[,note,judged_at,seconds]`.

`import judgments` reads them; every release writes them (`judgments.csv`), and this reader can read that
file. `grade` is 0-3 or `unrateable`. A time without a zone is UTC. Other columns are ignored. Rows without a
grade are left out and counted. Refused: any other grade, an invalid time, seconds below 0, an empty query_id,
doc_id or annotator.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from annotator.domain.errors import BadInput, Problems
from annotator.domain.ground_truth import JudgmentLine
from annotator.domain.messages import say
from annotator.domain.texts import clean
from annotator.formats.syntax.grade_scale import UNRATEABLE, GradeScale
from annotator.formats.syntax.tables import ColumnNames, TableLine, check_length, open_table, take_id
from annotator.formats.syntax.text import describe

REQUIRED = (("query_id",), ("doc_id",), ("annotator",), ("grade",))
COLUMNS = ("query_id", "doc_id", "annotator", "grade", "note", "judged_at", "seconds")
_QUOTED = re.compile('[",\r\n]|^[\\s\ufeff]|\\s$')


def read_judgments(
    data: bytes,
    path: str,
    *,
    kind: str | None = None,
    scale: GradeScale | None = None,
    names: ColumnNames | None = None,
) -> list[JudgmentLine]:
    """Return the lines of a judgments file, in order.

    `kind`: csv, tsv or jsonl; None: by content. `scale`: how grades are read. `names`: see `rename_columns`.

    BadInput names every bad line and the values on no scale.
    """
    scale = scale or GradeScale()
    table, problems = open_table(data, path, REQUIRED, kind=kind, names=names)
    lines = [_read_row(row, problems, scale, in_text=table.kind != "jsonl") for row in table.rows]
    try:
        problems.raise_if_any()
    except BadInput as error:
        raise scale.hint(error) from None
    return [line for line in lines if line is not None]


def write_judgments(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return judgments as CSV with LF line ends. The same rows give the same bytes.

    Keys of a row: COLUMNS. `grade` may be an int, "unrateable", or None with `outcome`
    "unrateable"; `judged_at` a datetime or ISO text. A missing or None value is an empty cell.
    """
    lines = [",".join(COLUMNS)]
    for row in rows:
        values = {**row, "grade": UNRATEABLE if row.get("grade") is None else row["grade"]}
        lines.append(",".join(_write_cell(values.get(name)) for name in COLUMNS))
    return ("\n".join(lines) + "\n").encode("utf-8")


def _write_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, bool):
        return str(value).lower()
    return quote_cell(str(value))


def quote_cell(text: str) -> str:
    """Return the text as a CSV cell, in quotes if needed."""
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _read_row(row: TableLine, problems: Problems, scale: GradeScale, *, in_text: bool) -> JudgmentLine | None:
    cells = row.cells
    if cells.get("grade") is None and cells.get("outcome") is None and (in_text or "grade" in cells):
        scale.ungraded.append(row.line)
        return None
    ids = [take_id(row, (name,), problems) for name in ("query_id", "doc_id", "annotator")]
    grade = _read_grade(cells, row.line, problems, scale, in_text=in_text)
    judged_at = _read_time(cells.get("judged_at"), row.line, problems)
    seconds = _read_seconds(cells.get("seconds"), row.line, problems)
    note = cells.get("note")
    if note is not None and not isinstance(note, str):
        problems.add(row.line, say("{name} to be a text", name="note"), describe(note))
    elif note:
        check_length("note", note, row.line, problems)
    query_id, doc_id, annotator = ids
    if annotator is not None and not clean(annotator):
        problems.add(row.line, say("annotator to be a name with a visible character"), ascii(annotator))
        return None
    if query_id is None or doc_id is None or annotator is None or grade is None:
        return None
    return JudgmentLine(
        line=row.line,
        query_id=query_id,
        doc_id=doc_id,
        annotator=annotator,
        outcome="unrateable" if grade == UNRATEABLE else "graded",
        grade=None if grade == UNRATEABLE else int(grade),
        note=note or None,
        judged_at=judged_at,
        seconds=seconds,
    )


def _read_grade(
    cells: Mapping[str, Any], line: int, problems: Problems, scale: GradeScale, *, in_text: bool
) -> int | str | None:
    """Return 0-3 or "unrateable"; None after noting anything else. JSON has numbers, CSV has digits."""
    value = cells.get("grade")
    mapped = scale.translate(value)
    if mapped is not None:
        return mapped
    if type(value) is int and 0 <= value <= 3:
        return value
    if isinstance(value, str):
        cell = value.strip()
        if cell == UNRATEABLE:
            return UNRATEABLE
        if in_text and cell in ("0", "1", "2", "3"):
            return int(cell)
    if value is None and cells.get("outcome") == UNRATEABLE:
        return UNRATEABLE
    scale.accepts(value)
    problems.add(line, say("a grade 0, 1, 2, 3 or unrateable"), describe(value))
    return None


def _read_time(value: Any, line: int, problems: Problems) -> str | None:
    """Return the time in ISO 8601, in UTC."""
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (TypeError, ValueError, OverflowError):
        problems.add(
            line, say("judged_at to be an ISO 8601 time such as 2026-01-31T09:30:00Z"), describe(value)
        )
        return None


def _read_seconds(value: Any, line: int, problems: Problems) -> float | None:
    if value is None:
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if isinstance(value, bool) or not 0 <= seconds < math.inf:
        problems.add(line, say("{name} to be a number from 0", name="seconds"), describe(value))
        return None
    return seconds
