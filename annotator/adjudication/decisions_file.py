"""Reads decisions in bulk: CSV with the columns query_id, doc_id, grade, rationale and, if wanted, reason.

Refuses what a single decision would be refused for: a grade that is not 0-3, a blank rationale; and a
pair that stands in the file twice. Every bad line is reported. Ids are kept exactly as given.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.grades import GRADES

COLUMNS = ("query_id", "doc_id", "grade", "rationale")
OPTIONAL = ("reason",)
GRADE_TEXTS = frozenset(str(grade) for grade in GRADES)
MAX_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One line: `line` is where it begins in its file, counted from 1."""

    line: int
    query_id: str
    doc_id: str
    grade: int
    rationale: str
    reason: str | None


def find_fault(text: str) -> tuple[str, str] | None:
    """What is wrong with a rationale or a reason, as (expected, found); None when it is fine."""
    stripped = text.strip()
    if not stripped:
        return "some words", "nothing"
    if len(stripped) > MAX_TEXT:
        return f"at most {MAX_TEXT:,} characters", f"{len(stripped):,}"
    if "\0" in stripped or any("\ud800" <= character <= "\udfff" for character in stripped):
        return "text", "a character that no text may hold"
    return None


def check_text(name: str, text: str) -> str:
    """The text without the white space around it. ValidationError when it is blank, too long or no text."""
    fault = find_fault(text)
    if fault is not None:
        raise ValidationError(f"{name}: expected {fault[0]}, found {fault[1]}")
    return text.strip()


def read_decisions(data: bytes, path: str) -> list[DecisionLine]:
    """The decisions of a CSV file's bytes (UTF-8, a BOM is accepted). BadInput names every bad line."""
    problems = Problems(path)
    rows = _read_rows(_decode(data, problems), problems)
    header = rows[0][1] if rows else []
    missing = [name for name in COLUMNS if name not in header]
    unknown = [name for name in header if name not in COLUMNS + OPTIONAL]
    if missing or unknown or len(set(header)) != len(header):
        problems.add(1, "the columns query_id,doc_id,grade,rationale[,reason]", ",".join(header) or "nothing")
    problems.raise_if_any()
    found: list[DecisionLine] = []
    first: dict[tuple[str, str], int] = {}
    for line, cells in rows[1:]:
        decision = _read_line(line, header, cells, problems)
        if decision is None:
            continue
        pair = (decision.query_id, decision.doc_id)
        if pair in first:
            problems.add(line, "each pair once", f"the pair of line {first[pair]} again")
        first.setdefault(pair, line)
        found.append(decision)
    problems.raise_if_any()
    return found


def _decode(data: bytes, problems: Problems) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problems.add(line, "UTF-8 text", f"byte 0x{data[error.start]:02x}")
        problems.raise_if_any()
        raise


def _read_rows(text: str, problems: Problems) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for cells in reader:
            if cells:
                rows.append((begins, cells))
            begins = reader.line_num + 1
    except csv.Error as error:
        problems.add(begins, "a line of CSV", str(error))
    return rows


def _read_line(line: int, header: Sequence[str], cells: list[str], problems: Problems) -> DecisionLine | None:
    if len(cells) != len(header):
        problems.add(line, f"{len(header)} cells", f"{len(cells)}")
        return None
    row = dict(zip(header, cells, strict=True))
    grade, rationale, reason = row["grade"].strip(), row["rationale"], row.get("reason", "").strip() or None
    good = grade in GRADE_TEXTS
    if not good:
        problems.add(line, "a grade 0, 1, 2 or 3", repr(row["grade"]))
    for name, text in (("rationale", rationale), ("reason", reason)):
        fault = None if text is None else find_fault(text)
        if fault is not None:
            problems.add(line, f"a {name} of {fault[0]}", fault[1])
            good = False
    if not good:
        return None
    return DecisionLine(line, row["query_id"], row["doc_id"], int(grade), rationale.strip(), reason)
