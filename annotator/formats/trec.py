"""`trec`: qrels as trec_eval and its many relatives load them: `query_id iteration doc_id grade`. Read and written.

Holds ids and grades, and grade 0 always; no query texts, no metadata. An iteration other than 0 is kept.
Refused: white space in an id, with the id (fields are separated by white space); a grade other than 0-3
(TREC's -1 and -2 say "not judged": leave such lines out); a document of a query twice.
"""

import re

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.text import ID_LIMIT, describe, is_too_long, read_text

_SPACE = re.compile(r"[ \t\r\f\v]+")


def split_fields(line: str) -> list[str]:
    """The fields of a TREC line, as C's isspace separates them: full-width and no-break spaces do not."""
    return [field for field in _SPACE.split(line) if field]


def read(data: bytes, path: str) -> GroundTruth:
    """The qrels of a TREC file; its queries have ids and no text. BadInput names every bad line."""
    problems = Problems(path)
    qrels: list[Qrel] = []
    first: dict[tuple[str, str], int] = {}
    for line, content in enumerate(read_text(data, path).split("\n"), 1):
        fields = split_fields(content)
        if not fields:
            continue
        if len(fields) != 4:
            problems.add(line, "4 fields: query_id iteration doc_id grade", f"{len(fields)} fields")
            continue
        qrel = _read_line(fields, line, problems)
        if qrel is None:
            continue
        before = first.setdefault((qrel.query_id, qrel.doc_id), line)
        if before != line:
            problems.add(line, f"each document of a query once (first on line {before})", qrel.doc_id)
        qrels.append(qrel)
    if not first and not problems:
        problems.add(None, "lines of query_id iteration doc_id grade", "an empty file")
    problems.raise_if_any()
    queries = tuple(Query(query_id, "") for query_id in dict.fromkeys(qrel.query_id for qrel in qrels))
    return GroundTruth(queries, tuple(qrels))


def write(truth: GroundTruth, *, list_grade_0: bool = True) -> bytes:
    """The file's bytes, a line per qrel in the truth's order. ValidationError for an id with white space.

    Grade 0 is always written, whatever `list_grade_0` says: TREC tells it from unjudged.
    """
    del list_grade_0
    for query_id in dict.fromkeys(qrel.query_id for qrel in truth.qrels):
        check_writable(query_id, "query_id")
    lines = []
    for qrel in truth.qrels:
        check_writable(qrel.doc_id, "doc_id")
        iteration = str(qrel.metadata.get("iteration", "0"))
        check_writable(iteration, "iteration")
        lines.append(f"{qrel.query_id} {iteration} {qrel.doc_id} {qrel.grade}\n")
    return "".join(lines).encode("utf-8")


def check_writable(found: str, name: str) -> None:
    """ValidationError unless a TREC line can carry this id for every reader of such files."""
    if found.split() != [found] or found.startswith("\ufeff"):
        raise ValidationError(f"TREC separates fields by white space and cannot hold the {name} {found!r}")


def _read_line(fields: list[str], line: int, problems: Problems) -> Qrel | None:
    query_id, iteration, doc_id, grade = fields
    for name, found in (("query_id", query_id), ("doc_id", doc_id)):
        if is_too_long(found):
            problems.add(line, f"{name} of {ID_LIMIT}", f"{len(found):,} characters")
            return None
    if grade not in ("0", "1", "2", "3"):
        problems.add(line, "a grade 0, 1, 2 or 3", describe(grade))
        return None
    return Qrel(query_id, doc_id, int(grade), metadata={} if iteration == "0" else {"iteration": iteration})
