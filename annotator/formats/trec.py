"""`trec`: qrels as trec_eval and similar programs load them: `query_id iteration doc_id grade`. Read and
written.

Holds ids and grades, always including grade 0; no query texts, no metadata. An iteration other than 0 is
kept. Refused: white space in an id (it separates fields); a grade other than 0-3 that `--map-grades` does not
map (TREC's -1 and -2 mean "not judged" or "spam"); a repeated document of a query.
"""

import re
from collections.abc import Iterator, Sequence

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import NOTHING, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.format import ONE_FILE, FileWriter, Format
from annotator.formats.syntax.grade_scale import GradeScale, read_decimal
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import BOM_WITHIN, ID_LIMIT, describe, is_too_long

_SPACE = re.compile(r"[ \t\r\f\v]+")
_GRADES = {"0": 0, "1": 1, "2": 2, "3": 3}
_CERTAIN = re.compile(rb"\s*[^\s]+[ \t]+Q?[0-9]+[ \t]+[^\s]+[ \t]+-?[0-9]+[ \t\r]*(?:\n|\Z)")


def split_fields(line: str) -> list[str]:
    """Return the fields of a TREC line, separated as by C's isspace: not by full-width or no-break spaces."""
    return [field for field in _SPACE.split(line) if field]


def read(source: InputSource) -> GroundTruth:
    """Return the qrels of a TREC file; its queries have no text. BadInput names every bad line."""
    problems = Problems(source.path)
    qrels: list[Qrel] = []
    lines_by_doc_id: dict[str, dict[str, int]] = {}  # by query: the line of each of its documents
    ids: dict[str, str] = {}  # each query_id and doc_id once in memory
    kept: dict[str, Metadata] = {"0": NOTHING}
    mapping = source.scale.mapping
    grades: dict[str, int | str] = {**_GRADES, **mapping}
    for line, fields in _read_fields(source, problems):
        if len(fields) != 4:
            if fields:
                problems.add(
                    line, say("4 fields: query_id iteration doc_id grade"), say("{n} fields", n=len(fields))
                )
            continue
        query_id, iteration, doc_id, value = fields
        grade = grades.get(value)
        if grade is None:
            grade = read_decimal(value)
        if mapping and value in mapping:
            source.scale.mapped[value] += 1
        if (
            grade is None
            or is_too_long(doc_id)
            or (query_id not in lines_by_doc_id and is_too_long(query_id))
        ):
            if _complain(query_id, doc_id, value, line, problems, source.scale):
                lines_by_doc_id.setdefault(query_id, {})
            continue
        query_id, doc_id = ids.setdefault(query_id, query_id), ids.setdefault(doc_id, doc_id)
        documents = lines_by_doc_id.setdefault(query_id, {})
        before = documents.setdefault(doc_id, line)
        if before != line:
            problems.add(
                line, say("each document of a query once (first on line {line})", line=before), doc_id
            )
        if not isinstance(grade, int):
            continue
        metadata = kept.get(iteration)
        if metadata is None:
            metadata = kept[iteration] = {"iteration": iteration}
        qrels.append(Qrel(query_id, doc_id, grade, "imported", None, None, (), metadata))
    if not lines_by_doc_id and not problems:
        problems.add(None, say("lines of query_id iteration doc_id grade"), say("an empty file"))
    problems.raise_if_any()
    return GroundTruth(tuple(Query(query_id, "") for query_id in lines_by_doc_id), tuple(qrels))


def _read_fields(source: InputSource, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line. An error that ends the reading (undecodable bytes) is noted."""
    try:
        for line, content in source.read_lines():
            fields = content.split(" ")
            if len(fields) != 4 or not content.isprintable() or "" in fields:
                fields = split_fields(content)
            if fields and fields[0].startswith("\ufeff"):
                problems.add(line, *BOM_WITHIN)
                continue
            yield line, fields
    except BadInput as error:
        problems.errors.extend(error.problems)


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    if not qrels:
        return ""
    check_writable(query.query_id, "query_id")
    lines = []
    for qrel in qrels:
        doc_id, metadata = qrel.doc_id, qrel.metadata
        iteration = str(metadata.get("iteration", "0")) if metadata else "0"
        check_writable(doc_id, "doc_id")
        if iteration != "0":
            check_writable(iteration, "iteration")
        lines.append(f"{query.query_id} {iteration} {doc_id} {qrel.grade}\n")
    return "".join(lines)


SEPARATORS = (
    " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The characters without which every id that is not empty can be written."""


def is_writable(item_id: str) -> bool:
    """Check whether every reader of TREC files can read this id."""
    return item_id.split() == [item_id] and not item_id.startswith("\ufeff")


def check_writable(item_id: str, name: str) -> None:
    """Raise ValidationError unless every reader of TREC files can read this id."""
    if not is_writable(item_id):
        raise ValidationError(f"TREC separates fields by white space and cannot hold the {name} {item_id!r}")


def _complain(
    query_id: str, doc_id: str, grade: str, line: int, problems: Problems, scale: GradeScale
) -> bool:
    """Note the problems of a line. Returns whether there are none: the scale then skips its grade."""
    before = problems.noted
    for name, item_id in (("query_id", query_id), ("doc_id", doc_id)):
        if is_too_long(item_id):
            problems.add(
                line,
                say("{name} of {limit}", name=name, limit=ID_LIMIT),
                say("{n} characters", n=len(item_id)),
            )
    if grade not in _GRADES and grade not in scale.mapping and not scale.accepts(grade):
        problems.add(line, say("a grade 0, 1, 2 or 3"), describe(grade))
    return problems.noted == before


FORMAT = Format(
    name="trec",
    about="TREC qrels (trec_eval, pytrec_eval, ir_measures, ranx)",
    suffixes=(".txt", ".qrels", ".qrel"),
    holds=("query ids", "grades, 0 included"),
    cannot_hold=("query texts", "metadata", "notes", "queries without qrels", "ids with white space"),
    features=frozenset(("query_ids", "grades", "large_grades", "iterations")),
    read=read,
    files=(FileWriter(ONE_FILE, add=_add, by_qrel=True),),
    certain=lambda head: bool(_CERTAIN.match(head)),
    tells_grade_0=True,
    carries_id=is_writable,
)
