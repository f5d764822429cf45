"""Runs: one system's ranked results, as TREC lines `query_id Q0 doc_id rank score tag` or as JSONL.

JSONL rows are `query_id, doc_id, rank, score, signals{…}`; every further field is kept among the signals, and
`system` (or `tag`) names the system. Ranks count as the file counts, from 0 or 1; in which order the results stand is
for `domain/run_order.py` to say.
Refused, each with its line: another number of fields, a rank or score that is no number, nan or inf, a document
twice within a query, several systems in one file unless one name is given for all.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from annotator.domain.errors import BadInput, FormatError, Problems, ValidationError
from annotator.domain.ground_truth import Run, RunEntry
from annotator.formats.tables import Row, read_rows, take, take_id
from annotator.formats.text import ID_LIMIT, describe, is_too_long, read_text
from annotator.formats.trec import split_fields

MAX_RANK = 2**31 - 1
_WHOLE = re.compile(r"[0-9]{1,10}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class RunLine(NamedTuple):
    """One entry, the line it stands on, and the system that the file names for it."""

    line: int
    entry: RunEntry
    tag: str | None


def read_run(data: bytes, path: str, *, system: str | None = None, kind: str | None = None) -> Run:
    """The run of a file. `system` overrides what the file says; `kind` is trec or jsonl, None: by content.

    BadInput names every bad line.
    """
    return to_run(read_run_lines(data, path, kind=kind), path, system=system)


def read_run_lines(data: bytes, path: str, *, kind: str | None = None) -> list[RunLine]:
    """The entries of a run file with their lines and tags, in order."""
    if kind not in (None, "trec", "jsonl"):
        raise ValidationError(f"no run format named {kind!r}; there are: trec, jsonl")
    problems = Problems(path)
    if kind == "jsonl" or (kind is None and data[:4].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")):
        lines = list(_jsonl_lines(read_rows(data, path, kind="jsonl").rows, problems))
    else:
        lines = list(_trec_lines(read_text(data, path), problems))
    if not lines and not problems:
        problems.add(None, "lines of query_id Q0 doc_id rank score tag", "an empty file")
    _check_once(lines, problems)
    problems.raise_if_any()
    return lines


def to_run(lines: Iterable[RunLine], path: str, *, system: str | None = None) -> Run:
    """The lines as one system's run; a tag other than the given `system` is kept as the signal `tag`."""
    lines = list(lines)
    tags: dict[str | None, int] = {}
    for line in lines:
        tags.setdefault(line.tag, line.line)
    if system is None:
        if len(tags) > 1:
            names = ", ".join(describe(tag) for tag in list(tags)[:5])
            expected = "one system in a file (or --system NAME for all of it)"
            raise BadInput([FormatError(path, list(tags.values())[1], expected, names)])
        system = next(iter(tags))
        if system is None:
            raise BadInput([FormatError(path, None, "the system's name: --system NAME", "none in the file")])
        return Run(system, tuple(line.entry for line in lines))
    return Run(system, tuple(_keep_tag(line, system) for line in lines))


def _keep_tag(line: RunLine, system: str) -> RunEntry:
    entry = line.entry
    if line.tag in (None, system):
        return entry
    signals = {**entry.signals, "tag": line.tag}
    return RunEntry(entry.query_id, entry.doc_id, entry.rank, entry.score, signals)


def _trec_lines(text: str, problems: Problems) -> Iterator[RunLine]:
    for line, content in enumerate(text.split("\n"), 1):
        fields = split_fields(content)
        if not fields:
            continue
        if len(fields) != 6:
            problems.add(line, "6 fields: query_id Q0 doc_id rank score tag", f"{len(fields)} fields")
            continue
        query_id, _, doc_id, rank, score, tag = fields
        if is_too_long(query_id) or is_too_long(doc_id):
            problems.add(line, f"ids of {ID_LIMIT}", f"{max(len(query_id), len(doc_id)):,} characters")
            continue
        read_rank = _read_rank(rank, line, problems)
        read_score = _read_score(score, line, problems)
        if read_rank is not None and read_score is not None:
            yield RunLine(line, RunEntry(query_id, doc_id, read_rank, read_score), tag)


def _jsonl_lines(rows: Iterable[Row], problems: Problems) -> Iterator[RunLine]:
    for row in rows:
        query_id = take_id(row, ("query_id",), problems)
        doc_id = take_id(row, ("doc_id",), problems)
        rank = _read_rank(_as_text(take(row.cells, ("rank",))), row.line, problems)
        score = take(row.cells, ("score",))
        if score is not None:
            score = _read_score(_as_text(score), row.line, problems)
        tag = take(row.cells, ("system", "tag"))
        if tag is not None and not isinstance(tag, str):
            problems.add(row.line, "system to be a text", describe(tag))
        nested = row.cells.pop("signals", None) or {}
        if not isinstance(nested, Mapping):
            problems.add(row.line, "signals to be a mapping", describe(nested))
            nested = {}
        if query_id is not None and doc_id is not None and rank is not None:
            yield RunLine(row.line, RunEntry(query_id, doc_id, rank, score, {**row.cells, **nested}), tag)


def _as_text(found: Any) -> str:
    """A JSON number as text; anything else as something that is no number."""
    return repr(found) if type(found) in (int, float) else describe(found)


def _read_rank(found: str, line: int, problems: Problems) -> int | None:
    if _WHOLE.fullmatch(found) and int(found) <= MAX_RANK:
        return int(found)
    problems.add(line, "rank to be a whole number from 0", found)
    return None


def _read_score(found: str, line: int, problems: Problems) -> float | None:
    if _NUMBER.fullmatch(found) and math.isfinite(float(found)):
        return float(found)
    problems.add(line, "score to be a finite number", found)
    return None


def _check_once(lines: Iterable[RunLine], problems: Problems) -> None:
    documents: dict[tuple[str, str], int] = {}
    for line, entry, _ in lines:
        before = documents.setdefault((entry.query_id, entry.doc_id), line)
        if before != line:
            expected = f"each document of a query once (first on line {before})"
            problems.add(line, expected, f"{describe(entry.doc_id)} again")
